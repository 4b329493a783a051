"""An embedder that breaks its promise fails in our own words, and nothing of it is kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.embedding import CachedEmbedder, HashingEmbedder, with_cache
from harness.embedding.reading import Inputs
from harness.errors import ConfigError, PartError
from harness.stores import NoStore
from harness.types import Ints, Vectors

TEXTS = ["the tide", "the anchor", "the pilot"]


@dataclass(eq=False)
class Broken(HashingEmbedder):
    """What it gives goes through `change`; None leaves the block out."""

    change: Callable[[Vectors], Any] = lambda block: block

    def vectors(self, inputs: Inputs, rows: Ints) -> Iterator[tuple[Ints, Vectors]]:
        for row in rows:
            for block, found in super().vectors(inputs, rows[rows == row]):
                changed = self.change(found.copy()) if row == rows[-1] else found
                if changed is not None:
                    yield block, changed


class Kept(NoStore):
    """Keeps which keys it was given."""

    def __init__(self) -> None:
        self.keys: list[bytes] = []

    def save(self, keys: Any, vectors: Vectors) -> None:
        self.keys += keys


def put(value: float) -> Callable[[Vectors], Vectors]:
    def change(block: Vectors) -> Vectors:
        block[-1, -1] = value
        return block

    return change


WAYS: dict[str, tuple[Callable[[Vectors], Any], str]] = {
    "nan": (put(np.nan), "length nan"),
    "infinite": (put(np.inf), "length inf"),
    "zero": (lambda block: block * 0, "length 0"),
    "narrow": (lambda block: block[:, :-1], "shape (1, 255)"),
    "short": (lambda block: block[:0], "shape (0, 256)"),
    "flat": (lambda block: block[0], "shape (256,)"),
    "a list": (lambda block: block.tolist(), "list"),
    "whole numbers": (lambda block: block.astype(np.int64), "expected an array of float32"),
    "left out": (lambda block: None, "gave no vector for 1 of 3 texts"),
}


@pytest.mark.parametrize("way", WAYS)
def test_it_fails_in_our_words(way: str) -> None:
    change, told = WAYS[way]
    store = Kept()
    with pytest.raises(PartError, match="embedder hashing") as caught:
        CachedEmbedder(Broken(change=change), store).embed(TEXTS, "passage")
    assert told in str(caught.value)
    assert len(set(store.keys)) == 2, "what came before is kept, the broken one is not"


def test_a_sound_one_passes() -> None:
    store = Kept()
    CachedEmbedder(Broken(), store).embed(TEXTS, "passage")
    assert len(set(store.keys)) == 3


def test_without_a_reader_it_is_refused_before_any_work(tmp_path: Path) -> None:
    class Plain:
        name, dim, limit, identity = "plain", 4, 10, "plain"

    plain: Any = Plain()
    with pytest.raises(ConfigError, match="has no read and vectors"):
        with_cache(plain, tmp_path, max_bytes=10**6)
