"""Where pieces of quotes stand: a scan's hits, kept by who asked for them and in which document."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from harness.importing.base import Progress, silent
from harness.importing.folding import Codes
from harness.importing.scanning import Pieces, Shelf, pieces_of, scan
from harness.types import Ints


@dataclass(slots=True)
class Wanted:
    """Pieces of skeletons that are looked for, numbered in the order in which they are added."""

    count: int = 0
    _rows: dict[int, list[Codes]] = field(default_factory=dict)
    _scopes: dict[int, list[Ints]] = field(default_factory=dict)
    _numbers: dict[int, list[Ints]] = field(default_factory=dict)

    def add(self, codes: Codes, at: Ints, size: int, scope: int | None) -> None:
        """The pieces of `size` that begin at `at` in a skeleton; in document number `scope`, or in all of them (None)."""
        if not len(at):
            return
        self._rows.setdefault(size, []).append(codes[at[:, None] + np.arange(size)])
        self._scopes.setdefault(size, []).append(np.full(len(at), -1 if scope is None else scope))
        self._numbers.setdefault(size, []).append(np.arange(self.count, self.count + len(at)))
        self.count += len(at)

    def tables(self) -> Iterator[tuple[Codes, Ints, Ints]]:
        """Per size: rows of codes, their scopes (-1: everywhere), their numbers. Forgets them on the way."""
        for size in list(self._rows):
            yield np.concatenate(self._rows.pop(size)), np.concatenate(self._scopes.pop(size)), np.concatenate(self._numbers.pop(size))


@dataclass(frozen=True, slots=True)
class Hits:
    """Per piece: how many places it has in its scope (`count`), and the first ones (`places`, on the shelf, ascending)."""

    count: Ints
    _begin: Ints
    _end: Ints
    _places: Ints

    def places(self, piece: int) -> Ints:
        """The places of one piece, at most the limit of the search."""
        return self._places[self._begin[piece] : self._end[piece]]


def find_pieces(shelf: Shelf, wanted: Wanted, limit: int, what: str, progress: Progress = silent) -> Hits:
    """The places of every piece, of each at most `limit` (all are counted). One pass over the shelf."""
    slots = _Slots(wanted, len(shelf.documents))
    total = np.zeros(slots.count, dtype=np.int64)
    kept: list[tuple[Ints, Ints]] = [(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))]
    for which, number, place in scan(shelf, slots.pieces, what, progress):
        doc = np.searchsorted(shelf.base, place, side="right") - 1
        for scope in (np.zeros(len(doc), dtype=np.int64), doc + 1):
            slot, hit = slots.find(which, number, scope)
            keep = total[slot] + _rank(slot) < limit
            np.add.at(total, slot, 1)
            if keep.any():
                kept.append((slot[keep], place[hit[keep]]))
    slot, place = (np.concatenate([pair[side] for pair in kept]) for side in (0, 1))
    kept.clear()
    # Places of one slot come in ascending order already.
    order = np.argsort(slot, kind="stable")
    slot, place = slot[order], place[order]
    begin, end = (np.searchsorted(slot, slots.of_piece, side=side) for side in ("left", "right"))
    return Hits(total[slots.of_piece], begin, end, place)


def _rank(slot: Ints) -> Ints:
    """How many equal values stand before each value."""
    order = np.argsort(slot, kind="stable")
    ordered = slot[order]
    out = np.empty(len(slot), dtype=np.int64)
    out[order] = np.arange(len(slot)) - np.searchsorted(ordered, ordered, side="left")
    return out


class _Slots:
    """Distinct (size, piece, scope): pieces that are equal share one. `of_piece` is the slot of each piece."""

    def __init__(self, wanted: Wanted, documents: int) -> None:
        self._stride = documents + 1
        self.of_piece = np.zeros(wanted.count, dtype=np.int64)
        self.pieces: list[Pieces] = []
        self._keys: list[Ints] = []
        self._first: list[int] = []
        self.count = 0
        for rows, scope, numbers in wanted.tables():
            pieces, which = pieces_of(rows)
            keys, slot = np.unique(which * self._stride + scope + 1, return_inverse=True)
            self.of_piece[numbers] = slot + self.count
            self.pieces.append(pieces)
            self._keys.append(keys)
            self._first.append(self.count)
            self.count += len(keys)

    def find(self, which: int, number: Ints, scope: Ints) -> tuple[Ints, Ints]:
        """The slots that hits of one size fall into (`scope` 0: everywhere, else a document's number + 1), and which hit each is."""
        keys, asked = self._keys[which], number * self._stride + scope
        near = np.searchsorted(keys, asked).clip(max=len(keys) - 1)
        hit = np.flatnonzero(keys[near] == asked)
        return near[hit] + self._first[which], hit
