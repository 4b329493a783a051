"""What a long call for vectors has met so far, part by part."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from harness.embedding.base import Progress
from harness.stores import Store
from harness.types import Bools, Ints, Vectors

_Halves = npt.NDArray[np.uint64]


class Met:
    """A store that also has the readings that this call has embedded already: they are rows of its result. 24 bytes a reading, not the 200 of a
    dictionary: there may be ten million."""

    def __init__(self, behind: Store, rows: Vectors) -> None:
        self._behind, self._rows = behind, rows
        self._key: _Halves = np.zeros((0, 2), dtype=np.uint64)
        self._row: Ints = np.zeros(0, dtype=np.int64)

    def find(self, keys: Sequence[bytes], out: Vectors) -> Bools:
        """Fill the rows of `out` whose key was met, or is held by the store behind; which ones."""
        found, row = self._known(_halves(keys))
        out[found] = self._rows[row[found]]
        places = np.flatnonzero(~found)
        if len(places):
            held = np.empty((len(places), out.shape[1]), dtype=np.float32)
            there = self._behind.find([keys[place] for place in places.tolist()], held)
            out[places[there]] = held[there]
            found[places[there]] = True
        return found

    def save(self, keys: Sequence[bytes], vectors: Vectors) -> None:
        """Give it to the store behind."""
        self._behind.save(keys, vectors)

    def learn(self, keys: Sequence[bytes], rows: Ints) -> None:
        """The readings `keys` are these rows of the result."""
        halves = _halves(keys)
        new = ~self._known(halves)[0]
        key, row = np.concatenate([self._key, halves[new]]), np.concatenate([self._row, rows[new]])
        order = np.lexsort((key[:, 1], key[:, 0]))
        self._key, self._row = key[order], row[order]

    def _known(self, wanted: _Halves) -> tuple[Bools, Ints]:
        """Which keys were met, and their rows. Keys that begin alike (two in 2**64) but for the first of them count as not met, and are worked out
        again."""
        if not len(self._key):
            return np.zeros(len(wanted), dtype=np.bool_), np.zeros(len(wanted), dtype=np.int64)
        place = np.minimum(np.searchsorted(self._key[:, 0], wanted[:, 0]), len(self._key) - 1)
        return (self._key[place] == wanted).all(axis=1), self._row[place]


def _halves(keys: Sequence[bytes]) -> _Halves:
    return np.frombuffer(b"".join(keys), dtype="<u8").reshape(len(keys), 2)


class Meter:
    """Tells of tokens done while parts go by; those of the parts to come are estimated from the last."""

    def __init__(self, progress: Progress | None, texts: int, at_once: int) -> None:
        self._progress, self._left, self._at_once, self._before = progress, texts, at_once, 0

    def tell(self, done: int, total: int) -> None:
        """So many tokens of a part are done, of so many; as Progress."""
        if self._progress is not None:
            self._progress(self._before + done, self._before + round(total * max(self._left / self._at_once, 1.0)))

    def passed(self, tokens: int, texts: int) -> None:
        """A part is done."""
        self._before, self._left = self._before + tokens, self._left - texts
