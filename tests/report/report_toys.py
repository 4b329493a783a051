"""Small sweeps with everything that a page and an explanation need."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from harness.chunking.fixed import FixedChunker
from harness.embedding.hashing import HashingEmbedder
from harness.evaluation import Scoring, evaluate
from harness.experiment import Experiment, retrieve
from harness.filters import candidates_of
from harness.metrics.held import relevant
from harness.metrics.scoring import score
from harness.report.explain import Explainer, Explanation
from harness.report.material import CellMaterial, Material
from harness.retrieval.dense import DenseRetriever
from harness.summary import Baseline
from harness.sweep import Select, Summary, summarise
from harness.types import Answer, Cell, CellResult, ChunkSet, Corpus, Document, Evidence, Question, Ranking, Span
from harness.units import CharUnit, WordUnit

Passage = tuple[int, str, str | None]
"""Document number, the passage word for word, its role."""


def corpus_of(texts: Sequence[str], asked: Sequence[tuple[str, Sequence[Sequence[Passage]]]], names: Sequence[str] = ()) -> Corpus:
    """Documents a.md, b.md, … with questions; an answer is a list of passages, each standing once in its document."""
    documents = tuple(Document(names[n] if names else f"{chr(97 + n)}.md", text) for n, text in enumerate(texts))
    questions = [
        Question(f"q{n}", words, tuple(Answer(tuple(_evidence(texts, passage) for passage in answer)) for answer in answers))
        for n, (words, answers) in enumerate(asked)
    ]
    return Corpus("toy", documents, tuple(questions), "digest", "questions")


def _evidence(texts: Sequence[str], passage: Passage) -> Evidence:
    doc, quote, role = passage
    assert texts[doc].count(quote) == 1, quote
    start = texts[doc].index(quote)
    return Evidence(Span(doc, start, start + len(quote)), role)


def chunks_of(spans: Sequence[tuple[int, int, int]], returned: Sequence[tuple[int, int]] | None = None) -> ChunkSet:
    table = np.array(spans, dtype=np.int64).reshape(-1, 3)
    back = table[:, 1:] if returned is None else np.array(returned, dtype=np.int64).reshape(-1, 2)
    return ChunkSet(table[:, 0], table[:, 1], table[:, 2], back[:, 0], back[:, 1])


def ranked(corpus: Corpus, chunks: ChunkSet, orders: Sequence[Sequence[int]], depth: int | None = None) -> CellMaterial:
    """A cell that ranks the chunks of each question as told, scores .900, .899, …; chunks not named come after in their order."""
    candidates = candidates_of(corpus.documents, corpus.questions)
    relevance = relevant(corpus, chunks, candidates)
    rows = [[*order, *(n for n in range(len(chunks)) if n not in order)] for order in orders]
    place = [{chunk: n for n, chunk in enumerate(row)} for row in rows]
    kept = [row[:depth] for row in rows]
    probes = relevance.probes
    stands = [place[question][chunk] for question, chunk in zip(probes.question.tolist(), probes.chunk.tolist(), strict=True)]
    ranking = Ranking(
        np.cumsum([0, *map(len, kept)]).astype(np.int64),
        np.array([chunk for row in kept for chunk in row], dtype=np.int64),
        np.array([0.9 - n / 1000 for row in kept for n in range(len(row))]),
        np.full(len(kept), len(chunks), dtype=np.int64),
        np.full(len(kept), np.nan),
        np.full(len(kept), np.nan),
        probes,
        0.9 - np.array(stands, dtype=np.float64) / 1000,
        len(chunks) - 1 - np.array(stands, dtype=np.int64),
        np.ones(len(stands), dtype=np.int64),
    )
    rulers = [CharUnit().measure(document.text) for document in corpus.documents]
    scores = score(corpus, chunks, candidates, relevance, ranking, rulers)
    cell = Cell("toy", None, None, "none", "toy", "chars", "toy cell")
    return CellMaterial(CellResult(cell, "key", scores.summary, scores.counts, (), "chunks", scores.questions), chunks, ranking)


def explained(corpus: Corpus, cell: CellMaterial, question: int = 0) -> Explanation:
    return Explainer(Material(corpus, (cell,))).explain(cell, question)


def said(corpus: Corpus, chunks: ChunkSet, order: Sequence[int], depth: int | None = None) -> str:
    """The sentence on the corpus's only question."""
    return explained(corpus, ranked(corpus, chunks, [order], depth)).sentence


def swept(corpus: Corpus, sizes: Sequence[tuple[int, int]] = ((60, 0), (120, 0), (120, 40))) -> tuple[Summary, Material]:
    """Fixed windows of characters, embedded by hashing: (size, overlap) a cell."""
    cells = []
    for size, overlap in sizes:
        experiment = Experiment(
            corpus, candidates_of(corpus.documents, corpus.questions), FixedChunker(size, overlap), CharUnit(), HashingEmbedder(64),
            DenseRetriever(), WordUnit(), ks=(1, 3, 5), budgets=(64, 2048),
        )  # fmt: skip
        found = retrieve(experiment, lambda name: None, lambda done, total: None)
        label = f"fixed size={size} overlap={overlap} hashing"
        config = {"size": size, "overlap": overlap, "strategy": {"size": size, "overlap": overlap}, "choices": {}}
        cell = Cell("fixed", size, overlap, "hashing", "dense", "chars", label, config)
        result = evaluate(experiment, found, Scoring(50), cell, label)
        cells.append(CellMaterial(replace(result, ranking_key=label), found.chunks, found.ranking))
    summary = summarise([cell.result for cell in cells], Select(baseline=Baseline("fixed", 120, "40")), Scoring(50))
    return summary, Material(corpus, tuple(cells))
