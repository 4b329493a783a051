"""Exact search by inner product, with the standing of every candidate.

How the order is made certain. A blocked matrix product may round the same dot product differently at different places of the matrix. So equal vectors
are compared with a question once, which makes their scores equal bit for bit, and all that is reported (order, statistics, probes) is read from one
pass over the same blocks of scores. docs/decisions/0017-exact-search.md says what this costs beside FAISS.

Where several vectors lead to a chunk, its score is the best of theirs; everything after that is by chunk.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from harness import scratch
from harness.errors import PartError
from harness.retrieval.base import Queries, Shelf
from harness.retrieval.pool import Catalogue, Owners, Pool, group_rows
from harness.retrieval.products import BestOf, Buffers, Products
from harness.retrieval.scores import Blocks, Findings
from harness.types import Candidates, Ints, Probes, Ranking, Vectors

_WIDE_SCORES = 2**24
"""Scores held at once where several vectors lead to a chunk: 64 MB, three times that with working copies."""
_QUERIES_AT_ONCE = 1024
_ROWS_AT_ONCE = 1024
_ROWS_KEPT = 2**16
"""Of vectors that lie in a file, so many stay in memory once they were used."""


@dataclass(frozen=True)
class DenseRetriever:
    """Ranks the candidates of a question by the inner product of their vector with its own (the cosine, for vectors of unit length), the best one
    where a chunk has several."""

    def build(self, shelf: Shelf) -> DenseIndex:
        """An index over `shelf`. Raises PartError where its vectors are not one finite row an entry, or a chunk has none."""
        check_vectors(shelf, "dense")
        return DenseIndex(shelf)


class DenseIndex:
    """A built index: the vectors of the shelf, not copied, and which of them are equal."""

    def __init__(self, shelf: Shelf) -> None:
        self._vectors, self._sharded = np.ascontiguousarray(shelf.vectors, dtype=np.float32), shelf.sharded
        self._bytes = index_bytes(shelf)
        self._catalogue = Catalogue(shelf.doc, self._vectors if shelf.sharded is None else shelf.sharded.vectors, shelf.entry)

    @property
    def nbytes(self) -> int:
        """Bytes of the vectors as a store holds them, one an entry (that equal ones are compared once here is no property of the chunks)."""
        return self._bytes

    def search(self, queries: Queries, candidates: Candidates, depth: int, probes: Probes) -> Ranking:
        """The first `depth` candidates of every query. Costs queries x candidates x dim; holds some 20 MB beside the index and the ranking, where
        chunks have several entries about 200 MB."""
        found, asked = Findings(len(queries.texts), probes), np.ascontiguousarray(queries.vectors, dtype=np.float32)
        buffers = Buffers()
        for rows, documents in group_rows(candidates):
            pool = self._catalogue.pool(documents)
            found.candidates[rows] = len(pool.chunk)
            if not len(pool.chunk):
                continue
            owners = pool.owners()
            step = min(_QUERIES_AT_ONCE, len(rows) if pool.first is None else max(_WIDE_SCORES // pool.entries, 1))
            for start in range(0, len(rows), step):
                block = rows[start : start + step]
                self._look(found, block, asked[block], pool, owners, depth, buffers)
        return found.ranking()

    def _look(self, found: Findings, block: Ints, asked: Vectors, pool: Pool, owners: Owners, depth: int, buffers: Buffers) -> None:
        if self._sharded is not None:
            self._sharded.take(found, block, asked, pool, owners, depth, buffers)
        else:
            found.take(block, pool, owners, self._blocks(asked, pool, buffers), depth)

    def _blocks(self, asked: Vectors, pool: Pool, buffers: Buffers) -> Blocks:
        products = Products(asked, self._vectors, pool.row, buffers)
        return products if pool.first is None else BestOf(products, len(asked), pool, pool.first, buffers)


def check_vectors(shelf: Shelf, name: str) -> None:
    """Raises PartError, in the name of a retriever, where vectors are not one finite row an entry, or a chunk has none."""
    vectors, entry = shelf.vectors, shelf.entry
    count = len(shelf.doc) if entry is None else len(entry)
    if shelf.sharded is not None:
        vectors, count = vectors[:0], 0  # who wrote the files has looked at every row
    if vectors.ndim != 2 or len(vectors) != count:
        what = "chunks; one row a chunk" if entry is None else "entries; one row an entry"
        raise PartError(f"{name}: found vectors of shape {vectors.shape} for {count} {what} would do")
    for start in range(0, count, _ROWS_AT_ONCE):
        if not np.isfinite(vectors[start : start + _ROWS_AT_ONCE]).all():
            raise PartError(f"{name}: found vectors with NaN or infinite values; finite ones would do")
        if start % _ROWS_KEPT == 0:
            scratch.release(vectors)
    if entry is not None and not np.bincount(entry, minlength=len(shelf.doc)).all():
        raise PartError(f"{name}: found chunks without any vector; one or more for each chunk would do")


def index_bytes(shelf: Shelf) -> int:
    """Bytes of all vectors of the shelf, as they are stored: 4 a number unless it says otherwise."""
    each = 4.0 * shelf.vectors.shape[1] if shelf.vector_bytes is None else shelf.vector_bytes
    return round((len(shelf.doc) if shelf.entry is None else len(shelf.entry)) * each)
