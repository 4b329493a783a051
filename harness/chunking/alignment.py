"""Puts a splitter's strings back onto the text that they were cut from.

A string alone doesn't say where it stands: text repeats itself, and the first occurrence is often the wrong one. So all pieces of a document are
placed together, in order, by the cheapest of all monotone placements that a beam search finds. White space is left out on both sides, so that it may
have been stripped or collapsed. What costs, in characters that aren't white space:

- a gap that no piece covers: its length, and 4 for there being one; the rest behind the last piece counts too;
- sharing more with the piece before than the splitter was told to: the excess, and 4; sharing less: a hundredth of the difference. Where that isn't
  known, or is all of the piece before: a hundredth of the difference from what pieces share on average if they cover the text;
- bringing nothing new: 12, and how far before the furthest end it ends; not being word for word what stands there: 8;
- beginning or ending inside a word: 1 each; white space inside that is collapsed: 1, that is elsewhere: 3;
- not being placed: 24 and the length of the piece.

A piece is looked for around the end of the one before: word for word, then folded (lower case, no accents: what the decoder of a tokenizer gives),
then by blocks (lines dropped, words changed); at last in all that follows. U+FFFD at its ends, where a tokenizer cut a character in two, is left out;
the character belongs to the piece in which it begins. Time is linear in text and pieces for what is found near its neighbour; a piece that stands
nowhere costs a search of the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from harness.chunking.lookup import ALTERED, EMPTY, UNPLACED, Found, Lookup
from harness.chunking.solid import BROKEN, Solid, solid_text
from harness.types import Ints

Reach = Callable[[Ints], Ints]
"""For ends of chunks, where the next one may begin at the earliest by the overlap that the splitter was told (offsets in the text)."""

_BEAM = 8
_LEFT_OUT_PATHS = 4
_GAP, _EXCESS, _NOTHING_NEW, _ALTERED, _UNPLACED = 4.0, 4.0, 12.0, 8.0, 24.0
_COLLAPSED, _RESPACED = 1.0, 3.0
_LESS_SHARED = 0.01


@dataclass(frozen=True, slots=True)
class Places:
    """Where each piece stands, columns in the order of the pieces: `start` and `end` (offsets; -1 where it isn't placed) and `state`."""

    start: Ints
    end: Ints
    state: npt.NDArray[np.int8]


class _Path(NamedTuple):
    """Placements up to some piece: their cost, where the last placed one begins, the furthest end, and the chain of placements."""

    cost: float
    start: int
    far: int
    last: _Link | None


class _Link(NamedTuple):
    piece: int
    found: Found
    before: _Link | None


def align(text: str, pieces: Sequence[str], reach: Reach | None = None) -> Places:
    """The places of `pieces` (in the order of the text, possibly overlapping) in `text`. `reach` None: what neighbours share is not known."""
    solid = Solid.of(text)
    wanted = [solid_text(piece) for piece in pieces]
    search = _Search(text, solid, _earliest(solid, reach))
    path = search.cheapest(pieces, wanted)
    first, stop = np.full((2, len(pieces)), -1, dtype=np.int64)
    state = np.array([UNPLACED if search.is_placeable(piece) else EMPTY for piece in wanted], dtype=np.int8)
    link = path.last
    while link is not None:
        first[link.piece], stop[link.piece], state[link.piece] = link.found
        link = link.before
    there = first >= 0
    first[there], stop[there] = solid.start(first[there]), solid.end(stop[there])
    return Places(first, stop, state)


def _earliest(solid: Solid, reach: Reach | None) -> Ints | None:
    """For each stop (in signs), the earliest sign at which the next piece may begin."""
    if reach is None:
        return None
    ends = np.arange(1, len(solid.at) + 1)
    return np.concatenate(([0], solid.at.searchsorted(reach(solid.end(ends)), side="left"))).astype(np.int64)


class _Search:
    """The beam search over one text."""

    def __init__(self, text: str, solid: Solid, earliest: Ints | None) -> None:
        self.lookup = Lookup(text, solid, earliest)
        self.text, self.signs, self.at = text, solid.signs, self.lookup.at
        self.loose = solid.loose.tolist()
        self.has_broken = BROKEN in solid.signs
        self.usual = 0.0

    def is_placeable(self, piece: str) -> bool:
        """Whether there is anything to look for."""
        return bool(piece) and (self.has_broken or bool(piece.strip(BROKEN)))

    def cheapest(self, pieces: Sequence[str], wanted: Sequence[str]) -> _Path:
        """The cheapest placement of all pieces that the beam keeps. `wanted`: the pieces without white space."""
        total = len(self.signs)
        ahead = sum(map(len, wanted))
        self.usual = max(ahead - total, 0) / max(len(wanted) - 1, 1)
        beam = [_Path(0.0, 0, 0, None)]
        for number, (whole, piece) in enumerate(zip(pieces, wanted, strict=True)):
            ahead -= len(piece)
            if not self.is_placeable(piece):
                continue
            placed = self._placed(beam, number, whole.strip(), piece)
            placed.sort(key=lambda path: path.cost + max(0, total - path.far - ahead))
            left_out = _UNPLACED + len(piece)
            if not placed or placed[0].cost > beam[0].cost + left_out / 2:
                placed[_BEAM:] = [path._replace(cost=path.cost + left_out) for path in beam[:_LEFT_OUT_PATHS]]
            beam = placed[: _BEAM + _LEFT_OUT_PATHS]
            beam.sort(key=lambda path: path.cost)
        return min(beam, key=lambda path: path.cost + (total - path.far + _GAP if total > path.far else 0))

    def _placed(self, beam: list[_Path], number: int, whole: str, piece: str) -> list[_Path]:
        """Every path with this piece placed in each way; none where it stands nowhere."""
        best: dict[tuple[int, int], _Path] = {}
        look = self.lookup
        for places, paths in ((look.near, beam), (look.folded, beam), (look.mostly, beam[:_LEFT_OUT_PATHS]), (look.anywhere, beam)):
            for path in paths:
                for found in places(path.start, path.far, whole, piece):
                    cost = path.cost + self._price(path, found, whole)
                    far = max(path.far, found.stop)
                    known = best.get((found.start, far))
                    if known is None or cost < known.cost:
                        best[found.start, far] = _Path(cost, found.start, far, _Link(number, found, path.last))
            if best:
                break
        return list(best.values())

    def _price(self, path: _Path, found: Found, whole: str) -> float:
        cost = _GAP + found.start - path.far if found.start > path.far else self._shared_price(path, found.start)
        if found.stop <= path.far:
            cost += _NOTHING_NEW + path.far - found.stop
        cost += _ALTERED if found.state == ALTERED else self._space_price(found, whole)
        return cost + (not self.loose[found.start]) + (not self.loose[found.stop])

    def _space_price(self, found: Found, whole: str) -> float:
        there = self.text[self.at[found.start] : self.at[found.stop - 1] + 1]
        if there == whole:
            return 0.0
        return _COLLAPSED if there.split() == whole.split() else _RESPACED

    def _shared_price(self, path: _Path, start: int) -> float:
        shared = path.far - start
        told = None if self.lookup.earliest is None else path.far - self.lookup.lowest(path.start, path.far)
        if told is not None and shared > told:
            return _EXCESS + shared - told
        expected = self.usual if told is None or told == path.far - path.start else told
        return abs(shared - expected) * _LESS_SHARED
