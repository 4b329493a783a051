"""Rulers are kept, so that a sweep tokenises each document once a unit however many sizes and strategies it tries.

Those of documents that are themselves read from disk (harness.corpus.stored) are made when they are asked for, and go to a file of scratch besides,
from which they are read when memory had no room for them.
"""

from __future__ import annotations

import threading
import weakref
from collections import OrderedDict
from collections.abc import Hashable, Iterator, Sequence
from contextlib import suppress
from typing import IO, overload

import numpy as np

from harness import scratch
from harness.errors import StoreError
from harness.types import Document, Ints
from harness.units.base import Ruler, Unit

DEFAULT_BYTES = 512 * 2**20
_STORED_BYTES = 64 * 2**20


class RulerCache:
    """The rulers used last, by unit and text, up to `limit` bytes in all. A ruler larger than that is made and not kept. Safe with threads."""

    def __init__(self, limit: int = DEFAULT_BYTES) -> None:
        self.limit = limit
        self.nbytes = 0
        self._rulers: OrderedDict[tuple[str, Hashable], Ruler] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._rulers)

    def measure(self, unit: Unit, text: str) -> Ruler:
        """The ruler of `text` in `unit`, measured only where it isn't kept."""
        return self.ruler(unit, Document("", text))

    def ruler(self, unit: Unit, document: Document) -> Ruler:
        """The ruler of a document, measured only where it isn't kept."""
        key = (unit.identity, document.source)
        with self._lock:
            if key in self._rulers:
                self._rulers.move_to_end(key)
                return self._rulers[key]
        ruler = self._made(unit, document)
        with self._lock:
            self._keep(key, ruler)
        return ruler

    def _made(self, unit: Unit, document: Document) -> Ruler:
        return unit.measure(document.text)

    def _keep(self, key: tuple[str, Hashable], ruler: Ruler) -> None:
        if key in self._rulers or ruler.nbytes > self.limit:
            return
        self._rulers[key] = ruler
        self.nbytes += ruler.nbytes
        while self.nbytes > self.limit:
            self.nbytes -= self._rulers.popitem(last=False)[1].nbytes


class SpilledRulers(RulerCache):
    """The same, and every ruler that was ever made is in a file besides, from which it is read when memory has let go of it: 4 bytes a step, 8 where
    steps weigh more than one unit."""

    def __init__(self, limit: int = _STORED_BYTES) -> None:
        super().__init__(limit)
        self._places: dict[tuple[str, Hashable], tuple[int, int, bool]] = {}
        self._file: IO[bytes] | None = None
        self._access = threading.Lock()

    def _made(self, unit: Unit, document: Document) -> Ruler:
        key = (unit.identity, document.source)
        with self._access:
            if key in self._places:
                return self._read(*self._places[key])
        ruler = unit.measure(document.text)
        with self._access, suppress(OSError, StoreError):  # without room on the disk it is made again when it is asked for
            self._write(key, ruler)
        return ruler

    def _write(self, key: tuple[str, Hashable], ruler: Ruler) -> None:
        if ruler.cuts[-1] >= 2**32 or ruler.before[-1] >= 2**32 or key in self._places:
            return
        if self._file is None:
            self._file = scratch.spool()
            weakref.finalize(self, self._file.close)
        single = bool(ruler.before[-1] == len(ruler.before) - 1)  # strictly rising from 0, so every step weighs one
        place = self._file.seek(0, 2)
        for column in (ruler.cuts,) if single else (ruler.cuts, ruler.before):
            self._file.write(column.astype("<u4").tobytes())
        self._places[key] = (place, len(ruler.cuts), single)

    def _read(self, place: int, count: int, single: bool) -> Ruler:
        assert self._file is not None  # noqa: S101  it has a place
        self._file.seek(place)
        cuts = _column(self._file, count)
        return Ruler(cuts, np.arange(count, dtype=np.int64) if single else _column(self._file, count))


def _column(file: IO[bytes], count: int) -> Ints:
    return np.frombuffer(file.read(4 * count), dtype="<u4").astype(np.int64)


class Rulers(Sequence[Ruler]):
    """The ruler of each document, in order, when it is asked for."""

    def __init__(self, unit: Unit, documents: Sequence[Document], cache: RulerCache) -> None:
        self._unit, self._documents, self._cache = unit, documents, cache

    def __len__(self) -> int:
        return len(self._documents)

    def __iter__(self) -> Iterator[Ruler]:
        return (self._cache.ruler(self._unit, document) for document in self._documents)

    @overload
    def __getitem__(self, place: int) -> Ruler: ...

    @overload
    def __getitem__(self, place: slice) -> Sequence[Ruler]: ...

    def __getitem__(self, place: int | slice) -> Ruler | Sequence[Ruler]:
        if isinstance(place, slice):
            return Rulers(self._unit, self._documents[place], self._cache)
        return self._cache.ruler(self._unit, self._documents[place])


_process, _spilled = RulerCache(), SpilledRulers()


def measure_all(unit: Unit, documents: Sequence[Document], cache: RulerCache | None = None) -> Sequence[Ruler]:
    """The ruler of each document, in order, by way of `cache` (without one: that of this process). Where documents are read from disk when they are
    asked for, so are the rulers."""
    if any(document.stored for document in documents):
        return Rulers(unit, documents, _spilled if cache is None else cache)
    keep = _process if cache is None else cache
    return tuple(keep.ruler(unit, document) for document in documents)
