"""What a cell and a sweep become in MLflow's own types. MLflow is imported when it is needed: to import it takes seconds.

MLflow stores NaN as 0 and infinity as the largest float, so neither is sent.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING

from harness.tracking.names import LOGGED_METRICS, STEPPED_METRICS, metric_name
from harness.types import Cell, CellResult, Corpus

if TYPE_CHECKING:
    from mlflow.entities import DatasetInput, Metric, Param, RunTag

VALUE_LIMIT = 6_000
"""The longest value of a parameter that MLflow takes."""
_DIGEST_PART = 17
_DATASET_NAME = 500


def params_of(cell: Cell) -> dict[str, str]:
    """The axes of the cell, what surrounds its chunks included, and its whole configuration where MLflow takes so long a value."""
    axes = ("strategy", "size", "overlap", "unit", "embedder", "retriever")
    flat = {name: str(getattr(cell, name)) for name in axes if getattr(cell, name) is not None}
    config = json.dumps(cell.config, sort_keys=True, ensure_ascii=False)
    return {**flat, **cell.around, "config": config if len(config) <= VALUE_LIMIT else "see config.json"}


def param_entities(params: Mapping[str, str]) -> list[Param]:
    """`params` by name."""
    from mlflow.entities import Param

    return [Param(name, value) for name, value in params.items()]


def tag_entities(tags: Mapping[str, str]) -> list[RunTag]:
    """`tags` by name."""
    from mlflow.entities import RunTag

    return [RunTag(name, value) for name, value in tags.items()]


def metric_entities(result: CellResult) -> list[Metric]:
    """LOGGED_METRICS, and STEPPED_METRICS with step = k; what is null or not finite is left out."""
    from mlflow.entities import Metric

    now = int(time.time() * 1000)
    known = {name: value for name, value in result.metrics.items() if value is not None and math.isfinite(value)}
    flat = [Metric(name, known[name], now, 0) for name in LOGGED_METRICS if name in known]
    stepped = []
    for name, pattern in STEPPED_METRICS.items():
        matches = ((pattern.fullmatch(metric), value) for metric, value in known.items())
        stepped += [Metric(name, value, now, int(found[1])) for found, value in matches if found]
    return flat + stepped


def curve_entities(curves: Mapping[str, list[tuple[int, float]]]) -> list[Metric]:
    """Curves of (step, value); points that are not finite are left out."""
    from mlflow.entities import Metric

    now = int(time.time() * 1000)
    return [Metric(metric_name(name), value, now, step) for name, points in curves.items() for step, value in points if math.isfinite(value)]


def dataset_input(corpus: Corpus) -> DatasetInput:
    """The corpus as MLflow's data set of a run: name, digest and counts, no text.

    MLflow takes digests of at most 36 characters: half of it is the beginning of the documents' digest, half that of the questions'.
    """
    from mlflow.entities import Dataset, DatasetInput, InputTag

    digests = {"corpus_digest": corpus.digest, "questions_digest": corpus.questions_digest}
    counts = {
        "documents": len(corpus.documents),
        "questions": len(corpus.questions),
        "characters": sum(document.length for document in corpus.documents),
    }
    digest = f"{corpus.digest[:_DIGEST_PART]}-{corpus.questions_digest[:_DIGEST_PART]}"
    dataset = Dataset(corpus.name[:_DATASET_NAME], digest, "chunk-sweep", json.dumps(digests), profile=json.dumps(counts))
    return DatasetInput(dataset, [InputTag("mlflow.data.context", "evaluation")])
