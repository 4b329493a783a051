"""Runs of pieces of a text: cut where they are too large, joined where they are too small, begun earlier for overlap.

Pieces are numbered in the order of the text. `floor`: units before each; `ceil`: units up to its end; both never fall, and the run from piece a to
piece b measures ceil[b] - floor[a]. A run is named by its first piece. `distance[i]` (whole numbers) parts piece i from piece i + 1.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from harness.types import Ints

INSIDE = -1
"""The distance between two parts of one sentence: less than any between sentences."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The most that a run may measure, and the least that it should."""

    most: int
    least: int = 0


def cut_large(first: Ints, floor: Ints, ceil: Ints, distance: Ints, limits: Limits) -> Ints:
    """`first` with every run over `limits.most` cut at its largest inner distance, again and again until all fit or are single pieces.

    Cuts that would leave less than `limits.least` on a side, and cuts inside a sentence, are taken only where there is no other. Among equal
    distances the cut nearest to the middle of the run (in units) wins, then the earlier one. n log n in the number of pieces.
    """
    stop = np.append(first[1:], len(floor))
    wide = (ceil[stop - 1] - floor[first] > limits.most) & (stop - first > 1)
    if not wide.any():
        return first
    cutter = _Cutter(floor.tolist(), ceil.tolist(), distance, limits)
    found = [cutter.cuts(begin, end) for begin, end in zip(first[wide].tolist(), stop[wide].tolist(), strict=True)]
    return np.union1d(first, np.concatenate([np.array(cuts, dtype=np.int64) for cuts in found])).astype(np.int64)


class _Cutter:
    """Looks up the largest distance of any stretch in constant time, and the equal ones by binary search."""

    def __init__(self, floor: list[int], ceil: list[int], distance: Ints, limits: Limits) -> None:
        self.floor, self.ceil, self.limits = floor, ceil, limits
        self._count = len(distance)
        self._peaks = [distance.astype(np.int32)]  # row k: the largest of 2^k distances from each place
        while len(self._peaks[-1]) > 2 ** (len(self._peaks) - 1):
            step, row = 2 ** (len(self._peaks) - 1), self._peaks[-1]
            self._peaks.append(np.maximum(row[:-step], row[step:]))
        self._order: list[int] = np.sort(distance * self._count + np.arange(self._count)).tolist()  # by distance, then place

    def cuts(self, begin: int, end: int) -> list[int]:
        """The pieces at which the run [begin, end) is cut."""
        found: list[int] = []
        waiting = [(begin, end)]
        while waiting:
            a, b = waiting.pop()
            if b - a > 1 and self.ceil[b - 1] - self.floor[a] > self.limits.most:
                cut = self._cut(a, b)
                found.append(cut)
                waiting += [(a, cut), (cut, b)]
        return found

    def _cut(self, a: int, b: int) -> int:
        low = max(bisect_left(self.ceil, self.floor[a] + self.limits.least, a, b) + 1, a + 1)
        high = min(bisect_right(self.floor, self.ceil[b - 1] - self.limits.least, a, b) - 1, b - 1)
        if low > high or self._largest(low, high) == INSIDE:
            low, high = a + 1, b - 1
        return self._nearest_to_middle(low, high, self.floor[a] + self.ceil[b - 1])

    def _largest(self, low: int, high: int) -> int:
        """The largest distance before pieces low to high, both included."""
        level = (high - low + 1).bit_length() - 1
        row = self._peaks[level]
        return max(int(row[low - 1]), int(row[high - 2**level]))

    def _nearest_to_middle(self, low: int, high: int, doubled: int) -> int:
        """Of the pieces low to high with the largest distance before them, the one whose start is nearest to doubled / 2 units."""
        base = self._largest(low, high) * self._count
        middle = min(max(bisect_left(self.floor, (doubled + 1) // 2, low, high + 1), low), high)
        place = bisect_left(self._order, base + middle - 1)
        beside = [self._order[at] - base + 1 for at in (place - 1, place) if 0 <= at < self._count]
        return min((piece for piece in beside if low <= piece <= high), key=lambda piece: (abs(2 * self.floor[piece] - doubled), piece))


def join_small(first: Ints, floor: Ints, ceil: Ints, distance: Ints, limits: Limits) -> Ints:
    """`first` without the runs under `limits.least` that can be joined to a neighbour within `limits.most`.

    In the order of the text, a small run goes to the neighbour at the smaller distance (the one before it where they are equal), or to the other
    one where the first does not fit; where neither fits it stays.
    """
    if not limits.least or len(first) < 2:
        return first
    stops = [*first[1:].tolist(), len(floor)]
    kept: list[int] = []
    begin = 0
    for place, stop in enumerate(stops):
        if ceil[stop - 1] - floor[begin] < limits.least:
            back = bool(kept) and ceil[stop - 1] - floor[kept[-1]] <= limits.most
            on = place + 1 < len(stops) and ceil[stops[place + 1] - 1] - floor[begin] <= limits.most
            if on and not (back and distance[begin - 1] <= distance[stop - 1]):
                continue  # the next run begins where this one does
            if back:
                begin = kept.pop()
        kept.append(begin)
        begin = stop
    return np.array(kept, dtype=np.int64)


def reach_back(first: Ints, floor: Ints, ceil: Ints, size: int, overlap: int) -> tuple[Ints, Ints]:
    """First and last piece of each chunk: its run, begun earlier by as many whole pieces as measure at most `overlap` and leave it within `size`.

    A chunk never begins at or before the first piece of the run before it.
    """
    last = np.append(first[1:], len(floor)) - 1
    if not overlap:
        return first, last
    earliest = np.maximum(ceil[last[:-1]] - overlap, ceil[last[1:]] - size)
    begin = first.copy()
    begin[1:] = np.clip(floor.searchsorted(earliest, side="left"), first[:-1] + 1, first[1:])
    return begin, last


def oversize(sizes: Ints, size: int) -> dict[str, int]:
    """The note on chunks that nothing allowed could divide."""
    heavy = int(np.count_nonzero(sizes > size))
    return {"oversize": heavy} if heavy else {}


def slices(text: str, start: Ints, end: Ints) -> Sequence[str]:
    """text[start:end] of every row."""
    return [text[a:b] for a, b in zip(start.tolist(), end.tolist(), strict=True)]
