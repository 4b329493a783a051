"""Vectors as a store of less room would keep them: fewer numbers, or numbers of lower precision. An axis over the same cached vectors.

Fewer numbers after Kusupati et al., "Matryoshka Representation Learning" (2022): the first ones, brought to unit length. Lower precision is that of
the passages alone: questions are never stored, and are compared as they are (Jegou et al., "Product Quantization for Nearest Neighbor Search"
(2011), section III, call it the asymmetric distance).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, wraps
from typing import Any

import numpy as np

from harness import scratch
from harness.embedding.base import Embedder, EmbedsSpans, InFront, Kind, LateEmbedded, Progress
from harness.embedding.engine import unit_rows
from harness.errors import ConfigError
from harness.types import ChunkSet, Document, Embedded, Vectors

_FORMAT = 1
"""Raise it when the same values come to mean other vectors."""
_Make = Callable[..., Any]
_ROWS_AT_ONCE = 8192


def _as_float16(vectors: Vectors) -> Vectors:
    return vectors.astype(np.float16).astype(np.float32)


def _as_int8(vectors: Vectors) -> Vectors:
    """Whole numbers from -127 to 127, the largest of a row being one of these; the row's scale drops out where rows are brought to unit length."""
    largest = np.abs(vectors).max(axis=1, keepdims=True)
    return np.rint(vectors * (127 / np.where(largest == 0, 1, largest))).astype(np.float32)


def _as_signs(vectors: Vectors) -> Vectors:
    """1 where a number is above 0, else -1."""
    return np.where(vectors > 0, 1, -1).astype(np.float32)


STORAGES: dict[str, tuple[Callable[[Vectors], Vectors], Callable[[int], float]]] = {
    "float32": (lambda vectors: vectors, lambda dim: 4.0 * dim),
    "float16": (_as_float16, lambda dim: 2.0 * dim),
    "int8": (_as_int8, lambda dim: dim + 4.0),
    "binary": (_as_signs, lambda dim: float(-(-dim // 8))),
}
"""By name: what a store of that precision gives back of unit rows, but for their length; and the bytes that a vector of so many numbers takes."""


@dataclass(eq=False)
class StoredEmbedder(InFront):
    """`embedder`'s vectors cut to their first `numbers` and kept as `storage` (a key of STORAGES). Stands in front of the cache, so that one set of
    cached vectors serves every length and precision.

    Rows have unit length: a store compares by cosine. Raises ConfigError for values that can't work.
    """

    embedder: Embedder
    numbers: int | None = None
    storage: str = "float32"

    def __post_init__(self) -> None:
        if not isinstance(self.storage, str) or self.storage not in STORAGES:
            raise ConfigError("embedder.storage", self.storage, f"one of {', '.join(STORAGES)} would do")
        _check_numbers(self.numbers)
        if self.numbers is not None and self.numbers > self.embedder.dim:
            raise ConfigError(
                "embedder.dim", self.numbers, f"a whole number from 2 to {self.embedder.dim}, the numbers that the model gives, would do"
            )

    @property
    def behind(self) -> Embedder:
        """What it stands in front of."""
        return self.embedder

    @property
    def dim(self) -> int:
        """Numbers of a vector."""
        return self.embedder.dim if self.numbers is None else self.numbers

    @cached_property
    def identity(self) -> str:
        """Digest of the identity behind, the length and the precision."""
        decides = {"format": _FORMAT, "behind": self.embedder.identity, "dim": self.dim, "storage": self.storage}
        return hashlib.sha256(json.dumps(decides, sort_keys=True).encode()).hexdigest()

    @property
    def vector_bytes(self) -> float:
        """What one stored vector takes: 4 or 2 bytes a number, 1 and 4 for the row's scale, or an eighth."""
        return STORAGES[self.storage][1](self.dim)

    def over(self, embedder: Embedder) -> StoredEmbedder:
        """The same in front of `embedder`, which gives the same vectors as the one behind (with a cache, say)."""
        made = SpanStoredEmbedder if isinstance(embedder, EmbedsSpans) else StoredEmbedder
        return made(embedder, self.numbers, self.storage)

    def embed(self, texts: Sequence[str], kind: Kind, progress: Progress | None = None) -> Embedded:
        """Vectors of `texts`: passages as they are stored, questions only shortened. Costs what the one behind costs."""
        found = self.embedder.embed(texts, kind, progress)
        return replace(found, vectors=self._kept(found.vectors, stored=kind == "passage"))

    def _kept(self, vectors: Vectors, *, stored: bool) -> Vectors:
        """What a store gives back of `vectors`: some rows at a time, into scratch, where there are many."""
        if vectors.nbytes < scratch.LARGE or (self.dim == vectors.shape[1] and not (stored and self.storage != "float32")):
            return self._given_back(vectors, stored=stored)
        kept = scratch.room((len(vectors), self.dim))
        for start in range(0, len(vectors), _ROWS_AT_ONCE):
            rows = slice(start, start + _ROWS_AT_ONCE)
            kept[rows] = self._given_back(vectors[rows], stored=stored)
            scratch.release(kept)
            scratch.release(vectors)
        return kept

    def _given_back(self, vectors: Vectors, *, stored: bool) -> Vectors:
        shorter = vectors if self.dim == vectors.shape[1] else unit_rows(vectors[:, : self.dim])
        return unit_rows(STORAGES[self.storage][0](shorter)) if stored and self.storage != "float32" and len(shorter) else shorter


@dataclass(eq=False)
class SpanStoredEmbedder(StoredEmbedder):
    """The same for an embedder that reads whole documents."""

    @property
    def contextual(self) -> bool:
        """As the one behind."""
        return self._spans.contextual

    @property
    def _spans(self) -> EmbedsSpans:
        assert isinstance(self.embedder, EmbedsSpans)  # noqa: S101 (`over` and `stored` see to it)
        return self.embedder

    def embed_spans(self, documents: Sequence[Document], chunks: ChunkSet, progress: Progress | None = None) -> LateEmbedded:
        """Vectors of `chunks` as they are stored."""
        found = self._spans.embed_spans(documents, chunks, progress)
        return replace(found, vectors=self._kept(found.vectors, stored=True))


def _check_numbers(numbers: Any) -> None:
    """What can be told before a server is asked how many numbers a vector has. Raises ConfigError."""
    if numbers is not None and (not isinstance(numbers, int) or isinstance(numbers, bool) or numbers < 2):
        raise ConfigError("embedder.dim", numbers, "a whole number from 2 up, or null for all, would do")


def stored(embedder: Embedder, dim: int | None = None, storage: str = "float32") -> Embedder:
    """`embedder` with vectors of `dim` numbers (None: all) kept as `storage`; itself where this changes nothing. Raises ConfigError."""
    _check_numbers(dim)
    if storage == "float32" and (dim is None or dim == embedder.dim):
        return embedder
    return StoredEmbedder(embedder, dim, storage).over(embedder)


def storable(make: _Make) -> _Make:
    """A factory of embedders that takes `dim` and `storage` besides its own values."""

    @wraps(make)
    def made(*values: Any, dim: int | None = None, storage: str = "float32", **named: Any) -> Embedder:
        return stored(make(*values, **named), dim, storage)

    return made
