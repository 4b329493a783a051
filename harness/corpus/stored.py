"""Documents whose text stays in its file: for corpora that are larger than memory should have to hold.

A text is read and decoded whenever it is asked for, and the last ones are kept while they are small. What was loaded must still be there: a file of
another size or time is refused, since every offset would be wrong.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from harness.corpus.reading import NotUtf8Error, decode
from harness.errors import DataError
from harness.types import Document

LARGE = 128 * 2**20
"""Bytes of documents from which on their texts stay in the files."""
_KEPT_BYTES = 64 * 2**20


@dataclass(frozen=True, slots=True)
class Place:
    """Where a text stands: in a file of its own, or (`line`) as the "text" of the JSON object in the bytes `start` to `start + size` of a file.
    `state` is that file's size and time of change, in nanoseconds, when it was loaded."""

    path: Path
    state: tuple[int, int]
    start: int = 0
    size: int = -1
    line: bool = False

    def read(self) -> str:
        """The text. Raises DataError where the file is not what it was."""
        try:
            with self.path.open("rb") as file:
                if state_of(file.fileno()) != self.state:
                    raise DataError(self.path, "has changed since it was loaded, so no offset in it can be relied on; start again")
                file.seek(self.start)
                raw = file.read(self.size)
            return self._text(raw)
        except (OSError, NotUtf8Error, ValueError, KeyError) as error:
            raise DataError(self.path, f"can't be read any more ({getattr(error, 'strerror', None) or error})") from error

    def _text(self, raw: bytes) -> str:
        if not self.line:
            return decode(raw)[0]
        text: str = json.loads(raw.decode("utf-8-sig" if self.start == 0 else "utf-8"))["text"]
        return text


def is_large(size: int) -> bool:
    """Whether documents of so many bytes stay in their files."""
    return size >= LARGE


def state_of(file: int | Path) -> tuple[int, int]:
    """Size and time of change of a file (or of an open one, by its number)."""
    found = os.stat(file)
    return found.st_size, found.st_mtime_ns


class StoredDocument(Document):
    """A document whose text lies at a `place`. `length` (characters) and `blank` are known without reading. It goes to other processes as its
    place."""

    __slots__ = ("blank", "length", "place")
    stored = True
    length: int
    blank: bool
    place: Place

    def __init__(self, name: str, place: Place, length: int, blank: bool, title: str = "", metadata: Mapping[str, Any] | None = None) -> None:
        values = {"id": name, "title": title, "metadata": metadata or {}, "place": place, "length": length, "blank": blank}
        for key, value in values.items():
            object.__setattr__(self, key, value)

    @classmethod
    def of(cls, document: Document, place: Place) -> StoredDocument:
        """`document`, whose text was read from `place`."""
        return cls(document.id, place, document.length, document.blank, document.title, document.metadata)

    @property
    def text(self) -> str:
        """Read now, unless it is one of the last ones."""
        return _recent.get(self.place, self.place.read)

    @property
    def source(self) -> Hashable:
        """Its place."""
        return self.place

    def described(self, title: str, metadata: Mapping[str, Any]) -> Document:
        """The same with another title and metadata."""
        return StoredDocument(self.id, self.place, self.length, self.blank, title, metadata)

    def __reduce__(self) -> tuple[type[StoredDocument], tuple[Any, ...]]:
        return StoredDocument, (self.id, replace(self.place), self.length, self.blank, self.title, self.metadata)

    def __repr__(self) -> str:
        return f"StoredDocument({self.id!r}, {self.place}, length={self.length})"


class _Recent:
    """The texts read last, by place, together below `limit` bytes; the very last one in any case. Safe with threads."""

    def __init__(self, limit: int) -> None:
        self._limit, self._bytes = limit, 0
        self._texts: OrderedDict[Place, str] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, place: Place, read: Callable[[], str]) -> str:
        with self._lock:
            if place in self._texts:
                self._texts.move_to_end(place)
                return self._texts[place]
            if self._bytes > self._limit // 2:  # before the next is read: two large ones need not be there at once
                self._shrink(self._limit // 2)
            text = self._texts[place] = read()
            self._bytes += sys.getsizeof(text)
            self._shrink(self._limit, keep=1)
            return text

    def _shrink(self, limit: int, keep: int = 0) -> None:
        while self._bytes > limit and len(self._texts) > keep:
            self._bytes -= sys.getsizeof(self._texts.popitem(last=False)[1])


_recent = _Recent(_KEPT_BYTES)
