"""Exact search by inner product, with the standing of every candidate.

How the order is made certain. FAISS promises no order among equal scores, and a blocked matrix product may round the same dot product differently
at different places of the matrix. So equal vectors are stored once, which makes their scores equal bit for bit, and all that is reported (order,
statistics, probes) is read from one block of scores. FAISS finds the score of the last place that is wanted; every chunk within rounding of it or
above is taken from the block and sorted by score, then chunk. That is cheaper than sorting or partitioning each row of scores.

Where several vectors lead to a chunk, its score is the best of theirs, taken in the same block; everything after that is by chunk.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from harness.errors import PartError
from harness.retrieval.base import Queries, Shelf
from harness.retrieval.pool import Pool, group_rows
from harness.retrieval.scores import Findings
from harness.types import Candidates, Ints, Probes, Ranking, Vectors

_BLOCK_SCORES = 2**25
"""Scores held at once: 128 MB, twice that where texts repeat or lead to one chunk; working copies add at most 64 MB."""
_QUERIES_AT_ONCE = 4096
_ROWS_COMPARED = 1024
_ROUNDING = 1e-5
"""More than two float32 inner products of the same unit vectors can differ by."""
_DEEPEST = 2048
"""Deeper than this, partitioning a row of scores is cheaper than FAISS's heaps."""


@dataclass(frozen=True)
class DenseRetriever:
    """Ranks the candidates of a question by the inner product of their vector with its own (the cosine, for vectors of unit length), the best one
    where a chunk has several."""

    def build(self, shelf: Shelf) -> DenseIndex:
        """An index over `shelf`. Raises PartError where its vectors are not one finite row an entry, or a chunk has none."""
        vectors, entry = shelf.vectors, shelf.entry
        count = len(shelf.doc) if entry is None else len(entry)
        if vectors.ndim != 2 or len(vectors) != count:
            what = "chunks; one row a chunk" if entry is None else "entries; one row an entry"
            raise PartError(f"dense: found vectors of shape {vectors.shape} for {count} {what} would do")
        if not np.isfinite(vectors).all():
            raise PartError("dense: found vectors with NaN or infinite values; finite ones would do")
        if entry is not None and not np.bincount(entry, minlength=len(shelf.doc)).all():
            raise PartError("dense: found chunks without any vector; one or more for each chunk would do")
        return DenseIndex(shelf.doc, vectors, entry)


class DenseIndex:
    """A built index: each distinct vector once, in FAISS's IndexFlatIP."""

    def __init__(self, doc: Ints, vectors: Vectors, entry: Ints | None = None) -> None:
        import faiss

        self._doc = doc
        kept, place = _distinct_rows(vectors)
        self._place, self._begin, self._most = _by_chunk(place, entry, len(doc))
        self._faiss: Any = faiss.IndexFlatIP(vectors.shape[1])
        self._faiss.add(np.ascontiguousarray(vectors[kept], dtype=np.float32))
        self._vectors = _stored(self._faiss)
        self._longest = float(np.linalg.norm(self._vectors, axis=1).max(initial=0.0))

    @property
    def nbytes(self) -> int:
        """Bytes of the vectors as an index holds them, one an entry (that equal ones are stored once here is no property of the chunks)."""
        return len(self._place) * int(self._vectors.shape[1]) * 4

    def search(self, queries: Queries, candidates: Candidates, depth: int, probes: Probes) -> Ranking:
        """The first `depth` candidates of every query. Costs queries x candidates x dim; holds at most about 320 MB beside the index."""
        found, asked = Findings(len(queries.texts), probes), np.ascontiguousarray(queries.vectors, dtype=np.float32)
        buffers = _Buffers()
        for rows, documents in group_rows(candidates):
            pool = Pool.of(self._doc, self._place, documents, self._begin)
            found.candidates[rows] = len(pool.chunk)
            if len(pool.chunk):
                self._search_pool(asked, rows, pool, depth, found, buffers)
        return found.ranking()

    def _search_pool(self, asked: Vectors, rows: Ints, pool: Pool, depth: int, found: Findings, buffers: _Buffers) -> None:
        whole = len(pool.vector) == len(self._vectors)
        stored = self._vectors if whole else self._vectors[pool.vector]
        floor = self._floor(asked[rows], depth * self._most) if whole and 0 < depth < len(pool.chunk) else None
        step = max(_BLOCK_SCORES // pool.entries, 1)
        for start in range(0, len(rows), step):
            block = rows[start : start + step]
            scores = np.matmul(asked[block], stored.T, out=buffers.of(0, len(block), len(stored)))
            if pool.column is not None:
                scores = np.take(scores, pool.column, axis=1, out=buffers.of(1, len(block), pool.entries), mode="clip")
            if pool.first is not None:
                scores = np.maximum.reduceat(scores, pool.first, axis=1, out=buffers.of(2, len(block), len(pool.chunk)))
            found.take(block, pool.chunk, scores, depth, None if floor is None else floor[start : start + step])

    def _floor(self, asked: Vectors, depth: int) -> npt.NDArray[np.float32] | None:
        """For each query a score that its `depth` best distinct vectors reach. Each leads to a chunk at least, and at most `_most` lead to the same
        one, so `depth / _most` chunks reach it as well."""
        if depth > min(self._faiss.ntotal, _DEEPEST):
            return None
        lowest = [self._faiss.search(asked[start:end], depth)[0][:, -1] for start, end in _slices(len(asked), _QUERIES_AT_ONCE)]
        slack = _ROUNDING * self._longest * np.linalg.norm(asked, axis=1)
        return np.asarray(np.concatenate(lowest) - slack, dtype=np.float32)


class _Buffers:
    """Memory for blocks of scores, used again from block to block: the first touch of fresh pages costs as much as the product itself."""

    def __init__(self) -> None:
        self._flat = [np.zeros(0, dtype=np.float32) for _ in range(3)]

    def of(self, which: int, rows: int, columns: int) -> npt.NDArray[np.float32]:
        """A matrix of that shape with anything in it."""
        if self._flat[which].size < rows * columns:
            self._flat[which] = np.empty(rows * columns, dtype=np.float32)
        return self._flat[which][: rows * columns].reshape(rows, columns)


def _stored(index: Any) -> Vectors:
    """The vectors as FAISS holds them, without a copy. Valid as long as `index` is, and nothing is added to it."""
    import faiss

    if not index.ntotal:
        return np.zeros((0, index.d), dtype=np.float32)
    flat = faiss.rev_swig_ptr(index.get_xb(), index.ntotal * index.d)
    return np.asarray(flat).reshape(index.ntotal, index.d)


def _distinct_rows(vectors: Vectors) -> tuple[Ints, Ints]:
    """Which rows hold a vector for the first time, in order, and for every row the place of its vector among those. Exact: rows are told apart by
    a hash of their bits, and where two different rows should share one, by sorting."""
    bits = (np.ascontiguousarray(vectors, dtype=np.float32) + np.float32(0)).view(np.uint32)  # -0.0 becomes 0.0: they are equal
    hashed = np.einsum("ij,j->i", bits, _multipliers(bits.shape[1]), dtype=np.uint64, casting="unsafe")
    _, first, inverse = np.unique(hashed, return_index=True, return_inverse=True)
    if not all(np.array_equal(bits[start:end], bits[first[inverse[start:end]]]) for start, end in _slices(len(bits), _ROWS_COMPARED)):
        _, first, inverse = np.unique(bits, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    return first[order].astype(np.int64), rank[inverse.ravel()]


def _multipliers(count: int) -> npt.NDArray[np.uint64]:
    return np.random.default_rng(0).integers(1, 2**63, count, dtype=np.uint64) * np.uint64(2) + np.uint64(1)


def _by_chunk(place: Ints, entry: Ints | None, chunks: int) -> tuple[Ints, Ints | None, int]:
    """The vector of every entry in chunk order, where the entries of each chunk begin (chunks + 1; None: each chunk has just its own), and the most
    that one chunk has."""
    if entry is None:
        return place, None, 1
    counts = np.bincount(entry, minlength=chunks)
    begin = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return place[np.argsort(entry, kind="stable")], begin, int(counts.max(initial=1))


def _slices(count: int, step: int) -> list[tuple[int, int]]:
    return [(start, min(start + step, count)) for start in range(0, count, step)]
