"""A deterministic embedder without weights: signed hashes of words and word pairs. For tests, and as a floor below any real model.

Feature hashing after Weinberger et al., "Feature Hashing for Large Scale Multitask Learning" (2009); counts are damped by their square root.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from harness.embedding.base import Kind, Progress
from harness.embedding.reading import Inputs, TokenIds, distinct, embed_with
from harness.embedding.tokens import UNLIMITED
from harness.errors import ConfigError
from harness.stores import NoStore
from harness.types import Embedded, Ints, Vectors
from harness.units.base import Unit
from harness.units.words import WordUnit

_WORD = re.compile(r"\w+")
_READINGS_AT_ONCE = 1024
_MOST_BUCKETS = 2**20
_PAIR, _MIX = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD6E8FEB86659FD93)


@dataclass(eq=False)
class HashingEmbedder:
    """`dim` (at least 2) buckets; each word, in lower case, and each pair of neighbours adds or takes one. No limit, no prompts.

    A text without words, or whose words cancel out, gets the first axis, so that every row has unit length. Raises ConfigError for a bad `dim`.
    """

    dim: int = 256
    quick: ClassVar[bool] = True
    """Vectors cost about what reading them from a disk does."""

    def __post_init__(self) -> None:
        if isinstance(self.dim, bool) or not isinstance(self.dim, int) or not 2 <= self.dim <= _MOST_BUCKETS:
            raise ConfigError("embedder.dim", self.dim, f"a whole number from 2 to {_MOST_BUCKETS} would do")

    @property
    def name(self) -> str:
        """hashing."""
        return "hashing"

    @property
    def identity(self) -> str:
        """The kind of hashing and `dim`."""
        return f"hashing-1-{self.dim}"

    @property
    def limit(self) -> int:
        """None: every word is read."""
        return UNLIMITED

    @property
    def unit(self) -> Unit:
        """Words, between white space."""
        return WordUnit()

    def read(self, texts: Sequence[str], kind: Kind) -> Inputs:
        """The words of each text, as the CRC-32 of their lower-case UTF-8."""
        measure = self.unit.measure
        return distinct((_word_ids(text), measure(text).total, 0) for text in texts)

    def vectors(self, inputs: Inputs, rows: Ints) -> Iterator[tuple[Ints, Vectors]]:
        """Unit vectors of the readings `rows`, in blocks."""
        for start in range(0, len(rows), _READINGS_AT_ONCE):
            block = rows[start : start + _READINGS_AT_ONCE]
            yield block, self._block([inputs.ids[inputs.indptr[row] : inputs.indptr[row + 1]] for row in block])

    def _block(self, readings: Sequence[TokenIds]) -> Vectors:
        lengths = np.array([len(ids) for ids in readings])
        words = np.concatenate(readings).view(np.uint32).astype(np.uint64)
        owner = np.repeat(np.arange(len(readings)), lengths)
        neighbours = np.flatnonzero(owner[1:] == owner[:-1])
        features = np.concatenate([words, words[neighbours] * _PAIR + words[neighbours + 1] + np.uint64(1)])
        hashed = (features ^ (features >> np.uint64(32))) * _MIX
        hashed ^= hashed >> np.uint64(29)
        bucket = (hashed % np.uint64(self.dim)).astype(np.int64)
        sign = np.where(hashed >> np.uint64(63), 1.0, -1.0)
        cell = np.concatenate([owner, owner[neighbours]]) * self.dim + bucket
        sums = np.bincount(cell, weights=sign, minlength=len(readings) * self.dim).reshape(-1, self.dim)
        damped = np.sign(sums) * np.sqrt(np.abs(sums))
        damped[~damped.any(axis=1), 0] = 1
        unit: Vectors = (damped / np.linalg.norm(damped, axis=1, keepdims=True)).astype(np.float32)
        return unit

    def embed(self, texts: Sequence[str], kind: Kind, progress: Progress | None = None) -> Embedded:
        """Vectors of `texts` without any cache."""
        return embed_with(self, NoStore(), texts, kind, progress)


def _word_ids(text: str) -> TokenIds:
    return np.array([zlib.crc32(word.encode("utf-8", "surrogatepass")) for word in _WORD.findall(text.lower())], dtype=np.uint32).view(np.int32)
