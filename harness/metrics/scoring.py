"""From rankings to numbers: one row a question, and a cell's figures."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

import harness.metrics
from harness.metrics.attribution import attribution
from harness.metrics.base import Family, Figure, Measures, Scene
from harness.metrics.held import Relevance
from harness.metrics.reading import read
from harness.metrics.refusal import top_scores
from harness.types import Candidates, ChunkSet, Corpus, Floats, Ints, Ranking
from harness.units.base import Ruler

KS = (1, 3, 5, 10, 20)
BUDGETS = (512, 1024, 2048, 4096)
ATTRIBUTION_AT = 5


@dataclass(frozen=True, slots=True)
class Scores:
    """What a cell scored.

    `questions`: one row a question, in the corpus's order: id, kind, answerable, multi_document, candidates, top_score, attribution (at 5),
    tokens_to_answer (infinite where unreached, NaN where unanswerable), and every metric's value (NaN: not defined, or not to be scored).
    `summary`: every figure by its name; None where nothing could be scored or the figure is infinite. `counts`: the n of each figure.
    `weights`: for the few metrics that are pooled over smaller things than questions, their number in each question.
    `warnings`: one line each.
    """

    questions: pd.DataFrame
    summary: dict[str, float | None]
    counts: dict[str, int]
    weights: dict[str, Floats]
    warnings: tuple[str, ...]


def families() -> dict[str, Family]:
    """Every module of this package with a `FAMILY`, by module name."""
    names = [module.name for module in pkgutil.iter_modules(harness.metrics.__path__)]
    modules = {name: importlib.import_module(f"harness.metrics.{name}") for name in names}
    return {name: module.FAMILY for name, module in modules.items() if hasattr(module, "FAMILY")}


def score(
    corpus: Corpus,
    chunks: ChunkSet,
    candidates: Candidates,
    relevance: Relevance,
    ranking: Ranking,
    budget_rulers: Sequence[Ruler],
    *,
    ks: Sequence[int] = KS,
    budgets: Sequence[int] = BUDGETS,
) -> Scores:
    """Score a stored ranking; may be called again with other `ks` (ranks) and `budgets` (tokens).

    `relevance` is `relevant(corpus, chunks, candidates)`, `ranking` answers its probes, `budget_rulers` has one ruler a document, of the budget's
    tokenizer.
    """
    reading = read(relevance, ranking, budget_rulers)
    tokens = _candidate_tokens(candidates, budget_rulers)
    scene = Scene(relevance, ranking, reading, tokens, tuple(ks), tuple(budgets))
    found = [family(scene) for _, family in sorted(families().items())]
    frame = pd.DataFrame({**_identity(corpus, scene), **{name: values for one in found for name, values in one.means.items()}})
    figures = _counts_of_questions(scene)
    for measures in found:
        figures |= _figures(measures)
    weights = {name: values for measures in found for name, values in measures.weights.items()}
    summary = {name: figure.value if np.isfinite(figure.value) else None for name, figure in figures.items()}
    return Scores(frame, summary, {name: figure.n for name, figure in figures.items()}, weights, _warnings(scene))


def _candidate_tokens(candidates: Candidates, rulers: Sequence[Ruler]) -> Ints:
    totals = np.fromiter((ruler.total for ruler in rulers), dtype=np.int64, count=len(rulers))
    return (candidates.documents @ totals)[candidates.group]


def _identity(corpus: Corpus, scene: Scene) -> dict[str, object]:
    """The columns of the question table that are not means."""
    labels = scene.labels
    return {
        "id": [question.id for question in corpus.questions],
        "kind": [question.kind for question in corpus.questions],
        "answerable": labels.answerable,
        "multi_document": labels.multi_document,
        "candidates": scene.ranking.candidates,
        "top_score": np.where(np.diff(scene.ranking.indptr) > 0, top_scores(scene.ranking), np.nan),
        "attribution": attribution(scene, ATTRIBUTION_AT),
        "tokens_to_answer": np.where(labels.answerable, scene.answer_tokens, np.nan),
    }


def _counts_of_questions(scene: Scene) -> dict[str, Figure]:
    labels = scene.labels
    counts = {
        "questions": labels.questions,
        "questions_unanswerable": int((~labels.answerable).sum()),
        "questions_multi_document": int(labels.multi_document.sum()),
    }
    return {name: Figure(float(count), labels.questions) for name, count in counts.items()}


def _figures(measures: Measures) -> dict[str, Figure]:
    """The mean of each column over the questions where it is defined, and the figures that came ready."""
    out = dict(measures.figures)
    for name, values in measures.means.items():
        defined = ~np.isnan(values)
        weights = measures.weights.get(name, np.ones(len(values)))[defined]
        total = weights.sum()
        out[name] = Figure(float((values[defined] * weights).sum() / total) if total else np.nan, int(total))
    return out


def _warnings(scene: Scene) -> tuple[str, ...]:
    """Rankings that end before the largest k or budget although there was more to read: their figures are too low."""
    ranking, reading, questions = scene.ranking, scene.reading, scene.labels.questions
    candidates, returned = scene.relevance.candidates, scene.relevance.returned
    spans = (candidates.documents @ np.bincount(returned.doc, minlength=candidates.documents.shape[1]))[candidates.group]
    distinct = np.bincount(reading.question, minlength=questions)
    cut = (np.diff(ranking.indptr) < ranking.candidates) & (distinct < spans)
    tokens = np.bincount(reading.question, weights=reading.tokens, minlength=questions)
    found = []
    for limit, reached, what in ((max(scene.ks, default=0), distinct, "k"), (max(scene.budgets, default=0), tokens, "budget")):
        short = int((cut & (reached < limit)).sum())
        if short:
            found.append(f"{short} of {questions} rankings end before {what}={limit} although candidates are left: search deeper")
    return tuple(found)
