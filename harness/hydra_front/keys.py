"""What decides whether stored work can be used again: the chunks and vectors of a cell, its ranking, its result."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from harness import provenance
from harness.evaluation import Scoring
from harness.experiment import Experiment
from harness.metrics.scoring import families


def shelf_key_of(experiment: Experiment) -> str:
    """Decides whether the chunks and vectors of one cell serve another: parts, data, the source of the parts and the versions of what they call."""
    parts = (experiment.chunker, experiment.unit, experiment.embedder, experiment.around)
    modules = [*provenance.modules_of(parts), "harness.experiment"]
    return _digest(
        {
            "parts": [provenance.describe(part) for part in parts],
            "corpus": experiment.corpus.digest,
            "questions": experiment.corpus.questions_digest,
            "source": provenance.source_digest(modules),
            "libraries": provenance.library_versions(modules),
        }
    )


def ranking_key_of(experiment: Experiment, shelf_key: str, scope: str = "question", wanted: Mapping[str, Any] | None = None) -> str:
    """Decides whether what retrieval gave can be used again: the key of its chunks and vectors, the retriever, and what is searched."""
    modules = [*provenance.modules_of([experiment.retriever]), "harness.filters"]
    return _digest(
        {
            "shelf": shelf_key,
            "retriever": provenance.describe(experiment.retriever),
            "searched": [scope, wanted or {}],
            "source": provenance.source_digest(modules),
            "libraries": provenance.library_versions(modules),
        }
    )


def cell_key_of(ranking_key: str, experiment: Experiment, scoring: Scoring) -> str:
    """Decides whether a result can be used again: the ranking's key, and all that scoring depends on, every family of metrics included."""
    modules = ["harness.evaluation", "harness.corpus.copies", *(f"harness.metrics.{name}" for name in families())]
    return _digest(
        {
            "ranking": ranking_key,
            "ks": experiment.ks,
            "budgets": experiment.budgets,
            "copies": experiment.copies,
            "budget_unit": experiment.budget_unit.identity,
            "scoring": provenance.describe(scoring),
            "source": provenance.source_digest(modules),
            "libraries": provenance.library_versions(modules),
        }
    )


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True, ensure_ascii=False).encode()).hexdigest()
