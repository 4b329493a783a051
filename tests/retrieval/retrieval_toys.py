"""What the tests of retrievers share: one that ranks by scores written down, and rankings as lists."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from harness.retrieval.base import Index, OpenStore, Queries, Retriever, Shelf
from harness.types import Candidates, Document, Ints, Probes, Ranking, Vectors

NO_PROBES = Probes(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))


@dataclass(frozen=True)
class Written:
    """Ranks by `scores[question][chunk]`, the question being the number that its text is. Remembers nothing unless it is told to."""

    scores: tuple[tuple[float, ...], ...]
    remembers: bool = field(default=False, compare=False)

    def build(self, shelf: Shelf) -> WrittenIndex:
        return WrittenIndex(shelf.doc, self.scores)

    def remembering(self, open_store: OpenStore) -> Written:
        return Written(self.scores, True)


@dataclass(frozen=True)
class WrittenIndex:
    doc: Ints
    scores: tuple[tuple[float, ...], ...]

    nbytes = 1000

    def search(self, queries: Queries, candidates: Candidates, depth: int, probes: Probes) -> Ranking:
        pools = [np.flatnonzero(candidates.documents[group][self.doc]) for group in candidates.group]
        scores = [np.array(self.scores[int(text)]) for text in queries.texts]
        orders = [pool[np.argsort(-row[pool], kind="stable")][:depth] for pool, row in zip(pools, scores, strict=True)]
        nan, minus = np.full(len(pools), np.nan), np.full(len(probes.question), -1)
        return Ranking(
            np.cumsum([0, *map(len, orders)]),
            np.concatenate([np.zeros(0, dtype=np.int64), *orders]),
            np.concatenate([np.zeros(0), *(row[order] for row, order in zip(scores, orders, strict=True))]),
            np.array([len(pool) for pool in pools], dtype=np.int64),
            nan, nan, probes, np.full(len(minus), np.nan), minus, minus,
        )  # fmt: skip


def written(random: np.random.Generator, questions: int, chunks: int, levels: int = 40) -> Written:
    """Scores with ties, negative ones included."""
    return Written(tuple(map(tuple, ((random.integers(0, levels, (questions, chunks)) - levels // 2) / 8).tolist())))


def shelf_of(texts: list[str], doc: list[int] | None = None, vectors: Vectors | None = None, documents: tuple[Document, ...] = ()) -> Shelf:
    numbers = np.array(range(len(texts)) if doc is None else doc, dtype=np.int64)
    return Shelf(numbers, tuple(texts), np.zeros((len(texts), 4), dtype=np.float32) if vectors is None else vectors, documents=documents)


def numbered(questions: int, dim: int = 4) -> Queries:
    return Queries(tuple(map(str, range(questions))), np.zeros((questions, dim), dtype=np.float32))


def everything(questions: int, documents: int) -> Candidates:
    return Candidates(np.zeros(questions, dtype=np.int64), np.ones((1, documents), dtype=bool))


def some(random: np.random.Generator, questions: int, documents: int) -> Candidates:
    """Filters that leave about half of the documents, the first of them all."""
    masks = random.random((3, documents)) < 0.5
    masks[0] = True
    return Candidates(random.integers(0, 3, questions).astype(np.int64), masks)


def pool_of(shelf: Shelf, candidates: Candidates, question: int) -> list[int]:
    return np.flatnonzero(candidates.documents[candidates.group[question]][shelf.doc]).tolist()


def lists(ranking: Ranking) -> list[list[int]]:
    return [part.tolist() for part in np.split(ranking.chunk, ranking.indptr[1:-1])]


def ranked(retriever: Retriever, shelf: Shelf, queries: Queries, candidates: Candidates, depth: int = 10_000) -> list[list[int]]:
    index: Index = retriever.build(shelf)
    return lists(index.search(queries, candidates, depth, NO_PROBES))
