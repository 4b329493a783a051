"""What is wanted of all scores of a question, gathered while slabs of them go by: mean and spread, and how many are below and tied with some.

A slab is some questions (`rows`) x some columns (from `start` on), small enough to stay in the fastest memory. Slabs of different rows may come from
different threads; those of the same rows come in the order of their columns.
"""

from __future__ import annotations

import threading

import numpy as np
import numpy.typing as npt

from harness.retrieval.pool import Owners
from harness.types import Bools, Floats, Ints

Scores = npt.NDArray[np.float32]
_FEW = 8
"""Up to so many wanted scores of one question are counted one by one; for more, a sorted row is cheaper."""


class Scratch(threading.local):
    """Memory for working copies, one of each kind a thread: the first touch of fresh pages costs more than the work done in them."""

    def __init__(self) -> None:
        self._scores: Scores = np.zeros(0, dtype=np.float32)
        self._marks: Bools = np.zeros(0, dtype=np.bool_)

    def scores(self, rows: int, columns: int) -> Scores:
        """A matrix of that shape with anything in it."""
        if self._scores.size < rows * columns:
            self._scores = np.empty(rows * columns, dtype=np.float32)
        return self._scores[: rows * columns].reshape(rows, columns)

    def marks(self, rows: int, columns: int) -> Bools:
        """A matrix of that shape with anything in it."""
        if self._marks.size < rows * columns:
            self._marks = np.empty(rows * columns, dtype=np.bool_)
        return self._marks[: rows * columns].reshape(rows, columns)


class Weights:
    """Columns that stand for several candidates, and for how many beyond one; `total` candidates altogether."""

    def __init__(self, owners: Owners) -> None:
        counts = np.zeros(0, dtype=np.int64) if owners.begin is None else np.diff(owners.begin)
        self._column = np.flatnonzero(counts)
        self._extra = counts[self._column]
        self.total = len(owners.chunk) + int(self._extra.sum())

    def among(self, start: int, width: int) -> tuple[Ints, Ints]:
        """Which of the columns from `start` on these are, counted from there, and for how many each stands beyond one."""
        low, high = np.searchsorted(self._column, (start, start + width))
        return self._column[low:high] - start, self._extra[low:high]


class Moments:
    """Mean of each question's scores and the sum of squared deviations from it.

    Deviations are from a pivot, the score of the first slab that is nearest to its mean: float32 sums over a slab then lose next to nothing, and
    where all scores are equal nothing at all. Slabs are added up in float64 (Chan, Golub and LeVeque 1983, on shifted data). Where columns go by in
    several parts, each is given the `pivot` of the first: their sums then add up to those of the whole.
    """

    def __init__(self, questions: int, weights: Weights, pivot: Scores | None = None) -> None:
        self._weights, self._given = weights, pivot is not None
        self._pivot = np.zeros((questions, 1), dtype=np.float32) if pivot is None else pivot
        self.sums, self.squares = np.zeros(questions), np.zeros(questions)

    def add(self, rows: slice, start: int, scores: Scores, scratch: Scratch) -> None:
        """One more slab."""
        if start == 0 and not self._given:
            self._pivot[rows] = pivot_of(scores)
        times = np.ones(scores.shape[1], dtype=np.float32)
        column, extra = self._weights.among(start, scores.shape[1])
        times[column] += extra
        shifted = np.subtract(scores, self._pivot[rows], out=scratch.scores(*scores.shape))
        self.sums[rows] += shifted @ times
        np.multiply(shifted, shifted, out=shifted)
        self.squares[rows] += shifted @ times

    def result(self) -> tuple[Floats, Floats]:
        """(mean, sum of squared deviations)."""
        return unshifted(self._pivot, self.sums, self.squares, self._weights.total)


def pivot_of(scores: Scores) -> Scores:
    """The score of each row that is nearest to its mean, as a column."""
    nearest = np.abs(scores - scores.mean(axis=1, keepdims=True)).argmin(axis=1)
    return np.take_along_axis(scores, nearest[:, None], axis=1)


def unshifted(pivot: Scores, sums: Floats, squares: Floats, total: int) -> tuple[Floats, Floats]:
    """(mean, sum of squared deviations from it) of `total` numbers, from the sums of their distances from `pivot` and of the squares of these."""
    shift = sums / total
    return pivot[:, 0] + shift, np.maximum(squares - sums * shift, 0)


class Standing:
    """For pairs of a question and a score that it has: how many of its scores are lower, and how many equal. Pairs are ordered by `question`."""

    def __init__(self, question: Ints, wanted: Scores, weights: Weights) -> None:
        self._question, self._wanted, self._weights = question, wanted, weights
        self.below, self.tied = np.zeros(len(wanted), dtype=np.int64), np.zeros(len(wanted), dtype=np.int64)
        _, first, counts = np.unique(question, return_index=True, return_counts=True)
        turn, few = np.arange(len(question)) - np.repeat(first, counts), np.repeat(counts <= _FEW, counts)
        self._turns = [np.flatnonzero(few & (turn == number)) for number in range(int(turn[few].max(initial=-1)) + 1)]
        self._many = [slice(low, low + count) for low, count in zip(first, counts, strict=True) if count > _FEW]

    def add(self, rows: slice, start: int, scores: Scores, scratch: Scratch) -> None:
        """One more slab."""
        column, extra = self._weights.among(start, scores.shape[1])
        for pairs in self._turns:
            low, high = np.searchsorted(self._question[pairs], (rows.start, rows.stop))
            if low < high:
                self._count(pairs[low:high], rows, scores, (column, extra), scratch)
        for own in self._many:
            row = self._question[own.start] - rows.start
            if 0 <= row < len(scores):
                ordered = np.sort(np.concatenate([scores[row], np.repeat(scores[row, column], extra)]))
                below = np.searchsorted(ordered, self._wanted[own], side="left")
                self.below[own] += below
                self.tied[own] += np.searchsorted(ordered, self._wanted[own], side="right") - below

    def _count(self, pairs: Ints, rows: slice, scores: Scores, several: tuple[Ints, Ints], scratch: Scratch) -> None:
        """One pair of each of some questions."""
        if len(pairs) < len(scores):
            place = self._question[pairs] - rows.start
            scores = np.take(scores, place, axis=0, out=scratch.scores(len(pairs), scores.shape[1]), mode="clip")
        wanted, marks = self._wanted[pairs, None], scratch.marks(*scores.shape)
        self.below[pairs] += _counted(np.less(scores, wanted, out=marks), *several)
        if np.equal(scores, wanted, out=marks).any():
            self.tied[pairs] += _counted(marks, *several)


def _counted(marks: Bools, column: Ints, extra: Ints) -> Ints:
    """How many of each row are marked, where some columns count for more than one. Bits are counted eight at a time."""
    counts: Ints = np.bitwise_count(np.packbits(marks, axis=1)).sum(axis=1, dtype=np.int64)
    if len(column):
        counts += (np.take(marks, column, axis=1).astype(np.float64) @ extra.astype(np.float64)).astype(np.int64)
    return counts


def marked(marks: Bools) -> tuple[Ints, Ints]:
    """(row, column) of the marks of a matrix that has few. Words without any are passed over eight at a time."""
    flat, width = marks.ravel(), marks.shape[1]
    whole = len(flat) - len(flat) % 8
    word = np.flatnonzero(flat[:whole].view(np.uint64))
    near, bit = np.nonzero(flat[:whole].reshape(-1, 8)[word])
    place = np.concatenate([word[near] * 8 + bit, whole + np.flatnonzero(flat[whole:])])
    row, column = np.divmod(place, width)
    return row, column
