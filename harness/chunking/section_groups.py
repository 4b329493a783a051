"""Which sections share a chunk."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from harness.chunking.layout import Layout
from harness.chunking.packing import trimmed_ends
from harness.types import Bools, Ints
from harness.units.base import Ruler


@dataclass(frozen=True, eq=False)
class Sections:
    """A text cut before every heading. Part i begins at `start[i]` (never white space, strictly increasing, the first at the text's first word).

    `level`: 1 (highest) and up for what a heading opens, 0 for text before the first one. `bare`: a heading without words of its own before the next
    one, which is deeper: it is never parted from that one.
    """

    start: Ints
    level: Ints
    bare: Bools

    @classmethod
    def of(cls, position: Ints, level: Ints, empty: Bools, layout: Layout, *, empty_lead: bool = False) -> Sections:
        """The sections that begin at `position` (non-decreasing), at these levels. `empty`: nothing is written between this one and the next.
        `empty_lead`: the same of what stands before the first."""
        moved = layout.to_word(position)
        fresh = (np.diff(moved, prepend=-1) > 0) & (moved < layout.length)
        start, level, empty = moved[fresh], level[fresh], empty[fresh]
        if not len(start) or start[0] > layout.start[0]:
            start = np.concatenate((layout.start[:1], start))
            level, empty = np.concatenate(([0], level)), np.concatenate(([empty_lead], empty))
        deeper = np.append(level[1:] > level[:-1], False)
        return cls(start, level, empty & deeper)


class _Unit(NamedTuple):
    """Parts begin .. stop - 1, to be kept in one chunk if possible; else `node` says whose children they fall into (None: can't be parted)."""

    begin: int
    node: int | None
    stop: int


def group_sections(sections: Sections, layout: Layout, ruler: Ruler, size: int, joint: int, merge: str) -> Ints:
    """The first part of each group, ascending. A group is a chunk, or a single part (with the bare headings before it) that is larger than `size`.

    `siblings`: a section that fits in `size` with all below it stays together; neighbours under one heading, its own text included, share a group
    while they measure at most `joint` together. A section that doesn't fit falls into its own text and its children, and shares a group with nothing
    outside it. `any`: neighbouring parts share a group whatever heading they stand under. `none`: every part is a group.
    """
    floor = ruler.floor(sections.start)
    ceil = ruler.ceil(trimmed_ends(sections.start, layout.length, layout))
    grouping = _Grouping(sections, floor.tolist(), ceil.tolist(), size, joint)
    if merge == "siblings":
        grouping.walk([_Unit(0, len(sections.start), len(sections.start))])
    else:
        units = grouping.parts()
        if merge == "any":
            grouping.walk(units)
        else:
            grouping.heads.extend(unit.begin for unit in units)
    return np.array(grouping.heads, dtype=np.int64)


class _Grouping:
    """A walk over the tree of sections that collects where groups begin."""

    def __init__(self, sections: Sections, floor: list[int], ceil: list[int], size: int, joint: int) -> None:
        self.floor, self.ceil, self.size, self.joint = floor, ceil, size, joint
        self.bare = [*sections.bare.tolist(), True]  # the last is the root, which has no text of its own
        self.children = _children(sections.level.tolist())
        self.heads: list[int] = []

    def parts(self) -> list[_Unit]:
        """Every part as a unit of its own; a bare heading with the one behind it."""
        begins = [part for part in range(len(self.floor)) if not part or not self.bare[part - 1]]
        return [_Unit(begin, None, stop) for begin, stop in zip(begins, [*begins[1:], len(self.floor)], strict=True)]

    def walk(self, units: list[_Unit]) -> None:
        """Group neighbours; go into those that don't fit. The depth of calls is bounded by the number of levels."""
        opened: int | None = None
        for begin, node, stop in units:
            if self._units(begin, stop) > self.size:
                opened = None
                below = self._below(begin, node, stop)
                if below:
                    self.walk(below)
                else:
                    self.heads.append(begin)
            elif opened is None or self._units(opened, stop) > self.joint:
                opened = begin
                self.heads.append(begin)

    def _units(self, begin: int, stop: int) -> int:
        return self.ceil[stop - 1] - self.floor[begin]

    def _below(self, begin: int, node: int | None, stop: int) -> list[_Unit]:
        """The own text of `node`, then the sections under it."""
        inner = [] if node is None else self.children[node]
        if not inner:
            return []
        sections = [_Unit(head, head, end) for head, end in zip(inner, [*inner[1:], stop], strict=True)]
        if node is not None and self.bare[node]:
            return [sections[0]._replace(begin=begin), *sections[1:]]
        return [_Unit(begin, None, inner[0]), *sections]


def _children(levels: list[int]) -> list[list[int]]:
    """The parts right under each part; the last entry has those under none."""
    children: list[list[int]] = [[] for _ in range(len(levels) + 1)]
    above: list[int] = []
    for part, level in enumerate(levels):
        while above and levels[above[-1]] >= level:
            above.pop()
        children[above[-1] if above else len(levels)].append(part)
        above.append(part)
    return children
