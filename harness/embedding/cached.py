"""An embedder behind its caches: vectors of this process in memory, vectors of all runs on disk."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from harness import scratch
from harness.embedding.base import Described, InFront, Kind, Outlook, Progress
from harness.embedding.reading import Encoder, Peeks, embed_with, foreseen
from harness.stores import NoStore, Store
from harness.types import Bools, Embedded, Vectors

_ENTRY_BYTES = 150
_ROWS_AT_ONCE = 2048
_SECONDS_AT_RISK = 2.0


class MemoryStore:
    """Vectors in memory, least recently used out first, in about `max_bytes`."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes, self._bytes = max_bytes, 0
        self._held: OrderedDict[bytes, bytes] = OrderedDict()

    def find(self, keys: Sequence[bytes], out: Vectors) -> Bools:
        """Fill the rows of `out` whose key is held; which ones."""
        found = np.fromiter((key in self._held for key in keys), dtype=bool, count=len(keys))
        places = np.flatnonzero(found)
        if len(places):
            held = [keys[place] for place in places.tolist()]
            out[places] = np.frombuffer(b"".join(self._held[key] for key in held), dtype=np.float32).reshape(-1, out.shape[1])
            for key in held:
                self._held.move_to_end(key)
        return found

    def holds(self, keys: Sequence[bytes]) -> Bools:
        """Which keys are held. Counts as no use."""
        return np.fromiter((key in self._held for key in keys), dtype=bool, count=len(keys))

    def save(self, keys: Sequence[bytes], vectors: Vectors) -> None:
        """Keep one row of `vectors` under each key."""
        for key, vector in zip(keys, vectors, strict=True):
            if key not in self._held:
                self._held[key] = vector.tobytes()
                self._bytes += vector.nbytes + _ENTRY_BYTES
        while self._bytes > self._max_bytes and self._held:
            _, value = self._held.popitem(last=False)
            self._bytes -= len(value) + _ENTRY_BYTES


class _Layers:
    """Memory in front of disk. Writes to disk are gathered to transactions of bounded size; at most `seconds` of work wait in memory."""

    def __init__(self, memory: Store, disk: Store, seconds: float) -> None:
        self._memory, self._disk, self._seconds = memory, disk, seconds
        self._keys: list[bytes] = []
        self._blocks: list[Vectors] = []
        self._since = time.monotonic()

    def find(self, keys: Sequence[bytes], out: Vectors) -> Bools:
        """Fill the rows of `out` whose key either holds; which ones. What was on disk is then in memory too."""
        found = self._memory.find(keys, out)
        places = np.flatnonzero(~found)
        if len(places):
            wanted = [keys[place] for place in places.tolist()]
            read = np.empty((len(places), out.shape[1]), dtype=np.float32)
            on_disk = self._disk.find(wanted, read)
            out[places[on_disk]] = read[on_disk]
            found[places[on_disk]] = True
            self._memory.save([key for key, held in zip(wanted, on_disk, strict=True) if held], read[on_disk])
        return found

    def save(self, keys: Sequence[bytes], vectors: Vectors) -> None:
        """Keep one row of `vectors` under each key: in memory now, on disk soon."""
        self._memory.save(keys, vectors)
        self._keys.extend(keys)
        self._blocks.append(vectors)
        if len(self._keys) >= _ROWS_AT_ONCE or time.monotonic() - self._since >= self._seconds:
            self.flush()

    def flush(self) -> None:
        """Write what waits."""
        if self._keys:
            self._disk.save(self._keys, np.concatenate(self._blocks))
        self._keys, self._blocks, self._since = [], [], time.monotonic()


@dataclass(eq=False)
class CachedEmbedder(InFront):
    """`embedder` with what it has embedded before taken from `cache` (on disk, may be none) or from memory (at most `memory_bytes`).

    Work that is done reaches the disk as it goes on, so that a process that dies loses some seconds of it. Rows are those of `embedder` alone. One
    that says of itself that it is `quick` is asked again, rather than that more than scratch's LARGE is written at once.
    """

    embedder: Encoder
    cache: Store = field(default_factory=NoStore)
    memory_bytes: int = 512 * 2**20

    def __post_init__(self) -> None:
        self._memory = MemoryStore(self.memory_bytes)

    @property
    def behind(self) -> Described:
        """What it stands in front of."""
        return self.embedder

    def embed(self, texts: Sequence[str], kind: Kind, progress: Progress | None = None) -> Embedded:
        """Vectors of `texts`; the model works only on what no cache holds. Raises PartError where it gives NaN or a wrong shape."""
        if getattr(self.embedder, "quick", False) and 4 * self.dim * len(texts) >= scratch.LARGE:
            return embed_with(self.embedder, NoStore(), texts, kind, progress)
        layers = _Layers(self._memory, self.cache, getattr(self.embedder, "seconds_at_risk", _SECONDS_AT_RISK))  # paid work goes to disk sooner
        try:
            return embed_with(self.embedder, layers, texts, kind, progress)
        finally:
            layers.flush()

    def outlook(self, texts: Sequence[str], kind: Kind) -> Outlook:
        """What `embed` would take now. Loads no weights and reads no vector: one that is damaged on disk counts as held."""
        return foreseen(self.embedder, texts, kind, self._holds, self.identity)

    def _holds(self, keys: Sequence[bytes]) -> Bools:
        held = self._memory.holds(keys)
        places = np.flatnonzero(~held)
        if len(places) and isinstance(self.cache, Peeks):
            held[places] = self.cache.holds([keys[place] for place in places.tolist()])
        return held
