"""From a tree of sections to chunks: what fits is kept together, small siblings share a chunk, what is too large is divided inside.

The core of the structural strategies. They say where sections begin and what may be cut inside them; nothing here knows Markdown from a transcript.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from harness.chunking.base import Pieces
from harness.chunking.boundaries import reach_back
from harness.chunking.layout import Layout, Level
from harness.chunking.packing import pack, trimmed_ends
from harness.chunking.section_groups import Sections, group_sections
from harness.errors import ConfigError
from harness.types import Bools, Ints
from harness.units.base import Ruler

Merge = Literal["siblings", "any", "none"]
NO_SPANS = (np.zeros(0, np.int64), np.zeros(0, np.int64))


def check_merge(merge: object) -> None:
    """Raise ConfigError unless `merge` is one of Merge."""
    if merge not in get_args(Merge):
        raise ConfigError("strategy.merge", merge, f"one of {', '.join(get_args(Merge))}")


@dataclass(frozen=True, eq=False)
class Inside:
    """How a section that is too large is divided, made only where one is.

    `levels`: coarse to fine, for `pack`. `overlaps`: where an overlap may begin, best first, for `reach_back`. `wholes`: starts and ends (trimmed) of
    blocks to be kept whole wherever they measure at most `size`, disjoint and in order, and `behind`: the start of the heading right before each,
    or -1.
    """

    levels: Iterable[Level]
    overlaps: Iterable[Level]
    wholes: tuple[Ints, Ints] = NO_SPANS
    behind: Ints | None = None


@dataclass(frozen=True, slots=True)
class Splitter:
    """One text with its sizes.

    Sections that fit in `size` are never cut; a larger one is filled to `size - overlap` so that its parts can overlap. `bridge`: whether chunks also
    overlap across sections; then sections share a chunk only up to `size - overlap`.
    """

    layout: Layout
    ruler: Ruler
    size: int
    overlap: int
    merge: Merge
    bridge: bool = False

    def split(self, sections: Sections, inside: Callable[[], Inside]) -> Pieces:
        """The chunks of the text. Neighbours share at most `overlap`; a chunk larger than `size` is counted in the note "oversize"."""
        heads = group_sections(sections, self.layout, self.ruler, self.size, self.size - self.overlap * self.bridge, self.merge)
        start = sections.start[heads]
        end = trimmed_ends(start, self.layout.length, self.layout)
        large = self.ruler.size(start, end) > self.size
        if not large.any() and not (self.bridge and self.overlap):
            return Pieces(start, end)
        means = inside()
        start, family = self._divided(start, end, large, means)
        end = trimmed_ends(start, self.layout.length, self.layout)
        heavy = int(np.count_nonzero(self.ruler.size(start, end) > self.size))
        if self.overlap:
            begin = reach_back(start, end, means.overlaps, self.overlap, self.size, self.ruler)
            start = begin if self.bridge else np.where(np.diff(family, prepend=-1) == 0, begin, start)
        return Pieces(start, end, {"oversize": heavy} if heavy else {})

    def _divided(self, start: Ints, end: Ints, large: Bools, means: Inside) -> tuple[Ints, Ints]:
        """The starts with every large group replaced by its parts, and the number of the group that each comes from."""
        forced = self._forced(means)
        before = self.layout.trim_end(forced)
        rows: list[Sequence[int]] = []
        for first, last, is_large in zip(start.tolist(), end.tolist(), large.tolist(), strict=True):
            rows.append(self._parts(first, last, forced, before, means.levels) if is_large else (first,))
        family = np.repeat(np.arange(len(rows)), [len(row) for row in rows])
        return np.array([place for row in rows for place in row], dtype=np.int64), family

    def _parts(self, start: int, end: int, forced: Ints, before: Ints, levels: Iterable[Level]) -> list[int]:
        """Starts of the parts of one group. `before`: the end of what stands before each place in `forced`."""
        inner = slice(int(forced.searchsorted(start, side="right")), int(forced.searchsorted(end, side="left")))
        starts = np.concatenate(([start], forced[inner]))
        ends = np.append(before[inner], end)
        parts: list[int] = []
        for first, last, units in zip(starts.tolist(), ends.tolist(), self.ruler.size(starts, ends).tolist(), strict=True):
            parts += [first] if units <= self.size else pack(levels, first, last, self.size - self.overlap, self.ruler)
        return parts

    def _forced(self, means: Inside) -> Ints:
        """Where large sections are cut first: around blocks that fit in `size` and that packing would cut, because they are larger than what it fills
        or because the heading before them takes their room. A heading that fits in with its block goes with it."""
        start, end = means.wholes
        behind = start if means.behind is None else np.where(means.behind < 0, start, means.behind)
        begin = np.where(self.ruler.size(behind, end) <= self.size, behind, start)
        units = self.ruler.size(start, end)
        wanted = (units <= self.size) & (self.ruler.size(behind, end) > self.size - self.overlap)
        return np.unique(np.concatenate((begin[wanted], self.layout.to_word(end[wanted]))))
