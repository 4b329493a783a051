"""From what retrieval gave to a cell's result: every metric, with intervals, and warnings that belong beside the numbers."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from harness.chunking import digest
from harness.embedding.precision import told_of
from harness.errors import ConfigError
from harness.experiment import Experiment, Retrieved
from harness.metrics.controls import random_ranking
from harness.metrics.cost import cost
from harness.metrics.held import Relevance, relevant
from harness.metrics.reading import read
from harness.metrics.scoring import Scores, score
from harness.remembered import Last
from harness.statistics.bootstrap import intervals
from harness.statistics.resampling import Resampler, document_of, resampler
from harness.types import Answer, Candidates, Cell, CellResult, ChunkSet, Corpus, Document, Evidence, Question, Span
from harness.units import WordUnit, measure_all

FEW_QUESTIONS = 20
TRUNCATION = "the embedder reads"
"""How the warning on unread tokens begins."""
_TOLD = {
    "oversize": "{} chunks are larger than size: nothing that the strategy may cut at could divide them",
    "splitter_oversize": "{} chunks of the splitter are larger than size",
    "general_language": "{} documents are in a language that the segmenter has no rules for; general ones ended their sentences",
    "long_header": "{} times a table's header was larger than size, so it was not repeated in front of later parts",
    "unparsed": "{} documents did not parse as code and were split as by recursive",
    "not_code": "{} documents are in no language that the strategy code knows and were split as by recursive",
    "unplaced": "{} chunks of the splitter stand nowhere in their document and are left out",
    "altered": "{} chunks of the splitter are not word for word what stands at their place; the text that stands there is measured",
    "uncovered": "{} characters are in no chunk of the splitter: they can't be found",
    "dropped": "{} chunks under min_size were dropped: what stands in them alone can't be found",
    "strategy_unread_tokens": "the strategy's own embedder left {} tokens of its sentences unread",
}
"""What a warning makes of a note of the chunker."""


_MOST_RESAMPLES = 1_000_000
"""More digits than an interval is worth, and minutes a cell: it was a slip of the key."""


@dataclass(frozen=True, slots=True)
class Scoring:
    """How much care the intervals get: bootstrap resamples, and the seed of everything random. Raises ConfigError for values that can't work."""

    resamples: int = 2000
    seed: int = 0

    def __post_init__(self) -> None:
        if not 2 <= self.resamples <= _MOST_RESAMPLES:
            raise ConfigError("scoring.resamples", self.resamples, f"a whole number from 2 up to {_MOST_RESAMPLES}; 2000 is usual")
        if self.seed < 0:
            raise ConfigError("scoring.seed", self.seed, "a whole number from 0 up")


def resampler_for(questions: pd.DataFrame, scoring: Scoring) -> Resampler:
    """The resampler behind every interval and comparison on these questions, from the columns `document` and `text_group` of a question table."""
    documents = [None if number < 0 else number for number in questions["document"].tolist()]
    return resampler(documents, [str(group) for group in questions["text_group"].tolist()], resamples=scoring.resamples, seed=scoring.seed)


def question_metrics(ks: Sequence[int], budgets: Sequence[int]) -> list[str]:
    """The metrics with a value for each question at these ks and budgets: what a toy corpus is scored on."""
    corpus = Corpus("toy", (Document("toy", "one"),), (Question("toy", "which", (Answer((Evidence(Span(0, 0, 3)),)),)),), "", "")
    edge = np.zeros(1, dtype=np.int64)
    chunks = ChunkSet(edge, edge, edge + 3, edge, edge + 3)
    candidates = Candidates(edge, np.ones((1, 1), dtype=bool))
    relevance, ranking = relevant(corpus, chunks, candidates), random_ranking(chunks, candidates, 1)
    scores = score(corpus, chunks, candidates, relevance, ranking, [WordUnit().measure("one")], ks=ks, budgets=budgets)
    return [name for name in scores.questions.columns if name in scores.summary]


def _dependence(corpus: Corpus) -> dict[str, list[int]]:
    """What makes questions depend on each other: the document of each (-1: of none), and a number for each distinct text."""
    numbers = {document.id: number for number, document in enumerate(corpus.documents)}
    documents = [document_of(question, numbers) for question in corpus.questions]
    texts: dict[str, int] = {}
    groups = [texts.setdefault(question.text, len(texts)) for question in corpus.questions]
    return {"document": [-1 if number is None else number for number in documents], "text_group": groups}


def evaluate(experiment: Experiment, retrieved: Retrieved, scoring: Scoring, cell: Cell, key: str) -> CellResult:
    """Score a ranking. Embeds and searches nothing, so it may be called again with other ks, budgets or metrics."""
    began, corpus, chunks = time.perf_counter(), experiment.corpus, retrieved.chunks
    relevance = relevant(corpus, chunks, experiment.candidates, copies=experiment.copies)
    budget_rulers = measure_all(experiment.budget_unit, corpus.documents)
    scores = score(corpus, chunks, experiment.candidates, relevance, retrieved.ranking, budget_rulers, ks=experiment.ks, budgets=experiment.budgets)
    spent = cost(chunks, corpus.documents, measure_all(experiment.embedder.unit, corpus.documents), size=cell.size, overlap=cell.overlap)
    metrics: dict[str, float | None] = {**scores.summary, **spent.figures, **retrieved.facts, "embedder_limit": float(experiment.embedder.limit)}
    questions = scores.questions.assign(**_dependence(corpus))
    sampler = resampler_for(questions, scoring)
    metrics["embedding_tokens"] = retrieved.facts["embedded_tokens"] + retrieved.facts["cached_tokens"] + chunks.notes.get("strategy_tokens", 0)
    metrics |= _intervals(scores, sampler) | random_floor(experiment, retrieved, relevance, scoring)
    metrics["seconds_score"] = time.perf_counter() - began
    return CellResult(
        cell=cell,
        key=key,
        metrics=metrics,
        counts=scores.counts,
        warnings=tuple(_warnings(experiment, retrieved, scores, metrics, sampler)),
        chunk_digest=digest(chunks),
        questions_digest=corpus.questions_digest,
        questions=questions,
        histogram={"edges": spent.edges.tolist(), "counts": spent.counts.tolist()},
    )


def _intervals(scores: Scores, sampler: Resampler) -> dict[str, float | None]:
    """NAME_low and NAME_high of every mean over questions."""
    names = [name for name in scores.questions.columns if name in scores.summary]
    values = np.stack([scores.questions[name].to_numpy(dtype=np.float64) for name in names], axis=1)
    weights = np.ones_like(values)
    for place, name in enumerate(names):
        if name in scores.weights:
            weights[:, place] = scores.weights[name]
    found = intervals(values, sampler, weights=weights)
    low = {f"{name}_low": float(value) if np.isfinite(value) else None for name, value in zip(names, found.low, strict=True)}
    high = {f"{name}_high": float(value) if np.isfinite(value) else None for name, value in zip(names, found.high, strict=True)}
    return {**low, **high}


def _warnings(experiment: Experiment, retrieved: Retrieved, scores: Scores, metrics: Mapping[str, float | None], sampler: Resampler) -> list[str]:
    lines = list(scores.warnings)
    if sampler.warning:
        lines.append(sampler.warning)
    lines += told_of(experiment.embedder)
    cut = retrieved.facts.get("truncated_token_share", 0.0)
    if cut > 0:
        share = retrieved.facts["truncated_chunk_share"]
        reads = f"{TRUNCATION} {experiment.embedder.limit} tokens of a chunk"
        lines.append(f"{reads}: {share:.0%} of the chunks are longer, {cut:.1%} of all tokens were never read")
    if (cut := retrieved.facts.get("rerank_truncated_share", 0.0)) > 0:
        limit = int(retrieved.facts["rerank_limit"])
        lines.append(f"the cross-encoder reads {limit} tokens of question and chunk: {cut:.0%} of the pairs are longer and were not read whole")
    answerable = int(scores.questions["answerable"].sum())
    if answerable < FEW_QUESTIONS:
        lines.append(f"only {answerable} answerable questions: differences of this sweep are mostly chance")
    if len(retrieved.chunks) <= max(experiment.ks):
        lines.append(f"only {len(retrieved.chunks)} chunks: retrieving {max(experiment.ks)} returns everything")
    lines += [told.format(count) for note, told in _TOLD.items() if (count := retrieved.chunks.notes.get(note, 0))]
    many = int(metrics.get("questions_multi_document") or 0)
    if many:
        lines.append(f"{many} questions need several documents: they are left out of existence, hit rate, MRR, nDCG and attribution")
    return lines


def random_floor(experiment: Experiment, retrieved: Retrieved, relevance: Relevance, scoring: Scoring) -> dict[str, float | None]:
    """What a ranking by chance would score on the same chunks: random_complete_at_K and random_complete_within_B."""
    depth = int(np.diff(retrieved.ranking.indptr).max(initial=1))
    asked = (relevance, retrieved.chunks, depth, scoring.seed, experiment.ks, experiment.budgets, experiment.budget_unit)
    return _floor.of(asked, lambda: _by_chance(experiment, retrieved, relevance, scoring, depth))


_floor: Last[dict[str, float | None]] = Last()


def _by_chance(experiment: Experiment, retrieved: Retrieved, relevance: Relevance, scoring: Scoring, depth: int) -> dict[str, float | None]:
    ranking = random_ranking(retrieved.chunks, experiment.candidates, depth, seed=scoring.seed)
    reading = read(relevance, ranking, measure_all(experiment.budget_unit, experiment.corpus.documents))
    asked = relevance.labels.answerable
    if not asked.any():
        return {}
    at: dict[str, float | None] = {f"random_complete_at_{k}": float((reading.question_rank[asked] <= k).mean()) for k in experiment.ks}
    return at | {f"random_complete_within_{limit}": float((reading.question_tokens[asked] <= limit).mean()) for limit in experiment.budgets}
