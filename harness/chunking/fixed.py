"""Fixed windows: so many units every so many units, wherever that falls."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from harness.chunking.base import Pieces, check_size_and_overlap
from harness.chunking.layout import Layout
from harness.errors import ConfigError
from harness.types import Ints
from harness.units.base import Ruler


@dataclass(frozen=True, slots=True)
class FixedChunker:
    """Windows of `size` units that begin every `size - overlap` units, cut exactly there and not trimmed: without overlap they join up to the text.

    `keep_tail`: whether a last window that lies wholly inside the one before is kept. True: a window begins at every multiple of the stride
    below the end. False: no window begins once one has reached the end.

    Windows of only white space are left out. A step of several units (a character of several tokens) is never cut: it goes whole into the next
    window, and a window is then shorter; where the next window would begin behind the end of this one, the grid is moved back to it. A step that
    alone weighs more than `size` is a chunk of its own, counted in the note "oversize".
    """

    size: int
    overlap: int = 0
    keep_tail: bool = True

    def __post_init__(self) -> None:
        check_size_and_overlap(self.size, self.overlap)
        if not isinstance(self.keep_tail, bool):
            raise ConfigError("strategy.keep_tail", self.keep_tail, "true or false")

    def split(self, text: str, ruler: Ruler) -> Pieces:
        """The windows of `text`."""
        plain = ruler.total == len(ruler.cuts) - 1  # every step weighs one
        first, last = self._even_windows(ruler.total) if plain else self._uneven_windows(ruler.before)
        start, end = ruler.cuts[first], ruler.cuts[last]
        solid = Layout.of(text).to_word(start) < end
        heavy = int(np.count_nonzero(ruler.before[last][solid] - ruler.before[first][solid] > self.size))
        return Pieces(start[solid], end[solid], {"oversize": heavy} if heavy else {})

    def _even_windows(self, total: int) -> tuple[Ints, Ints]:
        """First and last cut of each window where cut i lies before unit i."""
        first = np.arange(0, total, self.size - self.overlap, dtype=np.int64)
        last = np.minimum(first + self.size, total)
        if not self.keep_tail:
            needed = np.concatenate(([True], last[:-1] < total))[: len(first)]
            first, last = first[needed], last[needed]
        return first, last

    def _uneven_windows(self, before: Ints) -> tuple[Ints, Ints]:
        """The same where steps weigh differently. `grid` is where the window would begin if every unit could be cut."""
        stride, total = self.size - self.overlap, int(before[-1])
        windows: list[tuple[int, int]] = []
        grid, first, last = 0, 0, 0
        while before[first] < total and (self.keep_tail or last < len(before) - 1):
            end = _last_at_most(before, grid + self.size)
            if end <= first:  # a heavy step: measure from where the window really begins
                grid = int(before[first])
                end = max(_last_at_most(before, grid + self.size), first + 1)
            if end > last or end == len(before) - 1:
                windows.append((first, end))
            last = max(last, end)
            grid += stride * max(1, (int(before[first]) - grid) // stride + 1)  # the first multiple behind this window's start
            first = int(before.searchsorted(grid, side="left"))
            if first > last:
                first, grid = last, int(before[last])
        pairs = np.array(windows, dtype=np.int64).reshape(len(windows), 2)
        return pairs[:, 0], pairs[:, 1]


def _last_at_most(before: Ints, units: int) -> int:
    return int(before.searchsorted(units, side="right")) - 1
