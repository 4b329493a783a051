"""Arrays that may be larger than memory: from `LARGE` bytes on they lie in a file that is mapped into memory.

The operating system writes their pages to that file, and gives the memory away, when something else needs it. The file has no name (on Windows, where
that can't be, it is deleted with the last that holds it), so no way to die leaves anything behind.
"""

from __future__ import annotations

import mmap
import os
import tempfile
from math import prod
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from harness.errors import StoreError

LARGE = 128 * 2**20
"""Bytes from which on an array lies in a file."""

_folder: list[Path] = []


def use(folder: Path) -> None:
    """Put such files into `folder`, made when it is first needed; without this they go to the system's folder for temporary files, which on some
    systems is memory itself."""
    _folder[:] = [folder]


def room(shape: tuple[int, ...], dtype: npt.DTypeLike = np.float32) -> npt.NDArray[Any]:
    """An array to be filled: anything may be in it. Raises StoreError where the disk has no room for it."""
    size = prod(shape) * np.dtype(dtype).itemsize
    if size < LARGE:
        return np.empty(shape, dtype)
    with spool() as file:  # the mapping holds it, though it is closed here
        try:
            _reserve(file, size)
            return np.memmap(file, dtype=dtype, mode="r+", shape=shape).view(np.ndarray)
        except OSError as error:
            raise _refused(f"{size / 1e9:.1f} GB", error) from error


def release(rows: npt.NDArray[Any]) -> None:
    """Give the memory of a mapped array back at once, rather than when something else needs it: what was written stays in the file, and comes back
    when it is read. For loops that go through more than they should keep; of an array in memory nothing happens."""
    base: Any = rows
    while isinstance(base, np.ndarray):
        base = base.base
    if isinstance(base, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED"):
        base.madvise(mmap.MADV_DONTNEED)


def spool() -> IO[bytes]:
    """A file without a name, to write to and read from. Raises StoreError where there can be none."""
    place = _folder[0] if _folder else None
    try:
        if place is not None:
            place.mkdir(parents=True, exist_ok=True)
        return tempfile.TemporaryFile(dir=place, prefix="chunk-sweep-")
    except OSError as error:
        raise _refused("a file", error) from error


def _reserve(file: IO[bytes], size: int) -> None:
    """Take the room now: were it missing only when a page is written, the process would be killed without a word (SIGBUS)."""
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(file.fileno(), 0, size)
    else:
        file.truncate(size)


def _refused(what: str, error: OSError) -> StoreError:
    place = _folder[0] if _folder else Path(tempfile.gettempdir())
    return StoreError(f"{place}: has no room for {what} of scratch ({error.strerror or error}); outputs=… on another disk would do")
