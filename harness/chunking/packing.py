"""Fill chunks up to a budget, cutting at the coarsest level of boundaries that has one within reach."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from harness.chunking.layout import Layout, Level
from harness.types import Ints
from harness.units.base import Ruler


def pack(levels: Iterable[Level], start: int, end: int, budget: int, ruler: Ruler) -> list[int]:
    """Starts of the chunks of text[start:end] (not blank, trimmed), the first being `start`.

    From each start, the coarsest level with a boundary within `budget` units decides, and its last boundary within them is the cut. So a chunk never
    reaches over a heading that it could have stopped at, and small neighbours of one kind share a chunk. Where no level has a boundary within
    reach, the nearest boundary of any level is the cut and the chunk is larger than `budget`. A search per level and chunk. `levels` are gone through
    once a chunk, as far as needed.
    """
    starts = [start]
    last = int(ruler.ceil(np.array(end)))
    while True:
        begin = int(ruler.floor(np.array(starts[-1])))
        if last - begin <= budget:
            return starts
        cut = _next_start(levels, starts[-1], begin, end, last, budget)
        if cut >= end:
            return starts
        starts.append(cut)


def _next_start(levels: Iterable[Level], start: int, begin: int, end: int, last: int, budget: int) -> int:
    stop, stop_units = end, last  # the nearest boundary beyond reach, of this level's coarser ones
    for level in levels:
        after = int(level.ceil.searchsorted(begin + budget, side="right"))
        if after and level.position[after - 1] > start:
            return _without_crumb(level, after - 1, start, begin, stop_units, budget)
        after = max(after, int(level.position.searchsorted(start, side="right")))
        if after < len(level.position) and level.position[after] < stop:
            stop, stop_units = int(level.position[after]), int(level.ceil[after])
    return stop


def _without_crumb(level: Level, index: int, start: int, begin: int, stop_units: int, budget: int) -> int:
    """The boundary at `index`, or an earlier one where less than a quarter of the budget would be left before the next coarser boundary."""
    crumb = budget // 4
    if stop_units - level.floor[index] < crumb:
        earlier = int(level.floor.searchsorted(stop_units - crumb, side="right")) - 1
        fits = earlier >= 0 and level.position[earlier] > start and stop_units - level.floor[earlier] <= budget
        if fits and level.floor[earlier] - begin >= crumb:
            return int(level.position[earlier])
    return int(level.position[index])


def trimmed_ends(starts: Ints, end: int, layout: Layout) -> Ints:
    """Where each chunk ends whose starts these are: at the next start or at `end`, less white space."""
    return layout.trim_end(np.append(starts[1:], end))
