"""Where the words of a text lie, and levels of natural boundaries measured once, so that packing is a matter of binary searches."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from harness.types import Ints
from harness.units.base import Ruler
from harness.units.codepoints import code_points, white_mask, word_spans

_NEXT_LINE, _LINE_SEPARATOR, _PARAGRAPH_SEPARATOR = 0x85, 0x2028, 0x2029


@dataclass(frozen=True, slots=True)
class Layout:
    """Starts and ends of the words of a text (runs of non-space), and how many line ends stand in the gap before each (CR LF is one, U+2029
    two: it ends a paragraph)."""

    length: int
    start: Ints
    end: Ints
    line_ends: Ints

    @classmethod
    def of(cls, text: str) -> Layout:
        """The layout of `text`."""
        codes = code_points(text)
        start, end = word_spans(white_mask(codes))
        weights = _line_end_weights(codes)
        places = np.flatnonzero(weights)
        gap = start.searchsorted(places)  # line ends behind the last word are in no gap
        line_ends = np.bincount(gap, weights=weights[places], minlength=len(start) + 1)[: len(start)]
        return cls(len(text), start, end, line_ends.astype(np.int64))

    def to_word(self, position: Ints) -> Ints:
        """The first character that isn't white space, at or after each position; the text's length where there is none."""
        starts: Ints = np.append(self.start, self.length)
        return np.maximum(position, starts[self.end.searchsorted(position, side="right")])

    def trim_end(self, position: Ints) -> Ints:
        """The end of the last character before each position that isn't white space; 0 where there is none."""
        ends = np.concatenate(([0], self.end))
        return np.minimum(position, ends[self.start.searchsorted(position, side="left")])


def _line_end_weights(codes: npt.NDArray[np.uint32]) -> npt.NDArray[np.int8]:
    weights = ((codes - np.uint32(0x0A)) <= 3).astype(np.int8)  # LF, VT, FF, CR; what lies below wraps around to a large number
    if len(codes) and codes.max() >= _NEXT_LINE:
        weights[(codes == _NEXT_LINE) | (codes == _LINE_SEPARATOR)] = 1
        weights[codes == _PARAGRAPH_SEPARATOR] = 2
    weights[1:][(codes[1:] == 0x0A) & (codes[:-1] == 0x0D)] = 0
    return weights


@dataclass(frozen=True, slots=True)
class Level:
    """Places of one kind where a chunk may begin: strictly increasing positions of non-space characters, the text's first one left out.

    `floor`: units before each place. `ceil`: units up to the end of what stands before it, trimmed. So a chunk from place a up to place b
    measures `ceil[b] - floor[a]`.
    """

    position: Ints
    floor: Ints
    ceil: Ints

    @classmethod
    def of(cls, position: Ints, layout: Layout, ruler: Ruler) -> Level:
        """The level of these places (non-decreasing), each moved to the next character that isn't white space; repeats are dropped."""
        moved = layout.to_word(position)
        first = layout.start[0] if len(layout.start) else layout.length
        moved = moved[(moved > first) & (moved < layout.length)]
        moved = moved[np.diff(moved, prepend=-1) > 0]
        return cls(moved, ruler.floor(moved), ruler.ceil(layout.trim_end(moved)))
