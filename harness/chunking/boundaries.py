"""Natural boundaries of one text, each kind made when it is first asked for, and overlap that begins at one of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from harness.chunking.headings import heading_spans
from harness.chunking.layout import Layout, Level
from harness.chunking.patterns import matches
from harness.chunking.sentences import sentence_starts
from harness.types import Ints
from harness.units.base import Ruler

NAMED_LEVELS = ("heading", "paragraph", "line", "sentence", "word", "character")


class Boundaries:
    """The levels of one text by name. `headings`: starts and ends of its headings, where something else than Markdown's is meant."""

    def __init__(self, text: str, layout: Layout, ruler: Ruler, language: str, headings: tuple[Ints, Ints] | None = None) -> None:
        self.text, self.layout, self.ruler, self.language = text, layout, ruler, language
        self._levels: dict[str, Level] = {}
        self._headings = heading_spans(text) if headings is None else headings

    def level(self, separator: str) -> Level:
        """The level that `separator` names (one of NAMED_LEVELS) or describes (a regular expression: a cut behind each match)."""
        if separator not in self._levels:
            self._levels[separator] = Level.of(self._places(separator), self.layout, self.ruler)
        return self._levels[separator]

    def levels(self, separators: Sequence[str]) -> Levels:
        """Those levels, coarse to fine, each made when it is first come to: most texts are cut without the finest ones."""
        return Levels(self, tuple(separators))

    def _places(self, separator: str) -> Ints:
        starts, line_ends = self.layout.start, self.layout.line_ends
        match separator:
            case "heading":
                start, end = self._headings
                bare = self.layout.to_word(end[:-1]) >= start[1:]
                return start[np.concatenate(([True], ~bare))[: len(start)]]
            case "paragraph":
                return self.behind_no_heading(starts[line_ends > 1])
            case "line":
                return self.behind_no_heading(starts[line_ends > 0])
            case "sentence":
                return self.behind_no_heading(self.layout.to_word(sentence_starts(self.text, self.language)))
            case "word":
                return starts
            case "character":
                return self.ruler.cuts
        return np.array([match.end() for match in matches("strategy.separators", separator, self.text)], dtype=np.int64)

    def behind_no_heading(self, places: Ints) -> Ints:
        """Those of `places` that are neither inside a heading nor right behind one: a heading begins its section."""
        start, end = self._headings
        if not len(start):
            return places
        last = start.searchsorted(places, side="left") - 1  # the last heading that begins before each place
        inside = (last >= 0) & (places <= self.layout.to_word(end)[last])
        return places[~inside]


@dataclass(frozen=True, eq=False)
class Levels:
    """Levels to go through, as far as needed and as often as needed."""

    boundaries: Boundaries
    separators: tuple[str, ...]

    def __iter__(self) -> Iterator[Level]:
        return map(self.boundaries.level, self.separators)


def reach_back(start: Ints, end: Ints, levels: Iterable[Level], overlap: int, size: int, ruler: Ruler) -> Ints:
    """The starts with overlap, from the starts and ends of neighbouring chunks without: each but the first begins earlier by at most `overlap`
    units, as far as its own `size` allows: at the earliest place of the first of `levels` that has one in reach, and never before the chunk
    before."""
    begin = start.copy()
    limit = np.maximum(ruler.ceil(end[:-1]) - overlap, ruler.ceil(end[1:]) - size)
    open_rows = np.ones(len(limit), dtype=bool)
    for level in levels if len(limit) else ():
        earliest = np.maximum(level.floor.searchsorted(limit), level.position.searchsorted(start[:-1]))
        place = np.append(level.position, ruler.cuts[-1])[earliest]
        found = open_rows & (place < start[1:])
        begin[1:][found] = place[found]
        open_rows &= ~found
        if not open_rows.any():
            break
    return begin
