"""Blocks of inner products, so that no more than a few megabytes of scores and vectors are held beside the index."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from harness import scratch
from harness.retrieval.pool import Pool
from harness.retrieval.standing import Scores
from harness.types import Ints, Vectors

_BLOCK_SCORES = 2**22
"""Scores of a block: 16 MB at most, for many questions. The product itself is fastest over some thousands of columns."""
_MOST_COLUMNS = 4096
_FEWEST_COLUMNS = 512
_PAIRS_AT_ONCE = 4096
_BLOCKS_KEPT = 16
"""Blocks of vectors that lie in a file and are kept in memory once they were used."""


class Buffers:
    """Memory for blocks, used again from block to block: the first touch of fresh pages costs as much as the product itself."""

    def __init__(self) -> None:
        self._flat = [np.zeros(0, dtype=np.float32) for _ in range(4)]

    def of(self, which: int, rows: int, columns: int) -> Scores:
        """A matrix of that shape with anything in it."""
        if self._flat[which].size < rows * columns:
            self._flat[which] = np.empty(rows * columns, dtype=np.float32)
        return self._flat[which][: rows * columns].reshape(rows, columns)


class Products:
    """The inner products of the questions with each distinct vector of a pool.

    A matrix product rounds a score differently from place to place of the matrix. Scores that are asked for as pairs are therefore worked out by
    themselves, and written over those in the blocks.
    """

    def __init__(self, asked: Vectors, vectors: Vectors, row: Ints, buffers: Buffers) -> None:
        self._asked, self._vectors, self._row, self._buffers = asked, vectors, row, buffers
        self._known: tuple[Ints, Ints, Scores] = (row[:0], row[:0], np.zeros(0, dtype=np.float32))

    def pairs(self, question: Ints, column: Ints) -> Scores:
        """Those of some pairs, each pair worked out once."""
        pair, place = np.unique(column * len(self._asked) + question, return_inverse=True)
        columns, questions = np.divmod(pair, len(self._asked))
        scores = np.empty(len(pair), dtype=np.float32)
        for start in range(0, len(pair), _PAIRS_AT_ONCE):
            part = slice(start, start + _PAIRS_AT_ONCE)
            scores[part] = np.einsum("ij,ij->i", self._asked[questions[part]], self._gathered(self._row[columns[part]]))
        self._known = (questions, columns, scores)
        return scores[place]

    @property
    def rows(self) -> Ints:
        """Where the vector of each column is."""
        return self._row

    @property
    def width(self) -> int:
        """Columns of a block, but for the last."""
        return int(np.clip(_BLOCK_SCORES // len(self._asked), _FEWEST_COLUMNS, _MOST_COLUMNS))

    def __iter__(self) -> Iterator[tuple[int, Scores]]:
        """Blocks of shape (questions, columns), each with the number of its first column. The next one overwrites it."""
        questions, columns, known = self._known
        for start in range(0, len(self._row), self.width):
            rows = self._row[start : start + self.width]
            scores = np.matmul(self._asked, self._rows(rows).T, out=self._buffers.of(0, len(self._asked), len(rows)))
            low, high = np.searchsorted(columns, (start, start + len(rows)))
            scores[questions[low:high], columns[low:high] - start] = known[low:high]
            yield start, scores
            if start // self.width % _BLOCKS_KEPT == 0:
                scratch.release(self._vectors)

    def _gathered(self, rows: Ints) -> Vectors:
        """A copy of these rows of the vectors."""
        return self._vectors[rows]

    def _rows(self, rows: Ints) -> Vectors:
        """These rows of the vectors; without a copy where they follow each other."""
        low, high = int(rows[0]), int(rows[-1])
        if high - low == len(rows) - 1 and bool((np.diff(rows) == 1).all()):
            return self._vectors[low : high + 1]
        return np.take(self._vectors, rows, axis=0, out=self._buffers.of(1, len(rows), self._vectors.shape[1]), mode="clip")


class BestOf:
    """For each candidate the best of the products of its entries, which begin with `first`. All those of a question are held at once, since equal
    vectors may lead to candidates far apart, and must not be worked out twice."""

    def __init__(self, products: Products, questions: int, pool: Pool, first: Ints, buffers: Buffers) -> None:
        scores = buffers.of(2, questions, len(pool.row))
        for start, block in products:
            scores[:, start : start + block.shape[1]] = block
        if pool.column is not None:
            scores = np.take(scores, pool.column, axis=1, out=buffers.of(3, questions, len(pool.column)), mode="clip")
        self._scores: Scores = np.maximum.reduceat(scores, first, axis=1, out=buffers.of(0, questions, len(pool.chunk)))

    def pairs(self, question: Ints, column: Ints) -> Scores:
        """Those of some pairs."""
        return self._scores[question, column]

    def __iter__(self) -> Iterator[tuple[int, Scores]]:
        """Blocks of shape (questions, columns), each with the number of its first column."""
        for start in range(0, self._scores.shape[1], _MOST_COLUMNS):
            yield start, self._scores[:, start : start + _MOST_COLUMNS]
