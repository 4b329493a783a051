"""The chunks that one group of questions may be answered from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from harness.types import Bools, Candidates, Ints


@dataclass(frozen=True, slots=True)
class Pool:
    """`chunk`: the candidates in chunk order; `vector`: the distinct vectors they use; `column`: where each candidate's vector is among those
    (None: one each, in order)."""

    chunk: Ints
    vector: Ints
    column: Ints | None

    @classmethod
    def of(cls, doc: Ints, place: Ints, documents: Bools) -> Pool:
        """The pool of the chunks (columns `doc`, and `place` of their vector) that lie in the `documents` marked True."""
        chunk = chunks_of(doc, documents)
        used = place[chunk]
        if len(used) < 2 or bool(np.all(used[1:] > used[:-1])):
            return cls(chunk, used, None)
        vector, column = np.unique(used, return_inverse=True)
        return cls(chunk, vector, column)


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
