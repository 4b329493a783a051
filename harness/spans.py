"""Arithmetic of half-open character spans, vectorised.

Spans live in columns. The documents of a corpus are laid on one `Line`, end to end with a gap of two between neighbours, so that a span is two
numbers, and spans of different documents can neither overlap nor touch. Spans are half-open and not empty. Touching ([0, 10) and [10, 20)) is not
overlapping. Nothing here costs (outer spans) x (inner spans), unless that many pairs are the result.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from harness.types import Document, Ints

_BLOCK = 1 << 22
"""Pairs looked at in one go: bounds the memory of a join to some hundred megabytes."""

Side = Literal["left", "right"]


@dataclass(frozen=True, slots=True)
class Line:
    """Documents laid end to end: `base` is the place of each document's first character."""

    base: Ints

    @classmethod
    def of(cls, documents: Sequence[Document]) -> Line:
        """The line of a corpus."""
        lengths = np.fromiter((document.length + 2 for document in documents), dtype=np.int64, count=len(documents))
        return cls(np.cumsum(lengths) - lengths)

    def at(self, doc: Ints, position: Ints) -> Ints:
        """Where character `position` of document number `doc` lies."""
        return self.base[doc] + position


def holding(outer_start: Ints, outer_end: Ints, inner_start: Ints, inner_end: Ints) -> tuple[Ints, Ints]:
    """All pairs (outer, inner) where the outer span wholly holds the inner one, ordered by inner, then by the start of the outer."""
    return _join(outer_start, outer_end, (inner_end, "left"), (inner_start, "right"))


def overlapping(outer_start: Ints, outer_end: Ints, inner_start: Ints, inner_end: Ints, *, touching: bool = False) -> tuple[Ints, Ints]:
    """All pairs (outer, inner) that share a character, or with `touching` at least a border; ordered as in `holding`."""
    if touching:
        return _join(outer_start, outer_end, (inner_start, "left"), (inner_end, "right"))
    return _join(outer_start, outer_end, (inner_start, "right"), (inner_end, "left"))


def _join(start: Ints, end: Ints, reach: tuple[Ints, Side], begin: tuple[Ints, Side]) -> tuple[Ints, Ints]:
    """Pairs (span, query) with end >= reach ("left"; > for "right") and start <= begin ("right"; < for "left").

    With the spans sorted by start, those that begin early enough are a prefix; before the first place where the running maximum of the ends
    reaches far enough, none can match. Between the two only the end has to be looked at (where ends never fall, all of them match).
    """
    ordered = bool(np.all(start[1:] >= start[:-1]))
    order = np.arange(len(start)) if ordered else np.argsort(start, kind="stable")
    starts, ends = start[order], end[order]
    low = np.searchsorted(np.maximum.accumulate(ends), reach[0], side=reach[1])
    high = np.searchsorted(starts, begin[0], side=begin[1])
    found = [(np.zeros(0, np.int64), np.zeros(0, np.int64))]
    for place, query in _windows(low, high):
        fits = ends[place] >= reach[0][query] if reach[1] == "left" else ends[place] > reach[0][query]
        found.append((order[place[fits]], query[fits]))
    return np.concatenate([pair[0] for pair in found]), np.concatenate([pair[1] for pair in found])


def _windows(low: Ints, high: Ints) -> Iterator[tuple[Ints, Ints]]:
    """The places low[i] .. high[i] - 1 of every query i, as (places, queries), in blocks of about `_BLOCK` rows."""
    counts = np.maximum(high - low, 0)
    total = np.cumsum(counts)
    first = 0
    while first < len(low):
        done = total[first - 1] if first else 0
        last = max(first + 1, int(np.searchsorted(total, done + _BLOCK, side="right")))
        yield _expand(low[first:last], counts[first:last], first)
        first = last


def _expand(low: Ints, counts: Ints, first: int) -> tuple[Ints, Ints]:
    query = np.repeat(np.arange(len(low)), counts)
    skip = low - (np.cumsum(counts) - counts)
    return skip[query] + np.arange(len(query)), query + first


def ranges(low: Ints, high: Ints) -> tuple[Ints, Ints]:
    """The numbers low[i] .. high[i] - 1 of every row i: (numbers, rows)."""
    return _expand(low, np.maximum(high - low, 0), 0)


def union(group: Ints, start: Ints, end: Ints) -> tuple[Ints, Ints, Ints]:
    """The union of the spans of each group, as disjoint, not touching spans: (group, start, end), ordered by group, then start."""
    if not len(group):
        return group, start, end
    stride = int(end.max()) + 1
    order = np.argsort(group * stride + start)  # one key sorts twice as fast as two; among equal ones any order will do
    group, start, end = group[order], start[order], end[order]
    reached = np.maximum.accumulate(group * stride + end)
    opens = np.ones(len(group), dtype=bool)
    opens[1:] = (group * stride + start)[1:] > reached[:-1]
    opens[1:] |= group[1:] != group[:-1]
    first = np.flatnonzero(opens)
    last = np.append(first[1:], len(group)) - 1
    return group[first], start[first], reached[last] - group[first] * stride


def union_length(group: Ints, start: Ints, end: Ints, groups: int) -> Ints:
    """Characters in the union of the spans of each group 0 .. groups - 1; repeated text counts once. Shape (groups,)."""
    merged, first, last = union(group, start, end)
    out = np.zeros(groups, dtype=np.int64)
    np.add.at(out, merged, last - first)
    return out


def intersection_length(one: tuple[Ints, Ints, Ints], other: tuple[Ints, Ints, Ints], groups: int) -> Ints:
    """Characters in both unions of each group; `one` and `other` are (group, start, end). |A and B| = |A| + |B| - |A or B|."""
    group, start, end = (np.concatenate(pair) for pair in zip(one, other, strict=True))
    return union_length(*one, groups) + union_length(*other, groups) - union_length(group, start, end, groups)
