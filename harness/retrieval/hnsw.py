"""Approximate search by a graph of near neighbours (FAISS IndexHNSWFlat), and what it misses of exact search.

The graph holds each distinct vector once, so copies of a text don't crowd out its other neighbours. It is built on one thread: on several, the order
in which vectors arrive decides their links, and the same chunks could give another graph. One walk a question gives the `ef_search` best vectors that
it meets; their chunks, by score, are the head of the ranking, whatever depth is asked for. All other candidates follow behind in exact order.

Filters are exact: FAISS walks past what a filter excludes, without returning it. Where a filter leaves few of the vectors, such a walk finds too few,
and comparing them all is cheap: below `exact_below` distinct vectors, those questions are searched exactly.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from harness.retrieval.base import Queries, Shelf
from harness.retrieval.dense import DenseRetriever, check_vectors, index_bytes
from harness.retrieval.orders import MOST, Rows, as_ranking, behind, best_first, check_whole
from harness.retrieval.pool import Catalogue, Pool, group_rows
from harness.spans import ranges
from harness.types import Bools, Candidates, Ints, Probes, Ranking, Vectors

RECALL_DEPTH = 10
_MOST_LINKS = 4096
"""FAISS reserves room for all links of every vector."""


@dataclass(frozen=True)
class HnswRetriever:
    """Ranks by inner product what a walk through a graph finds (Malkov and Yashunin 2018).

    `m`: links of a vector on each level, twice that on the lowest; `ef_construction`: how many near vectors are looked at to choose them;
    `ef_search`: how many a walk keeps, and so the most that it finds. More of each finds more, and costs memory, time to build, and time to search.
    `exact_below`: see above. Raises ConfigError for values that can't work.
    """

    m: int = 16
    ef_construction: int = 100
    ef_search: int = 64
    exact_below: int = 4096

    def __post_init__(self) -> None:
        for name, least, most in (("m", 2, _MOST_LINKS), ("ef_construction", 1, MOST), ("ef_search", 1, MOST), ("exact_below", 0, MOST)):
            check_whole(name, getattr(self, name), least, most)

    def build(self, shelf: Shelf) -> HnswIndex:
        """An index over `shelf`, beside the exact one. Raises PartError where its vectors are not one finite row an entry, or a chunk has none."""
        check_vectors(shelf, "hnsw")
        return HnswIndex(self, shelf)


class HnswIndex:
    """A built graph, and the exact index of the same shelf."""

    def __init__(self, by: HnswRetriever, shelf: Shelf) -> None:
        self._by, self._exact = by, shelf.index(DenseRetriever())
        built = shelf.once(f"graph {by.m} {by.ef_construction}", lambda: _built(shelf, by))  # which does not depend on how it is walked
        self._catalogue, self._graph, self._seconds = built.catalogue, built.graph, built.seconds
        self._bytes = index_bytes(shelf) + _links(self._graph)
        self._walked: tuple[Queries, Candidates, Rows] | None = None
        self._facts: dict[str, float] = {}

    @property
    def nbytes(self) -> int:
        """Bytes of the vectors as a store holds them, one an entry, and of the links between the distinct ones."""
        return self._bytes

    def facts(self) -> Mapping[str, float]:
        """Of the last questions: index_recall_at_10 = share of the exact first 10 that the graph has among its first 10 (a tie at the tenth counts),
        mean over questions with candidates; search_ms_per_question, of the walks; exact_ms_per_question, of exact search with its statistics.
        seconds_graph: of building the graph, which cells that walk it otherwise share."""
        return {**self._facts, "seconds_graph": self._seconds}

    def search(self, queries: Queries, candidates: Candidates, depth: int, probes: Probes) -> Ranking:
        """The first `depth` candidates: those that the graph leads to, then all others in exact order, with scores that fall by 1 a place and mean
        nothing. Statistics and probes are those of exact search: they belong to the vectors, not to the way they are searched."""
        width = max(self._by.ef_search, RECALL_DEPTH)
        exact = self._exact.search(queries, candidates, max(depth, 0) + width, probes)
        every = Rows(np.repeat(np.arange(len(exact)), np.diff(exact.indptr)), exact.chunk, exact.score)
        if self._walked is None or self._walked[0] is not queries or self._walked[1] is not candidates:
            head = self._head(queries, candidates, every)
            self._walked = (queries, candidates, head)
            self._facts["exact_ms_per_question"] = 1000 * self._exact.seconds / max(len(exact), 1)
            if (recall := _recall(head, every, exact.candidates)) is not None:
                self._facts["index_recall_at_10"] = recall
        head = self._walked[2]
        rest = every.where(~_in(every, head))
        found = as_ranking(behind(head, rest), exact.candidates, depth, probes)
        told = ("score_mean", "score_m2", "probe_score", "probe_below", "probe_tied")
        return replace(found, **{name: getattr(exact, name) for name in told})

    def _head(self, queries: Queries, candidates: Candidates, exact: Rows) -> Rows:
        """What the walks lead to, question by question, best first; equal scores by chunk."""
        asked = np.ascontiguousarray(queries.vectors, dtype=np.float32)
        parts: list[Rows] = []
        seconds, walks = 0.0, 0
        for rows, documents in group_rows(candidates):
            pool = self._catalogue.pool(documents)
            if not len(pool.chunk):
                continue
            if len(pool.row) < self._by.exact_below and not documents.all():
                near = exact.where(np.isin(exact.question, rows))
                parts.append(near.where(near.place < self._by.ef_search))
                continue
            node = pool.row if self._catalogue.number is None else self._catalogue.number[pool.row]
            began = time.perf_counter()
            score, near_node = self._walk(asked[rows], None if documents.all() else node)
            seconds, walks = seconds + time.perf_counter() - began, walks + len(rows)
            column = np.full(self._graph.ntotal + 1, -1, dtype=np.int64)  # the last one is for -1
            column[node] = np.arange(len(node))
            parts.append(self._chunks(rows, pool, score, column[near_node]))
        self._facts["search_ms_per_question"] = 1000 * seconds / max(walks, 1)
        empty = Rows(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros(0))
        return best_first(Rows(*(np.concatenate(columns) for columns in zip(empty, *parts, strict=True))))

    def _walk(self, asked: Vectors, nodes: Ints | None) -> tuple[Vectors, Ints]:
        """Scores and nodes of shape (questions, ef_search), best first; -1 where nothing more was found. `nodes`: all that may be found."""
        import faiss

        broad = min(self._by.ef_search, self._graph.ntotal)  # FAISS reserves room for as many; there are no more to keep
        parameters = faiss.SearchParametersHNSW(efSearch=broad)  # type: ignore[attr-defined]  # its stubs lack it
        chosen = None if nodes is None else faiss.IDSelectorBatch(nodes)
        if chosen is not None:
            parameters.sel = chosen
        score, node = self._graph.search(asked, broad, params=parameters)
        return score, node

    def _chunks(self, rows: Ints, pool: Pool, score: Vectors, column: Ints) -> Rows:
        """The candidates that these vectors (columns of `pool`; -1: none) lead to, each once, the first `ef_search` of every question."""
        place, _ = np.nonzero(column >= 0)
        high, column = score[column >= 0].astype(np.float64), column[column >= 0]
        owners, begin = pool.candidates_of_columns()
        low = begin[column]
        which, hit = ranges(low, np.minimum(begin[column + 1], low + self._by.ef_search))
        question, chunk, high = rows[place][hit], owners[which], high[hit]
        order = np.lexsort((-high, chunk, question))
        question, chunk, high = question[order], chunk[order], high[order]
        first = np.ones(len(order), dtype=bool)
        first[1:] = (question[1:] != question[:-1]) | (chunk[1:] != chunk[:-1])
        found = best_first(Rows(question[first], chunk[first], high[first]))
        return found.where(found.place < self._by.ef_search)


@dataclass(frozen=True, slots=True)
class _Built:
    """A graph, the catalogue of the vectors in it, and the seconds that both took."""

    catalogue: Catalogue
    graph: Any
    seconds: float


def _built(shelf: Shelf, by: HnswRetriever) -> _Built:
    began, vectors = time.perf_counter(), np.ascontiguousarray(shelf.vectors, dtype=np.float32)
    catalogue = Catalogue(shelf.doc, vectors, shelf.entry)
    number = catalogue.number
    graph = _build(vectors if number is None else vectors[np.unique(number, return_index=True)[1]], by)
    return _Built(catalogue, graph, time.perf_counter() - began)


def _build(vectors: Vectors, by: HnswRetriever) -> Any:
    """The graph of these vectors, the same every time."""
    import faiss

    graph = faiss.IndexHNSWFlat(vectors.shape[1], by.m, faiss.METRIC_INNER_PRODUCT)
    graph.hnsw.efConstruction = min(by.ef_construction, max(len(vectors), 1))
    threads = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(1)
    try:
        graph.add(vectors)
    finally:
        faiss.omp_set_num_threads(threads)
    return graph


def _links(graph: Any) -> int:
    """Bytes of a graph beside its vectors: links, where those of each node begin, and its level."""
    hnsw = graph.hnsw
    return int(hnsw.neighbors.size()) * 4 + int(hnsw.offsets.size()) * 8 + int(hnsw.levels.size()) * 4


def _recall(head: Rows, exact: Rows, candidates: Ints) -> float | None:
    """Share of the exact first 10 that are among the first 10 of `head`, a tie at the tenth counting; mean over questions with candidates."""
    wanted = np.minimum(candidates, RECALL_DEPTH)
    last = np.full(len(candidates), np.inf)
    at = exact.where(exact.place == wanted[exact.question] - 1)
    last[at.question] = at.score
    right = exact.where(exact.score >= last[exact.question])
    first = head.where(head.place < RECALL_DEPTH)
    hits = np.bincount(first.question[_in(first, right)], minlength=len(candidates))
    asked = candidates > 0
    return float((np.minimum(hits, wanted)[asked] / wanted[asked]).mean()) if asked.any() else None


def _in(rows: Rows, others: Rows) -> Bools:
    """Which of `rows` name a question and chunk that one of `others` names."""
    stride = int(max(rows.chunk.max(initial=0), others.chunk.max(initial=0))) + 1
    found: Bools = np.isin(rows.question * stride + rows.chunk, others.question * stride + others.chunk)
    return found
