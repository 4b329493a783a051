"""Readings that are kept, because the same texts are asked for again: a sweep counts its tokens before it begins, and cells share texts."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence

from harness.embedding.reading import Reading

_ENTRY_BYTES = 300
_KEY_BYTES = 16


class ReadBefore:
    """Readings by their text, in about `max_bytes`. When that is full nothing more is kept: sweeps ask for the same texts in the same order, so to
    let the oldest go would be to let each go just before it is asked for."""

    def __init__(self, max_bytes: int = 64 * 2**20) -> None:
        self._room = max_bytes
        self._kept: dict[bytes, Reading] = {}

    def of(self, texts: Sequence[str], kind: str, read: Callable[[list[str]], Iterable[Reading]]) -> Iterator[Reading]:
        """One reading a text, in order; `read` is given those that are not kept."""
        keys = [hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_KEY_BYTES, salt=kind.encode()).digest() for text in texts]
        missing = [place for place, key in enumerate(keys) if key not in self._kept]
        fresh = dict(zip(missing, read([texts[place] for place in missing]), strict=True)) if missing else {}
        for place, key in enumerate(keys):
            reading = fresh.get(place)
            if reading is None:
                yield self._kept[key]
                continue
            yield reading
            size = reading[0].nbytes + _ENTRY_BYTES
            if size <= self._room and key not in self._kept:
                self._kept[key] = reading
                self._room -= size
