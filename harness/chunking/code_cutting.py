"""From the plan of a parsed text to its chunks and the headers in front of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from harness.chunking.base import Pieces
from harness.chunking.boundaries import reach_back
from harness.chunking.code_bytes import MeasuredBytes
from harness.chunking.code_plan import Plan, Region
from harness.chunking.layout import Layout, Level
from harness.chunking.packing import pack, trimmed_ends
from harness.types import Bools, Ints
from harness.units.base import Ruler

_LONGEST_HEADER = 1_000
"""Characters of a header: a unit may be long, and a header stands before many chunks."""


@dataclass(frozen=True, slots=True)
class Cutting:
    """A text that isn't blank, parsed and planned."""

    text: str
    layout: Layout
    ruler: Ruler
    measured: MeasuredBytes
    plan: Plan

    def pieces(self, size: int, overlap: int) -> Pieces:
        """Its chunks, filled to `size - overlap` (the plan was made for that), then with overlap."""
        start, scope = self._packed(size - overlap)
        end = trimmed_ends(start, self.layout.length, self.layout)
        heavy = int(np.count_nonzero(self.ruler.size(start, end) > size))
        if overlap:
            start = reach_back(start, end, self._overlap_levels(), overlap, size, self.ruler)
        context = self._contexts(start, scope, size // 2)
        return Pieces(start, end, {"oversize": heavy} if heavy else {}, context if any(context) else None)

    def _packed(self, budget: int) -> tuple[Ints, list[int]]:
        """Start and scope of every chunk, without overlap."""
        regions, begin = self._regions()
        end = trimmed_ends(begin, self.layout.length, self.layout)
        levels = self._levels(begin, budget)
        starts, scopes = list[int](), list[int]()
        for region, first, last in zip(regions, begin.tolist(), end.tolist(), strict=True):
            if region.joins and starts and self.ruler.size(np.array(starts[-1]), np.array(last)) <= budget:
                continue
            found = pack(levels, first, last, budget, self.ruler)
            starts.extend(found)
            scopes.extend([region.scope] * len(found))
        return np.array(starts, dtype=np.int64), scopes

    def _regions(self) -> tuple[list[Region], Ints]:
        """The regions that aren't blank, and their starts as characters."""
        planned = self.plan.regions
        begin = self.layout.to_word(self._chars([region.start for region in planned]))
        solid = np.flatnonzero(np.diff(begin, append=self.layout.length) > 0)
        return [planned[row] for row in solid.tolist()], begin[solid]

    def _levels(self, begin: Ints, budget: int) -> list[Level]:
        """Boundaries, coarse to fine. Words and characters only where some stretch without another boundary doesn't fit."""
        line = self._of_words(self.layout.line_ends > 0)
        levels = [level for level in (*map(self._level, self.plan.levels), line) if len(level.position)]
        places = np.unique(np.concatenate([begin, *(level.position for level in levels)]))
        if (self.ruler.size(places, trimmed_ends(places, self.layout.length, self.layout)) <= budget).all():
            return levels
        return [*levels, self._of_words(slice(None)), Level.of(self.ruler.cuts, self.layout, self.ruler)]

    def _overlap_levels(self) -> tuple[Level, Level]:
        return self._of_words(self.layout.line_ends > 0), self._level(sorted(place for level in self.plan.levels for place in level))

    def _of_words(self, chosen: Bools | slice) -> Level:
        return Level.of(self.layout.start[chosen], self.layout, self.ruler)

    def _level(self, position: list[int]) -> Level:
        return Level.of(self._chars(position), self.layout, self.ruler)

    def _chars(self, position: list[int]) -> Ints:
        return self.measured.to_char(np.array(position, dtype=np.int64))

    def _contexts(self, start: Ints, scope: list[int], most: int) -> tuple[str, ...]:
        """In front of each chunk: the headers around it that begin before it does, outermost first, a line each; inner ones first where not all fit
        into `most` units."""
        begin = self.layout.to_word(self._chars([scope.start for scope in self.plan.scopes]))
        end = self._chars([scope.end for scope in self.plan.scopes])
        units, places, stops = self.ruler.size(begin, end).tolist(), begin.tolist(), end.tolist()
        found = list[str]()
        for place, number in zip(start.tolist(), scope, strict=True):
            headers, left = list[str](), most
            while number >= 0:
                first, last = places[number], stops[number]
                if first < place and units[number] <= left and last - first <= _LONGEST_HEADER:
                    headers.append(self.text[first:last].rstrip(" \t\r\n{(") + "\n")
                    left -= units[number]
                number = self.plan.scopes[number].parent
            found.append("".join(reversed(headers)))
        return tuple(found)
