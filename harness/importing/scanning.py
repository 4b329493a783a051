"""One pass over all documents that finds every place of many short pieces of skeleton at once.

The pieces are hashed, not the text: every window of the text's skeleton gets a 64-bit polynomial hash (Karp and Rabin 1987), made in NumPy by
doubling (a window of 2n is two windows of n), and a table of bits drops nearly all of them. The text goes by in blocks, so memory does not grow
with it; a few seconds for 50 million characters. Hits are candidates, verified by whoever asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from harness.importing.base import Progress, silent
from harness.importing.folding import Codes, skeleton
from harness.types import Bools, Document, Ints

Hashes = npt.NDArray[np.uint64]
Reading = Callable[[str], str]

_BASE = 0x9E3779B97F4A7C15
_BLOCK = 1 << 16
_LEAST_TABLE, _MOST_TABLE = 18, 24


class _Doubling:
    """Hashes of windows of one stream, those of powers of two kept: h(a + b) = h(a) * base**b + h(b), a steps further."""

    def __init__(self, codes: Codes) -> None:
        self._powers: list[Hashes] = [codes.astype(np.uint64) + np.uint64(1)]

    def of(self, size: int) -> Hashes:
        """Hashes of the windows of `size`."""
        done, hashes = 0, np.zeros(0, dtype=np.uint64)
        for power in range(size.bit_length()):
            if size >> power & 1:
                piece = self._power(power)
                hashes = piece if not done else _joined(hashes, done, piece, 1 << power)
                done += 1 << power
        return hashes

    def _power(self, power: int) -> Hashes:
        while len(self._powers) <= power:
            half = 1 << (len(self._powers) - 1)
            self._powers.append(_joined(self._powers[-1], half, self._powers[-1], half))
        return self._powers[power]


def _joined(front: Hashes, front_size: int, back: Hashes, back_size: int) -> Hashes:
    count = max(min(len(front), len(back) - front_size), 0)
    return front[:count] * np.uint64(pow(_BASE, back_size, 1 << 64)) + back[front_size : front_size + count]


@dataclass(frozen=True, slots=True)
class Pieces:
    """Pieces of one size that are looked for: their hashes, sorted, without repeats."""

    size: int
    hashes: Hashes
    _table: list[Bools] = field(default_factory=list)

    def found(self, hashes: Hashes) -> tuple[Ints, Ints]:
        """Which windows are wanted: (place of the window, number of the piece)."""
        bits = min(max(len(self.hashes).bit_length() + 5, _LEAST_TABLE), _MOST_TABLE)
        shift = np.uint64(64 - bits)
        if not self._table:
            table = np.zeros(1 << bits, dtype=bool)
            table[(self.hashes >> shift).astype(np.int64)] = True
            self._table.append(table)
        likely = np.flatnonzero(self._table[0][(hashes >> shift).astype(np.int64)])
        number = np.searchsorted(self.hashes, hashes[likely]).clip(max=len(self.hashes) - 1)
        real = self.hashes[number] == hashes[likely]
        return likely[real], number[real]


def as_is(text: str) -> str:
    """A reading that changes nothing."""
    return text


@dataclass(frozen=True, slots=True)
class Shelf:
    """Documents end to end with one NUL between neighbours; `base` is where each begins. `read` may blank characters, never move them."""

    documents: Sequence[Document]
    base: Ints
    read: Reading = as_is

    @classmethod
    def of(cls, documents: Sequence[Document], read: Reading = as_is) -> Shelf:
        """The shelf of these documents."""
        lengths = np.fromiter((len(document.text) + 1 for document in documents), dtype=np.int64, count=len(documents))
        return cls(documents, np.cumsum(lengths) - lengths, read)

    @property
    def size(self) -> int:
        """Characters on the shelf."""
        return int(self.base[-1]) + len(self.documents[-1].text) + 1 if self.documents else 0

    def blocks(self) -> Iterator[tuple[str, int]]:
        """All text in blocks of 65,536 characters or somewhat more, each with the place of its first character."""
        waiting: list[str] = []
        size, begins = 0, 0
        for document in self.documents:
            for start in range(0, max(len(document.text), 1), _BLOCK):
                waiting.append(self.read(document.text[start : start + _BLOCK]))
                size += len(waiting[-1])
                if start + _BLOCK >= len(document.text):
                    waiting.append("\0")
                    size += 1
                if size >= _BLOCK:
                    yield "".join(waiting), begins
                    waiting, begins, size = [], begins + size, 0
        yield "".join(waiting), begins


def scan(shelf: Shelf, wanted: Sequence[Pieces], what: str, progress: Progress = silent) -> Iterator[tuple[int, Ints, Ints]]:
    """Every window of the shelf that is wanted: (which of `wanted`, numbers of pieces, places of their first characters), block by block."""
    longest = max((pieces.size for pieces in wanted), default=1)
    codes, places = np.zeros(0, dtype=np.uint32), np.zeros(0, dtype=np.int64)
    done = 0
    for text, begins in shelf.blocks():
        more, at = skeleton(text)
        carried = len(codes)
        codes, places = np.concatenate([codes, more]), np.concatenate([places, at + begins])
        doubling = _Doubling(codes)
        for which, pieces in enumerate(wanted):
            window, number = pieces.found(doubling.of(pieces.size))
            # Windows that lie wholly in what was carried over have been seen.
            new = window + pieces.size > carried
            yield which, number[new], places[window[new]]
        keep = max(len(codes) - longest + 1, 0)
        codes, places = codes[keep:], places[keep:]
        done += len(text)
        progress(what, done, shelf.size)


def pieces_of(codes: Codes) -> tuple[Pieces, Ints]:
    """The distinct ones among the rows of `codes` (one piece a row), and which of them each row is."""
    hashes = np.zeros(len(codes), dtype=np.uint64)
    for column in codes.T:
        hashes = hashes * np.uint64(_BASE) + (column.astype(np.uint64) + np.uint64(1))
    unique, number = np.unique(hashes, return_inverse=True)
    return Pieces(codes.shape[1], unique), number.astype(np.int64)
