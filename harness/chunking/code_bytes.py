"""A text as a parser of bytes sees it, measured at every byte, so that nodes of a syntax tree are weighed by looking up two numbers."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from harness.types import Bools, Ints
from harness.units.base import Ruler
from harness.units.codepoints import code_points, well_formed, white_mask

_LONE_RETURN = re.compile(r"\r(?!\n)")
_BYTES = np.arange(256)
_OPENER = np.isin(_BYTES, np.frombuffer(b"{;,[(}", dtype=np.uint8))
_WHITE = np.isin(_BYTES, np.frombuffer(b" \t\n\r\x0b\x0c", dtype=np.uint8))
_BRACE, _LINE_FEED = 0x7B, 0x0A


@dataclass(frozen=True, slots=True)
class MeasuredBytes:
    """`source` is the text in UTF-8, with lone surrogates as U+FFFD and lone CR as LF (some grammars know no other line end).

    `floor[b]`: units before the step that holds the character at byte b. `ceil[b]`: units up to the end of the step of the last character before byte
    b that isn't white space. So bytes a to b, trimmed, measure `ceil[b] - floor[a]`. `gap[b]`: line ends between byte b and what stands before
    it, 2 for two or more and at the start of the text. `opens[b]`: 1 where an element of a list may begin: at the start of a line or behind one of
    `{ ; , [ ( }`, but not at the brace of a body. `before[i]`: bytes before character i; None where each is one byte.
    """

    source: bytes
    floor: memoryview
    ceil: memoryview
    gap: bytes
    opens: bytes
    before: Ints | None

    @classmethod
    def of(cls, text: str, ruler: Ruler) -> MeasuredBytes:
        """`text` (not empty) as `ruler` measures it. A few passes over it, about 150 bytes of memory a character."""
        clean = _LONE_RETURN.sub("\n", well_formed(text))
        codes = code_points(clean)
        width = _widths(codes)
        source = clean.encode()
        steps = np.diff(ruler.cuts)
        floor = np.append(np.repeat(ruler.before[:-1], steps), ruler.before[-1])
        ceil = np.concatenate(([0], np.repeat(ruler.before[1:], steps)))[_solid_before(white_mask(codes))]
        gap, opens = _line_places(np.frombuffer(source, dtype=np.uint8))
        if len(source) == len(text):
            return cls(source, floor.data, ceil.data, gap, opens, None)
        return cls(source, _by_byte(floor, width), _by_byte(ceil, width), gap, opens, np.concatenate(([0], np.cumsum(width))))

    def to_char(self, position: Ints) -> Ints:
        """The character offset of each byte offset; one inside a character is moved to its start."""
        if self.before is None:
            return position
        found: Ints = np.searchsorted(self.before, position, side="right") - 1
        return found


def _widths(codes: npt.NDArray[np.uint32]) -> Ints:
    """Bytes of each character in UTF-8."""
    return 1 + (codes > 0x7F).astype(np.int64) + (codes > 0x7FF) + (codes > 0xFFFF)


def _solid_before(white: Bools) -> Ints:
    """For each of the len + 1 places: the end of the last character before it that isn't white space, 0 where there is none."""
    ends = np.where(white, 0, np.arange(1, len(white) + 1))
    return np.concatenate(([0], np.maximum.accumulate(ends)))


def _by_byte(values: Ints, width: Ints) -> memoryview:
    """Values of len + 1 places of characters as values of places of bytes."""
    return np.append(np.repeat(values[:-1], width), values[-1]).data


def _line_places(raw: npt.NDArray[np.uint8]) -> tuple[bytes, bytes]:
    white = _WHITE[raw]
    if raw[:3].tobytes() == codecs.BOM_UTF8:
        white[:3] = True
    solid = _solid_before(white)
    breaks = np.concatenate(([0], np.cumsum(raw == _LINE_FEED)))
    lines = breaks - breaks[solid]
    first, behind = solid == 0, np.append(_OPENER[raw], False)[solid - 1]
    body = np.append(raw == _BRACE, False)
    opens = behind | ((first | (lines > 0)) & ~body)
    return np.where(first, 2, np.minimum(lines, 2)).astype(np.uint8).tobytes(), opens.tobytes()
