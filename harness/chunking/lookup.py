"""Places where a piece of a text may stand, around the end of the piece before it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from typing import NamedTuple

from harness.chunking.inexact import find_mostly
from harness.chunking.solid import BROKEN, Solid, folded_text, solid_text
from harness.types import Ints

PLACED, ALTERED, UNPLACED, EMPTY = range(4)
"""States of a piece: word for word but for white space; not word for word; nowhere; nothing to place (blank, or only a part of a character)."""

_MANY = 6
_SHORT = 24
_NEAR = 4_096
_SLACK = 256


class Found(NamedTuple):
    """A place for a piece, in signs (characters that aren't white space), and its state."""

    start: int
    stop: int
    state: int


class Lookup:
    """One text to look in. `earliest`: for each stop, the first sign at which the next piece may begin by the overlap that the splitter was told;
    None where that isn't known. In every method, `start` is where the piece before begins, `far` the furthest end so far; `piece` is `whole` without
    white space."""

    def __init__(self, text: str, solid: Solid, earliest: Ints | None) -> None:
        self.text, self.solid, self.signs = text, solid, solid.signs
        self.earliest = None if earliest is None else earliest.tolist()
        self.at = solid.at.tolist()

    def lowest(self, start: int, far: int) -> int:
        """Where the next piece may begin at the earliest."""
        return start if self.earliest is None else max(start, self.earliest[far])

    def near(self, start: int, far: int, whole: str, piece: str) -> Iterator[Found]:
        """Places that share no more than was told or a little more, the one right behind, and for short pieces those behind a small gap."""
        for core, tail in _spellings(piece, self.signs):
            advances = False
            for place in self._touching(start, far, whole, core):
                advances = advances or place + len(core) > far
                yield self._exact(place, core, tail, piece)
            if not advances or len(core) < _SHORT:
                for place in self._all(core, far + 1, far + 1 + _NEAR + len(core), 2):
                    yield self._exact(place, core, tail, piece)

    def _touching(self, start: int, far: int, whole: str, core: str) -> Iterator[int]:
        lowest, stop = self.lowest(start, far), far + len(core)
        found = list(self._all(core, lowest, stop, _MANY))
        yield from found
        if len(found) == _MANY:  # the text repeats itself: where it has the same white space, and the last place of all
            yield from self._same_spaces(whole, lowest, far, min(stop, len(self.at) - 1))
            yield self.signs.rfind(core, lowest, stop)
        earlier = self.signs.rfind(core, max(start, lowest - _SLACK), lowest + len(core) - 1) if lowest > start else -1
        if earlier >= 0:
            yield earlier

    def _same_spaces(self, whole: str, lowest: int, last: int, stop: int) -> Iterator[int]:
        place = self.text.find(whole, self.at[lowest], self.at[stop] + 1)
        for _ in range(_MANY):
            start = bisect_left(self.at, place)
            if place < 0 or start > last:
                return
            yield start
            place = self.text.find(whole, place + 1, self.at[stop] + 1)

    def anywhere(self, start: int, far: int, whole: str, piece: str) -> Iterator[Found]:
        """The first places from the start of the piece before on."""
        for core, tail in _spellings(piece, self.signs):
            for place in self._all(core, start, len(self.signs), 3):
                yield self._exact(place, core, tail, piece)

    def folded(self, start: int, far: int, whole: str, piece: str) -> Iterator[Found]:
        """The places of its folded form, from the start of the piece before to 4,096 signs behind the furthest end."""
        folded, passage = self.solid.folded, folded_text(piece)
        if not passage:
            return
        begin = folded.place_of(start)
        stop = min(folded.place_of(far) + len(passage) + _NEAR, len(folded.signs))
        place = folded.signs.find(passage, begin, stop)
        for _ in range(_MANY):
            if place < 0:
                return
            yield self._altered(folded.span_of(place, place + len(passage)), piece)
            place = folded.signs.find(passage, place + 1, stop)

    def mostly(self, start: int, far: int, whole: str, piece: str) -> Iterator[Found]:
        """The place that holds most of it, as far as that."""
        folded = self.solid.folded
        lines = [folded_text(solid_text(line)) for line in whole.splitlines()]
        stop = min(folded.place_of(far) + 2 * len(whole) + _NEAR, len(folded.signs))
        begins = (far if self.earliest is None else self.lowest(start, far), start)
        found = [find_mostly(folded.signs, lines, folded.place_of(begin), stop) for begin in begins]
        best = max((span for span in found if span is not None), key=lambda span: span[2], default=None)
        if best is not None:
            yield self._altered(folded.span_of(*best[:2]), piece)

    def _all(self, piece: str, begin: int, stop: int, most: int) -> Iterator[int]:
        place = self.signs.find(piece, begin, stop)
        for _ in range(most):
            if place < 0:
                return
            yield place
            place = self.signs.find(piece, place + 1, stop)

    def _exact(self, start: int, core: str, tail: int, piece: str) -> Found:
        stop = min(start + len(core) + tail, len(self.signs))
        return Found(start, stop, PLACED if len(core) == len(piece) else ALTERED)

    def _altered(self, span: tuple[int, int], piece: str) -> Found:
        stop = min(span[1] + piece.endswith(BROKEN), len(self.signs))
        return Found(span[0], stop, ALTERED)


def _spellings(piece: str, signs: str) -> Iterator[tuple[str, int]]:
    """The piece as it is; and without the parts of characters at its ends, with the number of signs that it goes on behind."""
    yield piece, 0
    core = piece.strip(BROKEN)
    if core and len(core) < len(piece):
        yield core, int(piece.endswith(BROKEN))
