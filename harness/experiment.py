"""Run one cell: documents to chunks, vectors, rankings, outcomes. Knows nothing of Hydra, MLflow or the file system."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import numpy as np

from harness.chunking import chunk_documents
from harness.chunking.base import Chunker
from harness.chunking.surroundings import PLAIN, Surroundings
from harness.embedding.base import Embedder, Progress, passed, reads_spans, spent, vector_bytes
from harness.metrics.held import Relevance, relevant
from harness.metrics.labels import Copies
from harness.metrics.reading import measure
from harness.metrics.whole import MRR_DEPTH
from harness.retrieval.base import Index, Queries, Reports, Retriever, Shelf
from harness.types import Candidates, ChunkSet, Corpus, Embedded, Ints, Ranking
from harness.units import measure_all
from harness.units.base import Unit

Stage = Callable[[str], None]
"""Called with the name of each stage as it begins."""


@dataclass(frozen=True)
class Experiment:
    """Everything that one cell needs, resolved. `ks`, `budgets` and `copies` decide how deep the ranking goes and what counts as found; `around` is
    what surrounds the chunks."""

    corpus: Corpus
    candidates: Candidates
    chunker: Chunker
    unit: Unit
    embedder: Embedder
    retriever: Retriever
    budget_unit: Unit
    ks: tuple[int, ...] = (1, 3, 5, 10, 20)
    budgets: tuple[int, ...] = (512, 1024, 2048, 4096)
    copies: Copies = "any"
    around: Surroundings = PLAIN

    @property
    def widest(self) -> int:
        """How many distinct returned spans a ranking needs: for the largest k, and for the metrics that have a rank of their own."""
        return max(*self.ks, MRR_DEPTH)


@dataclass(frozen=True)
class Retrieved:
    """What retrieval gave: the chunks, the ranking of every question, and `facts` on what it took (counts, bytes, seconds)."""

    chunks: ChunkSet
    ranking: Ranking
    facts: Mapping[str, float] = field(default_factory=dict)


class _Clock:
    """Seconds by stage."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        start = time.perf_counter()
        yield
        self.seconds[f"seconds_{name}"] = time.perf_counter() - start


@dataclass(frozen=True)
class Prepared:
    """What can be searched, and what is asked: the same for every cell that differs in its retrieval alone. `facts` on what it took."""

    chunks: ChunkSet
    shelf: Shelf
    queries: Queries
    facts: Mapping[str, float] = field(default_factory=dict)

    def again(self) -> Prepared:
        """The same for a further cell, which pays nothing for it: all tokens count as served."""
        tokens = self.facts["embedded_tokens"] + self.facts["cached_tokens"]
        free = {"embedded_tokens": 0.0, "cached_tokens": tokens, "seconds_chunk": 0.0, "seconds_embed": 0.0}
        return replace(self, facts={**self.facts, **free})

    def charged(self, tokens: int) -> Prepared:
        """The same where so many tokens came from a cache only because they were embedded for this a moment ago."""
        tokens = min(tokens, int(self.facts["cached_tokens"]))
        moved = {"embedded_tokens": self.facts["embedded_tokens"] + tokens, "cached_tokens": self.facts["cached_tokens"] - tokens}
        return replace(self, facts={**self.facts, **moved}) if tokens else self


def retrieve(experiment: Experiment, stage: Stage, progress: Progress) -> Retrieved:
    """Chunk, embed, index and search. Costs one pass of the embedder over the chunks and questions that no cache holds."""
    return search(experiment, prepare(experiment, stage, progress), stage)


def prepare(experiment: Experiment, stage: Stage, progress: Progress) -> Prepared:
    """Chunk, and embed chunks and questions."""
    clock, corpus = _Clock(), experiment.corpus
    stage("chunk")
    with clock.stage("chunk"):
        rulers = measure_all(experiment.unit, corpus.documents)
        chunks = chunk_documents(experiment.chunker, corpus.documents, rulers, experiment.around)
    stage("embed")
    with clock.stage("embed"):
        shelf, passages = embedded(experiment, chunks, progress)
        asked = tuple(question.text for question in corpus.questions)
        questions = experiment.embedder.embed(asked, "query")
    return Prepared(
        chunks, shelf, Queries(asked, questions.vectors), {**_embedding_facts(passages, questions), **spent(experiment.embedder), **clock.seconds}
    )


def search(experiment: Experiment, prepared: Prepared, stage: Stage) -> Retrieved:
    """Index, where the shelf has no such index yet, and search."""
    clock, chunks = _Clock(), prepared.chunks
    relevance = relevant(experiment.corpus, chunks, experiment.candidates, copies=experiment.copies)
    stage("search")
    with clock.stage("index"):
        index = prepared.shelf.index(experiment.retriever)
    with clock.stage("search"):
        ranking = _search_deep(experiment, chunks, index, prepared.queries, relevance)
    told = index.facts() if isinstance(index, Reports) else {}
    return Retrieved(chunks, ranking, {**prepared.facts, "index_bytes": float(index.nbytes), **told, **clock.seconds})


def embedded(experiment: Experiment, chunks: ChunkSet, progress: Progress | None = None) -> tuple[Shelf, Embedded]:
    """What can be searched, and what it took to embed it: the indexed text of every chunk, and the second texts that lead to some."""
    texts, size = chunks.indexed_texts(experiment.corpus.documents), vector_bytes(experiment.embedder)
    if (reader := reads_spans(experiment.embedder, chunks)) is not None:
        # What the strategy itself would put in front (the header of a table) the model reads where it stands, if its window reaches so far.
        spans = reader.embed_spans(experiment.corpus.documents, replace(chunks, context=None), progress)
        return Shelf(chunks.doc, tuple(texts), spans.vectors, None, experiment.corpus.documents, size), spans
    more, chunk = chunks.second_texts()
    passages = experiment.embedder.embed([*texts, *more], "passage", progress)
    entry = np.concatenate([np.arange(len(texts)), chunk]) if more else None
    return Shelf(chunks.doc, tuple(texts), passages.vectors, entry, experiment.corpus.documents, size), passages


def _embedding_facts(passages: Embedded, questions: Embedded) -> dict[str, float]:
    (worked, kept), (asked, known) = passed(passages), passed(questions)
    total = max(int(passages.tokens.sum()), 1)
    return {
        "truncated_token_share": float(passages.unread.sum() / total),
        "truncated_chunk_share": float((passages.unread > 0).mean()) if len(passages.unread) else 0.0,
        "embedded_tokens": float(worked + asked),
        "cached_tokens": float(kept + known),
    }


def _search_deep(experiment: Experiment, chunks: ChunkSet, index: Index, queries: Queries, relevance: Relevance) -> Ranking:
    """Search as deep as the largest k and budget need: doubled until every question has read its budget or has nothing left to read."""
    tokens, spans = _budget_tokens(experiment, chunks), _spans_to_read(experiment, chunks)
    for depth in _depths(experiment, tokens):
        ranking = index.search(queries, experiment.candidates, depth, relevance.probes)
        if deep_enough(ranking, chunks, tokens, max(experiment.budgets), experiment.widest, spans):
            break
    return ranking


def _depths(experiment: Experiment, tokens: Ints) -> Iterator[int]:
    """Depths to try, `tokens` being those of all chunks: one that is mostly enough, then twice as deep each time."""
    depth = 2 * experiment.widest + int(1.5 * max(experiment.budgets) / max(float(tokens.mean()) if len(tokens) else 1.0, 1.0))
    while True:
        yield depth
        depth *= 2


def deep_enough(ranking: Ranking, chunks: ChunkSet, tokens: Ints, budget: int, widest: int, spans: Ints | None = None) -> bool:
    """Whether every question's ranking holds `widest` distinct returned spans and `budget` tokens of them, or all its candidates, or all that these
    return: `spans` counts, for each question, the distinct spans that its candidates return."""
    if not len(ranking):
        return True
    retrieved = np.diff(ranking.indptr)
    question = np.repeat(np.arange(len(ranking)), retrieved)
    span = _span_of_chunk(chunks)[ranking.chunk]
    stride = max(len(chunks), 1)
    _, first = np.unique(question * stride + span, return_index=True)
    read = np.bincount(question[first], weights=tokens[ranking.chunk[first]], minlength=len(ranking))
    distinct = np.bincount(question[first], minlength=len(ranking))
    through = (retrieved >= ranking.candidates) if spans is None else (retrieved >= ranking.candidates) | (distinct >= spans)
    return bool(np.all(((read >= budget) & (distinct >= widest)) | through))


def _span_of_chunk(chunks: ChunkSet) -> Ints:
    """A number for each distinct returned span."""
    columns = (chunks.doc, chunks.returned_start, chunks.returned_end)
    order = np.lexsort(columns[::-1])
    new = np.zeros(len(order), dtype=bool)
    for column in columns:
        new[1:] |= column[order][1:] != column[order][:-1]
    span = np.empty(len(order), dtype=np.int64)
    span[order] = np.cumsum(new)
    return span


def _spans_to_read(experiment: Experiment, chunks: ChunkSet) -> Ints:
    """For each question how many distinct spans its candidates return. Where chunks share parents, far fewer than there are candidates."""
    _, first = np.unique(_span_of_chunk(chunks), return_index=True)
    allowed, group = experiment.candidates.documents, experiment.candidates.group
    counts: Ints = (allowed @ np.bincount(chunks.doc[first], minlength=allowed.shape[1]))[group]
    return counts


def _budget_tokens(experiment: Experiment, chunks: ChunkSet) -> Ints:
    rulers = measure_all(experiment.budget_unit, experiment.corpus.documents)
    return measure(rulers, chunks.doc, chunks.returned_start, chunks.returned_end)


def fitted(experiment: Experiment, stored: Retrieved) -> Retrieved | None:
    """What was stored, cut to what a fresh search would give, so that a result never depends on what was asked before; None where it does not serve.

    It serves where it answers the probes of today's labels, and goes deep enough for today's ks and budgets.
    """
    chunks, whole = stored.chunks, stored.ranking
    probes = relevant(experiment.corpus, chunks, experiment.candidates, copies=experiment.copies).probes
    if not (np.array_equal(probes.question, whole.probes.question) and np.array_equal(probes.chunk, whole.probes.chunk)):
        return None
    tokens, spans = _budget_tokens(experiment, chunks), _spans_to_read(experiment, chunks)
    for depth in _depths(experiment, tokens):
        if (np.diff(whole.indptr) < np.minimum(depth, whole.candidates)).any():
            return None
        ranking = _first(whole, depth)
        if deep_enough(ranking, chunks, tokens, max(experiment.budgets), experiment.widest, spans):
            break
    return replace(stored, ranking=ranking)


def _first(ranking: Ranking, depth: int) -> Ranking:
    """The first `depth` places of every question."""
    counts = np.diff(ranking.indptr)
    keep = np.arange(len(ranking.chunk)) - np.repeat(ranking.indptr[:-1], counts) < depth
    indptr = np.concatenate([[0], np.cumsum(np.minimum(counts, depth))]).astype(np.int64)
    return replace(ranking, indptr=indptr, chunk=ranking.chunk[keep], score=ranking.score[keep])
