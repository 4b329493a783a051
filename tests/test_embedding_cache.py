"""The cache of vectors: what is kept comes back unchanged, whoever writes, dies or damages it meanwhile."""

from __future__ import annotations

import logging
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from harness.embedding import HashingEmbedder, VectorCache, prune, with_cache
from harness.embedding.cached import CachedEmbedder, MemoryStore
from harness.embedding.reading import Inputs
from harness.errors import StoreError
from harness.types import Ints, Vectors

DIM = 24
PLENTY = 10**9


def keys_of(count: int, first: int = 0) -> list[bytes]:
    return [number.to_bytes(16, "big") for number in range(first, first + count)]


def rows_of(keys: list[bytes]) -> Vectors:
    """The vector that belongs to each key, in these tests."""
    return np.stack([np.random.default_rng(int.from_bytes(key, "big")).standard_normal(DIM, dtype=np.float32) for key in keys])


def cache_in(folder: Path, **values: object) -> VectorCache:
    return VectorCache(folder, "identity", DIM, **{"max_bytes": PLENTY, **values})  # type: ignore[arg-type]


def read(cache: VectorCache, keys: list[bytes]) -> tuple[np.ndarray, Vectors]:
    out = np.zeros((len(keys), DIM), dtype=np.float32)
    return cache.find(keys, out), out


class Counting(HashingEmbedder):
    """Counts the readings that it works on; fails after `until` of them, where given."""

    def __init__(self, until: int | None = None) -> None:
        super().__init__(dim=DIM)
        self.worked, self.until = 0, until

    def vectors(self, inputs: Inputs, rows: Ints) -> Iterator[tuple[Ints, Vectors]]:
        for start in range(0, len(rows), 10):
            if self.until is not None and self.worked >= self.until:
                raise KeyboardInterrupt
            part = rows[start : start + 10]
            self.worked += len(part)
            yield from super().vectors(inputs, part)


TEXTS = [f"gauge {number} was read at {number % 24} hours" for number in range(95)]


def test_what_is_kept_comes_back(tmp_path: Path) -> None:
    cache, keys = cache_in(tmp_path), keys_of(3000)
    cache.save(keys[::2], rows_of(keys[::2]))
    found, out = read(cache_in(tmp_path), keys)
    assert found.tolist() == [True, False] * 1500
    assert np.array_equal(out[::2], rows_of(keys[::2]))


def test_nothing_is_embedded_twice_in_a_process_or_after_it(tmp_path: Path) -> None:
    inner = Counting()
    embedder = with_cache(inner, tmp_path, max_bytes=PLENTY)
    first = embedder.embed(TEXTS, "passage")
    again = embedder.embed([*TEXTS, "another gauge"], "query")
    assert (inner.worked, again.cached.sum(), bool(first.cached.any())) == (96, 95, False)
    later = Counting()
    third = with_cache(later, tmp_path, max_bytes=PLENTY).embed(TEXTS, "passage")
    assert later.worked == 0
    assert third.cached.all()
    assert np.array_equal(first.vectors, third.vectors)
    assert np.array_equal(first.vectors, Counting().embed(TEXTS, "passage").vectors)
    assert np.array_equal(first.tokens, third.tokens)


def test_memory_alone_is_enough_within_a_process() -> None:
    inner = Counting()
    embedder = CachedEmbedder(inner)
    assert np.array_equal(embedder.embed(TEXTS, "passage").vectors, embedder.embed(TEXTS, "passage").vectors)
    assert inner.worked == len(TEXTS)


def test_memory_is_bounded_and_forgets_what_was_used_longest_ago() -> None:
    store, keys = MemoryStore(3 * (DIM * 4 + 150)), keys_of(4)
    store.save(keys[:3], rows_of(keys[:3]))
    out = np.zeros((1, DIM), dtype=np.float32)
    assert store.find(keys[:1], out).all()
    store.save(keys[3:], rows_of(keys[3:]))
    assert [bool(store.find([key], out)[0]) for key in keys] == [True, False, True, True]


def test_identities_have_files_of_their_own(tmp_path: Path) -> None:
    with_cache(HashingEmbedder(16), tmp_path, max_bytes=PLENTY).embed(TEXTS, "query")
    with_cache(HashingEmbedder(32), tmp_path, max_bytes=PLENTY).embed(TEXTS, "query")
    assert len(list(tmp_path.glob("*.sqlite"))) == 2


def test_work_that_was_done_survives_an_interruption(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        with_cache(Counting(until=40), tmp_path, max_bytes=PLENTY).embed(TEXTS, "passage")
    rest = Counting()
    with_cache(rest, tmp_path, max_bytes=PLENTY).embed(TEXTS, "passage")
    assert rest.worked == len(TEXTS) - 40


WRITER = """
import sys
from pathlib import Path
sys.path.insert(0, {tests!r})
from test_embedding_cache import cache_in, keys_of, rows_of
cache, first, rounds = cache_in(Path(sys.argv[1])), int(sys.argv[2]), int(sys.argv[3])
for number in range(rounds):
    keys = keys_of(50, first + 25 * number)
    cache.save(keys, rows_of(keys))
    print(number, flush=True)
"""


def start_writer(folder: Path, first: int, rounds: int) -> subprocess.Popen[bytes]:
    script = WRITER.format(tests=str(Path(__file__).parent))
    return subprocess.Popen([sys.executable, "-c", script, str(folder), str(first), str(rounds)], stdout=subprocess.PIPE)


def test_four_processes_may_write_at_once(tmp_path: Path) -> None:
    writers = [start_writer(tmp_path, 200 * number, 12) for number in range(4)]
    for writer in writers:
        writer.communicate(timeout=60)
    assert [writer.returncode for writer in writers] == [0, 0, 0, 0]
    keys = keys_of(600 + 25 * 11 + 50)
    found, out = read(cache_in(tmp_path), keys)
    assert found.all()
    assert np.array_equal(out, rows_of(keys))


def test_a_writer_killed_at_work_leaves_only_right_rows(tmp_path: Path) -> None:
    writer = start_writer(tmp_path, 0, 100_000)
    assert writer.stdout is not None
    for _ in range(8):
        writer.stdout.readline()
    time.sleep(0.01)
    os.kill(writer.pid, signal.SIGKILL)
    writer.wait(timeout=30)
    writer.stdout.close()
    cache, keys = cache_in(tmp_path), keys_of(20_000)
    found, out = read(cache, keys)
    assert found[: 25 * 7 + 50].all()
    assert cache.damaged == 0
    assert np.array_equal(out[found], rows_of([key for key, held in zip(keys, found, strict=True) if held]))
    cache.save(keys[-1:], rows_of(keys[-1:]))
    assert read(cache, keys[-1:])[0].all()


@pytest.mark.parametrize(
    "damage", ["UPDATE vectors SET value = zeroblob(96)", "UPDATE vectors SET value = substr(value, 5)", "UPDATE vectors SET checksum = 1"]
)
def test_a_changed_row_is_noticed_and_computed_again(tmp_path: Path, caplog: pytest.LogCaptureFixture, damage: str) -> None:
    first = with_cache(Counting(), tmp_path, max_bytes=PLENTY).embed(TEXTS, "passage")
    (path,) = tmp_path.glob("*.sqlite")
    with sqlite3.connect(path) as connection:
        connection.execute(f"{damage} WHERE id % 9 = 1")
    connection.close()
    inner = Counting()
    embedder = with_cache(inner, tmp_path, max_bytes=PLENTY)
    again = embedder.embed(TEXTS, "passage")
    assert inner.worked == 11
    assert np.array_equal(first.vectors, again.vectors)
    assert "11 cached vectors were damaged" in caplog.text
    after = Counting()
    with_cache(after, tmp_path, max_bytes=PLENTY).embed(TEXTS, "passage")
    assert after.worked == 0


def test_the_file_stays_below_its_bound_and_the_least_used_go_first(tmp_path: Path) -> None:
    now, bound = [0.0], 400_000
    cache, keys = cache_in(tmp_path, max_bytes=bound, clock=lambda: now[0]), keys_of(4000)
    vectors = rows_of(keys)
    for start in range(0, 4000, 100):
        now[0] += 7200
        cache.save(keys[start : start + 100], vectors[start : start + 100])
        assert read(cache, keys[:100])[0].all(), "rows that are used again and again stay"
    found, out = read(cache, keys)
    assert 500 < found.sum() < 4000
    assert found[-100:].all()
    assert not found[100:1000].any()
    assert np.array_equal(out[found], vectors[found])
    cache.close()
    assert cache.path.stat().st_size < 1.5 * bound


def test_a_folder_of_caches_can_be_pruned(tmp_path: Path) -> None:
    keys = keys_of(3000)
    for name in ("old", "new"):
        cache = VectorCache(tmp_path, name, DIM, max_bytes=PLENTY)
        cache.save(keys, rows_of(keys))
        cache.close()
    os.utime(tmp_path / "old.sqlite", (1, 1))
    before = sum(path.stat().st_size for path in tmp_path.glob("*.sqlite"))
    freed = prune(tmp_path, int(before * 0.7))
    assert before - sum(path.stat().st_size for path in tmp_path.glob("*.sqlite")) == freed >= 0.3 * before - 32768
    assert read(VectorCache(tmp_path, "new", DIM, max_bytes=PLENTY), keys)[0].all()
    held = read(VectorCache(tmp_path, "old", DIM, max_bytes=PLENTY), keys)[0]
    assert 0 < held.sum() < 3000
    assert prune(tmp_path, PLENTY) == 0


def test_a_damaged_file_cannot_be_pruned(tmp_path: Path) -> None:
    (tmp_path / "bad.sqlite").write_bytes(b"no database" * 1000)
    with pytest.raises(StoreError, match=r"bad\.sqlite"):
        prune(tmp_path, 0)


def fill_and_close(folder: Path) -> None:
    cache = VectorCache(folder, Counting().identity, DIM, max_bytes=PLENTY)
    CachedEmbedder(Counting(), cache).embed(TEXTS, "passage")
    cache.close()


def damage_the_middle(path: Path) -> None:
    with path.open("r+b") as file:
        file.seek(16384)
        file.write(b"\xff" * 60_000)


@pytest.mark.parametrize("kind", ["no database", "damaged pages", "no folder", "read-only folder"])
def test_a_cache_that_cannot_be_used_is_done_without(tmp_path: Path, caplog: pytest.LogCaptureFixture, kind: str) -> None:
    folder = tmp_path / "cache"
    if kind == "no folder":
        folder.write_text("a file stands where the folder should be")
    else:
        fill_and_close(folder)
        (path,) = folder.glob("*.sqlite")
        if kind == "no database":
            path.write_bytes(b"this is no database, but it is long enough to be taken for one " * 40)
        elif kind == "damaged pages":
            damage_the_middle(path)
        elif os.geteuid() == 0:
            pytest.skip("root may write into a read-only folder")
        else:
            path.chmod(0o444)
            folder.chmod(0o555)
    caplog.set_level(logging.WARNING)
    embedder = with_cache(Counting(), folder, max_bytes=PLENTY)
    found = embedder.embed(TEXTS, "passage")
    embedder.embed(["another text"], "passage")
    assert np.array_equal(found.vectors, Counting().embed(TEXTS, "passage").vectors)
    assert caplog.text.count("going on without it") == 1


def test_twenty_thousand_keys_are_read_quickly(tmp_path: Path) -> None:
    cache, keys = cache_in(tmp_path), keys_of(20_000)
    cache.save(keys, np.zeros((len(keys), DIM), dtype=np.float32))
    start = time.perf_counter()
    found, _ = read(cache, keys)
    assert found.all()
    assert time.perf_counter() - start < 2
