"""The chunks that one group of questions may be answered from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from harness.spans import ranges
from harness.types import Bools, Candidates, Ints


@dataclass(frozen=True, slots=True)
class Pool:
    """`chunk`: the candidates in chunk order; `vector`: the distinct vectors they use; `column`: where the vector of each of their entries is among
    those (None: one each, in order); `first`: the first entry of each candidate (None: each has just one)."""

    chunk: Ints
    vector: Ints
    column: Ints | None
    first: Ints | None = None

    @classmethod
    def of(cls, doc: Ints, place: Ints, documents: Bools, begin: Ints | None = None) -> Pool:
        """The pool of the chunks (column `doc`) that lie in the `documents` marked True.

        `place` is the vector of every entry. The entries of chunk c are `begin[c]` to `begin[c + 1]`; where `begin` is None, entry c alone.
        """
        chunk = chunks_of(doc, documents)
        if begin is None:
            used, first = place[chunk], None
        else:
            used = place[ranges(begin[chunk], begin[chunk + 1])[0]]
            counts = begin[chunk + 1] - begin[chunk]
            first = np.cumsum(counts) - counts
        if len(used) < 2 or bool(np.all(used[1:] > used[:-1])):
            return cls(chunk, used, None, first)
        vector, column = np.unique(used, return_inverse=True)
        return cls(chunk, vector, column, first)

    @property
    def entries(self) -> int:
        """How many vectors lead to the candidates, equal ones counted apart."""
        return len(self.vector if self.column is None else self.column)


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
