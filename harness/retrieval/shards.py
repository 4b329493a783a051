"""Exact search over vectors that lie in files, one a shard: each shard is searched by itself, here or on another machine, and what was found is
merged. The numbers are those of one search over all, bit for bit on the same kind of machine.

How. A pool's columns are cut at the blocks of products that one search would make, each block going to the shard in whose file it begins; so every
product is the one that would have been made, of the same matrices. What is to be the same for all shards is worked out first: the scores of the
probes, and the pivot of the moments. Then places are merged by score, ties by column; counts are added, and so are sums around the same pivot (so no
formula for different means is needed, as Chan, Golub and LeVeque 1983 give for parts that know nothing of each other).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from harness.retrieval.places import Places
from harness.retrieval.pool import Owners, Pool
from harness.retrieval.products import BestOf, Buffers, Products
from harness.retrieval.scores import Findings, Slabs
from harness.retrieval.standing import Moments, Scores, Standing, Weights, pivot_of, unshifted
from harness.shards import ShardedVectors, VectorFiles, runs_of
from harness.types import Floats, Ints, Vectors


@dataclass(frozen=True)
class Part:
    """What one shard is asked, as plain data. `asked`: the vectors of the questions; `rows`: a row of the files for each column; `known`: (question,
    column, score) of pairs that have their score, by column; `question` and `wanted`: scores whose standing is wanted, by question; `several`:
    columns that stand for more than one candidate, and for how many more; `pivot`: of each question; `width`: columns of a block. Columns are counted
    from the first of the part, which is `start` of the whole."""

    shard: int
    start: int
    asked: Vectors
    rows: Sequence[int] | Ints
    known: tuple[Ints, Ints, Scores]
    question: Ints
    wanted: Scores
    several: tuple[Ints, Ints]
    pivot: Scores
    depth: int
    width: int


@dataclass(frozen=True)
class Heard:
    """What one shard found: the first places of each question (columns of the part), sums of shifted scores, and the standing of what was wanted."""

    column: Ints
    score: Scores
    sums: Floats
    squares: Floats
    below: Ints
    tied: Ints


SearchParts = Callable[[Sequence[Part], VectorFiles], Sequence[Heard]]
"""Has each part looked at, somewhere; the answers in the order of the parts."""


def look(part: Part, files: VectorFiles) -> Heard:
    """Search one part. Costs its questions x columns x dim; holds some 20 MB beside what the operating system keeps of the file."""
    products = FileProducts(part.asked, files, np.asarray(part.rows, dtype=np.int64), Buffers(), part)
    weights, count = Weights(_owners(len(part.rows), part.several)), len(part.asked)
    best, moments = Places(count, part.depth), Moments(count, weights, part.pivot)
    standing, slabs = Standing(part.question, part.wanted, weights), Slabs()
    slabs.look(products, best, moments, standing)
    slabs.close()
    return Heard(*best.held(), moments.sums, moments.squares, standing.below, standing.tied)


def search_here(parts: Sequence[Part], files: VectorFiles) -> list[Heard]:
    """One part after the other, in this process."""
    return [look(part, files) for part in parts]


class FileProducts(Products):
    """Products with vectors that lie in files: of all columns, or of a `part` of them, which knows what `pairs` would work out."""

    def __init__(self, asked: Vectors, files: VectorFiles, row: Ints, buffers: Buffers, part: Part | None = None) -> None:
        super().__init__(asked, np.zeros((0, files.dim), dtype=np.float32), row, buffers)
        self._files, self._width = files, None if part is None else part.width
        self._known = self._known if part is None else part.known

    @property
    def width(self) -> int:
        """Columns of a block, but for the last: a part has those of the whole."""
        return super().width if self._width is None else self._width

    @property
    def known(self) -> tuple[Ints, Ints, Scores]:
        """(question, column, score) of the pairs that were asked for, by column."""
        return self._known

    def _gathered(self, rows: Ints) -> Vectors:
        return self._files.take(rows)

    def _rows(self, rows: Ints) -> Vectors:
        run = runs_of(rows)
        if isinstance(run, range):
            return self._files.slice(run.start, run.stop)
        return self._files.take(rows, self._buffers.of(1, len(rows), self._files.dim))


@dataclass(frozen=True, eq=False)
class Sharded:
    """The vectors of a shelf that lie in shards, and who searches them."""

    vectors: ShardedVectors
    search: SearchParts = search_here

    def take(self, found: Findings, questions: Ints, asked: Vectors, pool: Pool, owners: Owners, depth: int, buffers: Buffers) -> None:
        """Have the shards of `pool` searched for some questions, and tell `found`.

        Where several vectors lead to a chunk, equal ones may lie in any shard, and a chunk needs the best of its own: those are searched here, block
        by block from the files.
        """
        products = FileProducts(asked, self.vectors.files, self.vectors.place[pool.row], buffers)
        if pool.first is not None:
            found.take(questions, pool, owners, BestOf(products, len(asked), pool, pool.first, buffers), depth)
            return
        if len(pool.row) <= products.width:
            found.take(questions, pool, owners, products, depth)
            return
        places, question, column = found.known(questions, pool)
        wanted, weights = products.pairs(question, column), Weights(owners)
        pivot = pivot_of(next(iter(products))[1])
        parts = self._parts(products, asked, question, wanted, weights, pivot, depth)
        heard = self.search(parts, self.vectors.files)
        best = Places.merged([(one.column + part.start, one.score) for part, one in zip(parts, heard, strict=True)], depth)
        sums, squares = sum((one.sums for one in heard), np.zeros(len(asked))), sum((one.squares for one in heard), np.zeros(len(asked)))
        found.keep(questions, unshifted(pivot, sums, squares, weights.total), best.chunks(owners))
        below, tied = sum(one.below for one in heard), sum(one.tied for one in heard)
        found.keep_probes(places, wanted, np.asarray(below), np.asarray(tied))

    def _parts(
        self, products: FileProducts, asked: Vectors, question: Ints, wanted: Scores, weights: Weights, pivot: Scores, depth: int
    ) -> list[Part]:
        """One for each shard in whose file some block begins."""
        known, rows = products.known, products.rows
        shard = self.vectors.files.file_of(rows[:: products.width])
        shard = np.maximum.accumulate(shard)  # a filter may lead back to a vector that an earlier shard holds
        first = np.flatnonzero(np.diff(shard, prepend=-1)) * products.width
        parts = []
        for start, stop in pairwise([*first.tolist(), len(rows)]):
            low, high = np.searchsorted(known[1], (start, stop))
            mine = known[0][low:high], known[1][low:high] - start, known[2][low:high]
            several = weights.among(start, stop - start)
            number = int(shard[start // products.width])
            parts.append(Part(number, start, asked, runs_of(rows[start:stop]), mine, question, wanted, several, pivot, depth, products.width))
        return parts


def _owners(columns: int, several: tuple[Ints, Ints]) -> Owners:
    """Of that many columns, of which some stand for several candidates; which ones these are is not said."""
    counts = np.zeros(columns, dtype=np.int64)
    counts[several[0]] = several[1]
    return Owners(np.arange(columns), None, np.concatenate([[0], np.cumsum(counts)]))
