"""Where rows of numbers that are dear to make are kept by key: vectors of texts, scores of pairs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from harness.types import Bools, Vectors


class Store(Protocol):
    """Rows of float32 kept by key."""

    def find(self, keys: Sequence[bytes], out: Vectors) -> Bools:
        """Fill the rows of `out` whose key is held; which ones."""
        ...

    def save(self, keys: Sequence[bytes], vectors: Vectors) -> None:
        """Keep one row of `vectors` under each key. Never raises for a store that can't be written."""
        ...


class NoStore:
    """Holds nothing."""

    def find(self, keys: Sequence[bytes], out: Vectors) -> Bools:
        """None of them."""
        return np.zeros(len(keys), dtype=bool)

    def save(self, keys: Sequence[bytes], vectors: Vectors) -> None:
        """Forgets them."""
