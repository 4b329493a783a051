"""A cache of vectors with bytes changed anywhere gives a sound vector or none: never another, and never an error."""

from __future__ import annotations

import logging
import random
from pathlib import Path

import numpy as np
import pytest

from harness.embedding import VectorCache

KEYS = [bytes([number]) * 16 for number in range(64)]
VECTORS = np.random.default_rng(3).random((64, 32), dtype=np.float32)
WAYS = 150


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    cache = VectorCache(tmp_path_factory.mktemp("cache"), "sound", 32, max_bytes=10**8)
    cache.save(KEYS, VECTORS)
    cache.close()
    return cache.path.read_bytes()


def damaged(content: bytes, seed: int) -> bytes:
    draw = random.Random(seed)
    if seed % 5 == 0:
        return content[: draw.randrange(len(content))]
    spoiled = bytearray(content)
    # Rows fill the pages from their ends; headers, and with them the types of values, stand between.
    for _ in range(draw.choice((1, 10, 300))):
        spoiled[draw.randrange(len(spoiled))] = draw.randrange(256)
    return bytes(spoiled)


def read(folder: Path, content: bytes) -> tuple[int, int, bool]:
    """How many vectors are found, how many of them are wrong, and whether the cache still takes new ones."""
    cache, out = VectorCache(folder, "sound", 32, max_bytes=10**8), np.zeros((64, 32), dtype=np.float32)
    for path in folder.glob(f"{cache.path.name}*"):
        path.unlink()
    cache.path.write_bytes(content)
    found = cache.find(KEYS, out)
    wrong = int((found & (out != VECTORS).any(axis=1)).sum())
    cache.save(KEYS, VECTORS)
    cache.close()
    return int(found.sum()), wrong, bool(VectorCache(folder, "sound", 32, max_bytes=10**8).find(KEYS, out).all())


def test_never_another_vector_and_never_an_error(sound: bytes, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL)
    assert read(tmp_path, sound) == (64, 0, True)
    seen = [read(tmp_path, damaged(sound, seed)) for seed in range(WAYS)]
    assert not sum(wrong for _, wrong, _ in seen)
    assert {found == 64 for found, _, _ in seen} == {True, False}, "the damage is felt in some and not in all"


def test_without_checksums_it_would(sound: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutation: that a row is sound is not asked."""
    monkeypatch.setattr(VectorCache, "_is_sound", lambda self, row: isinstance(row[4], bytes) and len(row[4]) == 128 and row[1] in KEYS)
    assert sum(read(tmp_path, damaged(sound, seed))[1] for seed in range(1, WAYS) if seed % 5)
