"""Vectors that lie in several files, none of which has to be in memory whole: the shards of a cell."""

from __future__ import annotations

import os
import shutil
import socket
import tempfile
import weakref
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from filelock import BaseFileLock, FileLock, Timeout

from harness.errors import StoreError, reason
from harness.types import Ints, Vectors

_HELD = "held"
"""The lock of a folder of shards."""


def shard_bounds(count: int, shards: int) -> Ints:
    """Where `count` rows in their order are cut into `shards` parts that differ by one row at most: shard s has rows `[s]` to `[s + 1]`. No more
    parts than rows."""
    shards = min(shards, max(count, 1))
    return np.arange(shards + 1, dtype=np.int64) * count // shards


@dataclass(frozen=True)
class VectorFiles:
    """Rows of float32 of length `dim` in files, one after the other: row r is in the file whose share of `ends` it falls into. Plain data, so that
    another process can open the same files; each is mapped into memory when one of its rows is first read, and only what is read takes memory.

    Raises StoreError where a file is missing, or has not the rows that it should have.
    """

    paths: tuple[str, ...]
    ends: tuple[int, ...]
    dim: int

    def __len__(self) -> int:
        return self.ends[-1] if self.ends else 0

    @property
    def shape(self) -> tuple[int, int]:
        """As of one matrix."""
        return len(self), self.dim

    def __getstate__(self) -> dict[str, object]:
        return {"paths": self.paths, "ends": self.ends, "dim": self.dim}

    @cached_property
    def _open(self) -> dict[int, Vectors]:
        return {}

    def _file(self, number: int) -> Vectors:
        if number not in self._open:
            count = self.ends[number] - (self.ends[number - 1] if number else 0)
            self._open[number] = _mapped(self.paths[number], (count, self.dim))
        return self._open[number]

    def file_of(self, rows: Ints) -> Ints:
        """The number of the file that holds each of these rows."""
        return np.searchsorted(self.ends, rows, side="right").astype(np.int64)

    def slice(self, start: int, stop: int) -> Vectors:
        """Rows `start` to `stop`; a view where they lie in one file."""
        first = int(np.searchsorted(self.ends, start, side="right"))
        if start < stop <= self.ends[min(first, len(self.ends) - 1)]:
            before = self.ends[first - 1] if first else 0
            return self._file(first)[start - before : stop - before]
        return self.take(np.arange(start, stop))

    def take(self, rows: Ints, out: Vectors | None = None) -> Vectors:
        """These rows, copied (into `out`)."""
        found: Vectors = np.empty((len(rows), self.dim), dtype=np.float32) if out is None else out
        if bool((np.diff(rows) >= 0).all()):
            return self._take_ascending(rows, found)
        file = self.file_of(rows)
        for number in np.unique(file).tolist():
            here = np.flatnonzero(file == number)
            found[here] = self._file(number)[rows[here] - (self.ends[number - 1] if number else 0)]
        return found

    def _take_ascending(self, rows: Ints, out: Vectors) -> Vectors:
        """The same file by file, without a copy between."""
        ends = np.searchsorted(rows, self.ends)
        for number, (low, high) in enumerate(pairwise([0, *ends.tolist()])):
            if low < high:
                first = self.ends[number - 1] if number else 0
                np.take(self._file(number), rows[low:high] - first, axis=0, out=out[low:high], mode="clip")
        return out


def write_vectors(path: Path, vectors: Vectors) -> None:
    """Write a shard beside its place, then rename it: a file is there whole, or not at all. Raises StoreError where there is no room."""
    beside = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    try:
        with beside.open("wb") as file:
            np.save(file, np.ascontiguousarray(vectors, dtype=np.float32), allow_pickle=False)
        beside.replace(path)
    except OSError as error:
        beside.unlink(missing_ok=True)
        full = "" if error.errno else "; the disk is full"  # NumPy's own has no number
        raise StoreError(f"{path}: the vectors of a shard can't be written ({reason(error)}{full}); outputs=… on another disk would do") from error


def _mapped(path: str, shape: tuple[int, int]) -> Vectors:
    if not shape[0]:
        return np.zeros(shape, dtype=np.float32)
    try:
        found = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError) as error:
        raise StoreError(f"{path}: the vectors of a shard can't be read ({reason(error)}); outputs must lie where all machines see it") from error
    if found.shape != shape or found.dtype != np.float32:
        raise StoreError(f"{path}: found vectors of shape {found.shape} and type {found.dtype}, expected float32 of shape {shape}")
    return np.asarray(found)


class ShardFolder:
    """A folder for the files of one cell's shards under `root`, gone when nothing holds it any more; those of processes that were killed go when the
    next one is made. Whoever uses one holds a lock in it: numbers of processes mean nothing to another container."""

    def __init__(self, root: Path) -> None:
        try:
            root.mkdir(parents=True, exist_ok=True)
            _sweep(root)
            self.path = Path(tempfile.mkdtemp(prefix=f"{socket.gethostname()}-{os.getpid()}-", dir=root))
            held = FileLock(self.path / _HELD)
            held.acquire(timeout=0)
        except (OSError, Timeout, NotImplementedError) as error:  # the last: a file system without locks
            raise StoreError(f"{root}: can't be written ({reason(error)}); outputs=… in another place would do") from error
        weakref.finalize(self, _give_up, held, self.path)


def _give_up(held: BaseFileLock, place: Path) -> None:
    held.release()
    shutil.rmtree(place, ignore_errors=True)


def _sweep(root: Path) -> None:
    """Remove what killed processes left. A folder of this moment, whose lock is not there yet, stays."""
    for place in root.iterdir():
        lock = place / _HELD
        if not lock.exists():
            continue
        held = FileLock(lock)
        try:
            held.acquire(timeout=0)
        except (OSError, Timeout, NotImplementedError):
            continue
        _give_up(held, place)


@dataclass(frozen=True, eq=False)
class ShardedVectors:
    """The vectors of `len(place)` entries: entry e has row `place[e]` of `files`. Entries that read the same share a row, and rows stand in the
    order in which they are first needed. `folder` keeps the files there as long as this is held."""

    files: VectorFiles
    place: Ints
    folder: ShardFolder | None = None

    def __len__(self) -> int:
        return len(self.place)

    @property
    def shape(self) -> tuple[int, int]:
        """Of the matrix that they stand for."""
        return len(self.place), self.files.dim

    def __getitem__(self, rows: slice | Ints) -> Vectors:
        """Vectors of these entries, as an array has them."""
        place = self.place[rows]
        if len(place) and _follow(place):
            return self.files.slice(int(place[0]), int(place[-1]) + 1)
        return self.files.take(place)

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> npt.NDArray[Any]:
        """All of them in memory: for the one row in a million million that shares a hash with another."""
        return self.files.take(self.place).astype(np.float32 if dtype is None else dtype)


Rows = Vectors | ShardedVectors
"""Rows of numbers that can be taken by slices and by their places: an array, or what stands for one."""


def _follow(numbers: Ints) -> bool:
    return int(numbers[-1]) - int(numbers[0]) == len(numbers) - 1 and bool((np.diff(numbers) == 1).all())


def runs_of(numbers: Ints) -> Sequence[int] | Ints:
    """The same numbers as a range where they follow each other: what is sent to another process is then small."""
    return range(int(numbers[0]), int(numbers[-1]) + 1) if len(numbers) and _follow(numbers) else numbers
