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
from harness.depths import Reach, reach_of
from harness.embedding.base import Embedder, Progress, passed, reads_spans, spent, vector_bytes
from harness.metrics.held import relevant
from harness.metrics.labels import Copies
from harness.metrics.reading import measure
from harness.metrics.whole import MRR_DEPTH
from harness.remembered import Last
from harness.retrieval.base import Queries, Reports, Retriever, Shelf, reads_vectors
from harness.sharding import Sharding
from harness.types import Candidates, ChunkSet, Corpus, Embedded, Ranking
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
    sharding: Sharding | None = None
    """How vectors are made and searched part by part; None: whole. No number depends on it."""

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


NOTHING_EMBEDDED = dict.fromkeys(("truncated_token_share", "truncated_chunk_share", "embedded_tokens", "cached_tokens", "seconds_embed"), 0.0)
"""The facts of a cell whose retriever reads no vectors."""
_PAID_ONCE = ("seconds_chunk", "seconds_embed", "paid_tokens", "cost_usd")


@dataclass(frozen=True)
class Prepared:
    """What can be searched, and what is asked: the same for every cell that differs in its retrieval alone. `facts` on what it took. Without
    `vectors` nothing has been embedded, and only retrievers that read none can search it."""

    chunks: ChunkSet
    shelf: Shelf
    queries: Queries
    facts: Mapping[str, float] = field(default_factory=dict)
    vectors: bool = True

    def again(self, reads: bool = True) -> Prepared:
        """The same for a further cell, which pays nothing for it: all tokens count as served, if its retriever `reads` vectors at all."""
        tokens = self.facts["embedded_tokens"] + self.facts["cached_tokens"]
        free = {**dict.fromkeys(_PAID_ONCE & self.facts.keys(), 0.0), "embedded_tokens": 0.0, "cached_tokens": tokens}
        return replace(self, facts={**self.facts, **free, **({} if reads else NOTHING_EMBEDDED)})

    def charged(self, tokens: int) -> Prepared:
        """The same where so many tokens came from a cache only because they were embedded for this a moment ago."""
        tokens = min(tokens, int(self.facts["cached_tokens"]))
        moved = {"embedded_tokens": self.facts["embedded_tokens"] + tokens, "cached_tokens": self.facts["cached_tokens"] - tokens}
        return replace(self, facts={**self.facts, **moved}) if tokens else self


def retrieve(experiment: Experiment, stage: Stage, progress: Progress) -> Retrieved:
    """Chunk, embed, index and search. Costs one pass of the embedder over the chunks and questions that no cache holds."""
    return search(experiment, prepare(experiment, stage, progress), stage)


def prepare(experiment: Experiment, stage: Stage, progress: Progress, held: Prepared | None = None) -> Prepared:
    """Chunk, and embed chunks and questions where the retriever reads vectors. `held`: what another cell of the same chunks has, without vectors."""
    clock, corpus = _Clock(), experiment.corpus
    if held is None:
        stage("chunk")
        with clock.stage("chunk"):
            rulers = measure_all(experiment.unit, corpus.documents)
            chunks = chunk_documents(experiment.chunker, corpus.documents, rulers, experiment.around)
            asked = tuple(question.text for question in corpus.questions)
            held = Prepared(chunks, unfilled(experiment, chunks), Queries(asked, np.zeros((len(asked), 0), dtype=np.float32)), vectors=False)
    if not reads_vectors(experiment.retriever):
        return replace(held, facts={**NOTHING_EMBEDDED, **clock.seconds})
    stage("embed")
    with clock.stage("embed"):
        if experiment.sharding is None:
            shelf, passages = embedded(experiment, held.chunks, progress, held.shelf)
        else:
            shelf, passages = experiment.sharding.embedded(experiment.embedder, held.chunks, held.shelf, progress)
        questions = experiment.embedder.embed(held.queries.texts, "query")
    facts = {"seconds_chunk": 0.0, **_embedding_facts(passages, questions), **spent(experiment.embedder), **clock.seconds}
    return Prepared(held.chunks, shelf, Queries(held.queries.texts, questions.vectors), facts)


def search(experiment: Experiment, prepared: Prepared, stage: Stage) -> Retrieved:
    """Index, where the shelf has no such index yet, and search."""
    clock, chunks = _Clock(), prepared.chunks
    relevance = relevant(experiment.corpus, chunks, experiment.candidates, copies=experiment.copies)
    stage("search")
    with clock.stage("index"):
        index = prepared.shelf.index(experiment.retriever)
    with clock.stage("search"):
        ranking = _reach_of(experiment, chunks).search(index, prepared.queries, experiment.candidates, relevance.probes)
    told = index.facts() if isinstance(index, Reports) else {}
    return Retrieved(chunks, ranking, {**prepared.facts, "index_bytes": float(index.nbytes), **told, **clock.seconds})


def unfilled(experiment: Experiment, chunks: ChunkSet) -> Shelf:
    """What can be searched by words: the indexed text of every chunk, and no vectors."""
    texts, size = chunks.indexed_texts(experiment.corpus.documents), vector_bytes(experiment.embedder)
    return Shelf(chunks.doc, texts, np.zeros((0, 0), dtype=np.float32), None, experiment.corpus.documents, size)


def embedded(experiment: Experiment, chunks: ChunkSet, progress: Progress | None = None, shelf: Shelf | None = None) -> tuple[Shelf, Embedded]:
    """What can be searched (`shelf`, if it has been made, with vectors), and what it took to embed it: the indexed text of every chunk, and the
    second texts that lead to some."""
    shelf = unfilled(experiment, chunks) if shelf is None else shelf
    if (reader := reads_spans(experiment.embedder, chunks)) is not None:
        # What the strategy itself would put in front (the header of a table) the model reads where it stands, if its window reaches so far.
        spans = reader.embed_spans(experiment.corpus.documents, replace(chunks, context=None), progress)
        return shelf.filled(spans.vectors, None), spans
    more, chunk = chunks.second_texts()
    passages = experiment.embedder.embed([*shelf.texts, *more] if more else shelf.texts, "passage", progress)
    return shelf.filled(passages.vectors, np.concatenate([np.arange(len(chunks)), chunk]) if more else None), passages


def _embedding_facts(passages: Embedded, questions: Embedded) -> dict[str, float]:
    (worked, kept), (asked, known) = passed(passages), passed(questions)
    total = max(int(passages.tokens.sum()), 1)
    return {
        "truncated_token_share": float(passages.unread.sum() / total),
        "truncated_chunk_share": float((passages.unread > 0).mean()) if len(passages.unread) else 0.0,
        "embedded_tokens": float(worked + asked),
        "cached_tokens": float(kept + known),
    }


def fitted(experiment: Experiment, stored: Retrieved) -> Retrieved | None:
    """What was stored, cut to what a fresh search would give, so that a result never depends on what was asked before; None where it does not serve.

    It serves where it answers the probes of today's labels, and goes deep enough for today's ks and budgets.
    """
    chunks, whole = stored.chunks, stored.ranking
    probes = relevant(experiment.corpus, chunks, experiment.candidates, copies=experiment.copies).probes
    if not (np.array_equal(probes.question, whole.probes.question) and np.array_equal(probes.chunk, whole.probes.chunk)):
        return None
    ranking = _reach_of(experiment, chunks).cut(whole)
    return None if ranking is None else replace(stored, ranking=ranking)


def _reach_of(experiment: Experiment, chunks: ChunkSet) -> Reach:
    def made() -> Reach:
        tokens = measure(measure_all(experiment.budget_unit, experiment.corpus.documents), chunks.doc, chunks.returned_start, chunks.returned_end)
        return reach_of(chunks, experiment.candidates, tokens, budget=max(experiment.budgets), widest=experiment.widest)

    return _last.of((experiment.corpus, experiment.candidates, chunks, experiment.budget_unit, max(experiment.budgets), experiment.widest), made)


_last: Last[Reach] = Last()
