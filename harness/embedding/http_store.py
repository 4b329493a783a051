"""The cache of vectors for an embedder that knows the length of a vector only once somebody asks: opened late, and it remembers that length."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from functools import cached_property
from pathlib import Path
from typing import Any

from harness.embedding.cache import VectorCache
from harness.embedding.cached import CachedEmbedder
from harness.types import Bools, Vectors


def behind_late_cache(embedder: Any, folder: Path, *, max_bytes: int) -> CachedEmbedder:
    """`embedder` (an Encoder and AsksForDim) behind its cache in `folder`, without asking it anything."""
    cache = LateCache(folder, embedder.identity, max_bytes=max_bytes)
    embedder.known_dim = lambda: cache.dim
    return CachedEmbedder(embedder, cache)


class LateCache:
    """The `VectorCache` of the embedder `identity` under `folder`, of vectors of the length that is first asked for. No file before that."""

    def __init__(self, folder: Path, identity: str, *, max_bytes: int) -> None:
        self._folder, self._identity, self._max_bytes = folder, identity, max_bytes
        self._held: VectorCache | None = None

    @cached_property
    def dim(self) -> int | None:
        """Length of the vectors in the file, None where there is none (or none that can be read)."""
        path = VectorCache(self._folder, self._identity, 0, max_bytes=self._max_bytes).path
        if not path.is_file():
            return None
        try:
            with closing(sqlite3.connect(path, timeout=10)) as connection:
                row = connection.execute("SELECT length(value) FROM vectors ORDER BY id DESC LIMIT 1").fetchone()
        except sqlite3.Error:
            return None
        return row[0] // 4 if row else None

    def find(self, keys: Sequence[bytes], out: Vectors) -> Bools:
        """Fill the rows of `out` whose key is held; which ones."""
        return self._cache(out).find(keys, out)

    def holds(self, keys: Sequence[bytes]) -> Bools:
        """Which keys have a row. Makes no file."""
        return (self._held or VectorCache(self._folder, self._identity, 0, max_bytes=self._max_bytes)).holds(keys)

    def save(self, keys: Sequence[bytes], vectors: Vectors) -> None:
        """Keep one row of `vectors` under each key."""
        self._cache(vectors).save(keys, vectors)

    def _cache(self, vectors: Vectors) -> VectorCache:
        if self._held is None:
            self._held = VectorCache(self._folder, self._identity, vectors.shape[1], max_bytes=self._max_bytes)
        return self._held
