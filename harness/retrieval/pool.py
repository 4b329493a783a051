"""The chunks that one group of questions may be answered from, and the vectors that lead to them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from harness.retrieval.distinct import distinct_rows
from harness.shards import Rows
from harness.spans import ranges
from harness.types import Bools, Candidates, Ints


@dataclass(frozen=True, slots=True)
class Owners:
    """The chunks behind each column of a block of scores. `chunk`: the first one, ascending from column to column. Where equal vectors lead to
    further ones, those of column c are `more[begin[c]:begin[c + 1]]`, ascending; both None: there are none."""

    chunk: Ints
    more: Ints | None = None
    begin: Ints | None = None


@dataclass(frozen=True, slots=True)
class Pool:
    """`chunk`: the candidates in chunk order; `row`: for each distinct vector that leads to one, a row that holds it, by first entry; `column`: where
    the vector of each entry is among those (None: one each, in order); `first`: the first entry of each candidate (None: each has just one)."""

    chunk: Ints
    row: Ints
    column: Ints | None = None
    first: Ints | None = None

    @property
    def entries(self) -> int:
        """How many vectors lead to the candidates, equal ones counted apart."""
        return len(self.row if self.column is None else self.column)

    def owners(self) -> Owners:
        """Of columns that are distinct vectors where each candidate has one entry, of columns that are candidates otherwise."""
        if self.column is None or self.first is not None:
            return Owners(self.chunk)
        chunk, begin = self.candidates_of_columns()
        further = np.ones(len(chunk), dtype=bool)
        further[begin[:-1]] = False
        return Owners(chunk[begin[:-1]], chunk[further], begin - np.arange(len(begin)))

    def candidates_of_columns(self) -> tuple[Ints, Ints]:
        """(chunk, begin): the distinct vector c leads to the candidates `chunk[begin[c]:begin[c + 1]]`, ascending; once for each entry."""
        chunk = self.chunk if self.first is None else np.repeat(self.chunk, np.diff(self.first, append=self.entries))
        if self.column is None:
            return chunk, np.arange(len(chunk) + 1)
        counts = np.bincount(self.column, minlength=len(self.row))
        return chunk[np.argsort(self.column, kind="stable")], np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)


class Catalogue:
    """Which rows of the vectors lead to which chunks, and which of them are equal (`number`: the same for equal rows, from 0; None: no two are).

    Entries are the rows in the order of their chunks: those of chunk c are `begin[c]` to `begin[c + 1]` (begin None: entry c is row c and leads to
    chunk c). Costs one reading of the vectors, and three numbers an entry at most.
    """

    def __init__(self, doc: Ints, vectors: Rows, entry: Ints | None) -> None:
        self._doc = doc
        self.number = self._place = distinct_rows(vectors)
        self._row, self._begin = None, None
        if entry is not None:
            self._row = np.argsort(entry, kind="stable")
            self._begin = np.concatenate([[0], np.cumsum(np.bincount(entry, minlength=len(doc)))]).astype(np.int64)
            self._place = None if self._place is None else self._place[self._row]
        self._earliest = np.empty(0 if self._place is None else len(vectors), dtype=np.int64)

    def pool(self, documents: Bools) -> Pool:
        """The candidates in the `documents` marked True."""
        chunk = chunks_of(self._doc, documents)
        if self._begin is None:
            entry, first = chunk, None
        else:
            entry = ranges(self._begin[chunk], self._begin[chunk + 1])[0]
            counts = self._begin[chunk + 1] - self._begin[chunk]
            first = np.cumsum(counts) - counts
        column = None if self._place is None else self._columns(self._place[entry])
        if column is not None:
            new = np.ones(len(entry), dtype=bool)
            new[1:] = column[1:] > np.maximum.accumulate(column)[:-1]
            entry = entry[new]
        return Pool(chunk, entry if self._row is None else self._row[entry], column, first)

    def _columns(self, place: Ints) -> Ints | None:
        """Numbers for the vectors of some entries, by first appearance; None where none appears twice. Touches no more than these entries."""
        position = np.arange(len(place))
        self._earliest[place[::-1]] = position[::-1]  # where a place repeats, the last assignment stays: the first entry
        earliest = self._earliest[place]
        new = earliest == position
        return None if new.all() else (np.cumsum(new) - 1)[earliest]


def chunks_of(doc: Ints, documents: Bools) -> Ints:
    """Numbers of the chunks that lie in the `documents` marked True, in order. `doc` is sorted, so few documents cost little."""
    if documents.all():
        return np.arange(len(doc), dtype=np.int64)
    wanted = np.flatnonzero(documents)
    first, last = np.searchsorted(doc, wanted, side="left"), np.searchsorted(doc, wanted, side="right")
    counts = last - first
    before = np.cumsum(counts) - counts
    numbers: Ints = np.arange(int(counts.sum()), dtype=np.int64) + np.repeat(first - before, counts)
    return numbers


def group_rows(candidates: Candidates) -> Iterator[tuple[Ints, Bools]]:
    """The questions of each group that has any, with its row of documents."""
    order = np.argsort(candidates.group, kind="stable")
    groups, counts = np.unique(candidates.group, return_counts=True)
    ends = np.cumsum(counts)
    for group, count, end in zip(groups, counts, ends, strict=True):
        yield order[end - count : end].astype(np.int64), candidates.documents[group]
