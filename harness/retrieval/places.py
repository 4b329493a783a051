"""The first places of many questions at once, kept while blocks of scores go by."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from harness.retrieval.pool import Owners
from harness.retrieval.standing import Scores, Scratch, marked
from harness.spans import ranges
from harness.types import Ints

_ROWS_OF_ONE = np.int64(2**22)
"""Chunks put in order at once."""


class Places:
    """The `depth` best columns of every question; equal scores by column. Slabs are those of harness.retrieval.standing.

    A score counts when it beats that of the last place so far; what beats it is collected, and put in order when there are as many as places. So all
    but the first blocks cost one reading.
    """

    def __init__(self, questions: int, depth: int) -> None:
        self._depth, self._seen = depth, 0
        self._score: Scores = np.zeros((questions, 0), dtype=np.float32)
        self._column: Ints = np.zeros((questions, 0), dtype=np.int64)
        self._floor: Scores = np.full(questions, -np.inf, dtype=np.float32)
        self._waiting: list[tuple[Ints, Ints, Scores]] = []

    def add(self, rows: slice, start: int, scores: Scores, scratch: Scratch) -> None:
        """One more slab: the scores of the questions `rows` for the columns from `start` on, which must be finite. After those of all questions,
        `settle` is to be called."""
        if self._depth < 1:
            return
        if start < self._depth:
            kept = np.greater_equal(scores, _lowest(scores, self._depth)[:, None], out=scratch.marks(*scores.shape))
            row, column = np.nonzero(kept)
            self._waiting.append((row + rows.start, column + start, scores[row, column]))
            return
        floor = self._floor[rows]
        some = np.flatnonzero(scores.max(axis=1) > floor)
        if not len(some):
            return
        if len(some) < len(scores):
            scores = np.take(scores, some, axis=0, out=scratch.scores(len(some), scores.shape[1]), mode="clip")
        row, column = marked(np.greater(scores, floor[some, None], out=scratch.marks(*scores.shape)))
        self._waiting.append((some[row] + rows.start, column + start, scores[row, column]))

    def settle(self, end: int) -> None:
        """All questions have seen the columns up to `end`: puts what was collected in order where that is due."""
        filled, self._seen = self._seen >= self._depth, end
        waiting = sum(len(row) for row, _, _ in self._waiting)
        if waiting and end >= self._depth and (not filled or waiting > self._column.size):
            self._settle()

    def _settle(self) -> None:
        row, column, score = (np.concatenate(part) for part in zip(*self._waiting, strict=True))
        self._waiting = []
        order = np.argsort(row, kind="stable")  # the columns of each row stay in order
        row = row[order]
        held = self._column.shape[1]
        place = held + np.arange(len(row)) - np.searchsorted(row, row, side="left")
        shape = (len(self._floor), int(place.max(initial=held - 1)) + 1)
        scores, columns = np.full(shape, -np.inf, dtype=np.float32), np.zeros(shape, dtype=np.int64)
        scores[:, :held], columns[:, :held] = self._score, self._column
        scores[row, place], columns[row, place] = score[order], column[order]
        best = np.argsort(-scores, axis=1, kind="stable")[:, : min(self._depth, self._seen)]
        self._score, self._column = np.take_along_axis(scores, best, axis=1), np.take_along_axis(columns, best, axis=1)
        if self._seen >= self._depth:
            self._floor = self._score[:, -1]

    def held(self) -> tuple[Ints, Scores]:
        """(column, score) of the first places of every question, best first, as two matrices."""
        if self._waiting:
            self._settle()
        return self._column, self._score

    @classmethod
    def merged(cls, parts: Sequence[tuple[Ints, Scores]], depth: int) -> Places:
        """Of what was held for the columns of each of `parts`, which are in their order and have numbers of the whole."""
        columns, scores = (np.concatenate(part, axis=1) for part in zip(*parts, strict=True))
        best = np.argsort(-scores, axis=1, kind="stable")[:, :depth]  # equal scores: part by part, and in each by column already
        made = cls(len(scores), depth)
        made._column, made._score = np.take_along_axis(columns, best, axis=1), np.take_along_axis(scores, best, axis=1)
        return made

    def chunks(self, owners: Owners) -> tuple[Ints, Ints, Scores]:
        """(question, chunk, score) of the first `depth` chunks behind these columns, question by question, best first; equal scores by chunk."""
        self.held()
        questions, width = self._column.shape
        if owners.more is None or owners.begin is None or not width:
            return np.repeat(np.arange(questions), width), owners.chunk[self._column].ravel(), self._score.ravel()
        parts, step = [], max(int(_ROWS_OF_ONE // (width * self._depth)), 1)
        for start in range(0, questions, step):
            row, chunk, score = self._every_chunk(slice(start, start + step), owners.chunk, owners.more, owners.begin)
            order = np.lexsort((chunk, -score, row))
            kept = order[np.arange(len(row)) - np.searchsorted(row, row, side="left") < self._depth]
            parts.append((row[kept] + start, chunk[kept], score[kept]))
        return tuple(np.concatenate(part) for part in zip(*parts, strict=True))  # type: ignore[return-value]

    def _every_chunk(self, rows: slice, first: Ints, more: Ints, begin: Ints) -> tuple[Ints, Ints, Scores]:
        """(question, chunk, score), ordered by question. Of equal vectors, only the first `depth` chunks can matter."""
        column, score = self._column[rows].ravel(), self._score[rows].ravel()
        row = np.repeat(np.arange(len(self._column[rows])), self._column.shape[1])
        low = begin[column]
        further, which = ranges(low, np.minimum(begin[column + 1], low + self._depth - 1))
        row, chunk = np.concatenate([row, row[which]]), np.concatenate([first[column], more[further]])
        order = np.argsort(row, kind="stable")
        return row[order], chunk[order], np.concatenate([score, score[which]])[order]


def _lowest(scores: Scores, depth: int) -> Scores:
    """The score of the last of `depth` places of each row; -inf where there are not so many."""
    width = scores.shape[1]
    if depth >= width:
        return np.full(len(scores), -np.inf, dtype=np.float32)
    found: Scores = np.partition(scores, width - depth, axis=1)[:, width - depth]
    return found
