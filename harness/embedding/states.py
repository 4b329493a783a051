"""Token states of whole documents, kept on disk for every strategy, size and overlap of a sweep: one file a document.

A file is written beside its place and renamed, so it is there whole or not at all, whoever dies or writes meanwhile; its checksum covers all of it,
and one that is damaged is dropped and made again. States are float16 and mapped into memory, not read. A folder that can't be used is said so in the
log and done without.
"""

from __future__ import annotations

import logging
import mmap
import os
import struct
import time
import uuid
import zlib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from harness.embedding.pooling import DocumentStates
from harness.embedding.state_store import StateStore
from harness.errors import StoreError

_MAGIC = b"states-1"
_HEADER = struct.Struct("<8sQQQQQ")
_SUFFIX, _DRAFT = ".states", ".draft"
_DRAFT_SECONDS = 3600
_SCAN_SECONDS = 60
_FULL_SHARE = 0.8
_log = logging.getLogger(__name__)


class MemoryStates:
    """What `disk` has no room for stays in memory, up to about `max_bytes`; what is past that is not kept.

    Cells of a sweep ask for all documents in turn, so nothing goes to make room for another: a store that forgot what was used longest ago would
    never have what is asked for next.
    """

    def __init__(self, disk: StateStore, max_bytes: int) -> None:
        self._disk, self._max_bytes, self._bytes = disk, max_bytes, 0
        self._held: dict[str, DocumentStates] = {}

    def find(self, key: str) -> DocumentStates | None:
        """What either holds."""
        return self._held.get(key) or self._disk.find(key)

    def holds(self, key: str) -> bool:
        """Whether either has it."""
        return key in self._held or self._disk.holds(key)

    def save(self, key: str, states: DocumentStates) -> None:
        """Keep it on disk, else in memory."""
        self._disk.save(key, states)
        if self._bytes + states.nbytes <= self._max_bytes and key not in self._held and self._disk.find(key) is None:
            self._held[key] = states
            self._bytes += states.nbytes


class DiskStates:
    """A file a document under `folder`/`identity`; all the identities in `folder` together stay below `max_bytes`.

    Where a document has no room, files go that nobody has used since this store was opened, those used longest ago first, until a fifth is free;
    where that is not enough, the document is not kept, and `refused` counts it. `damaged` counts files that were found changed.
    """

    def __init__(self, folder: Path, identity: str, *, max_bytes: int) -> None:
        self.folder, self.damaged, self.refused = Path(folder), 0, 0
        self._own, self._max_bytes, self._opened = self.folder / identity[:40], max_bytes, time.time()
        self._sound: set[tuple[str, int, int]] = set()
        self._total, self._scanned, self._exhausted = 0, -float("inf"), False
        self._off = max_bytes <= 0

    def find(self, key: str) -> DocumentStates | None:
        """The states under `key`, mapped from their file. Its checksum is verified when this process meets the file first."""
        if self._off:
            return None
        path = self._path(key)
        try:
            with path.open("rb") as file:
                stat = os.fstat(file.fileno())
                raw = np.frombuffer(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ), dtype=np.uint8)
            mark = (key, stat.st_ino, stat.st_size)
            found = _read(raw, verify=mark not in self._sound)
            if mark not in self._sound:
                self._sound.add(mark)
                with suppress(OSError):  # where only reading is allowed, nobody prunes either
                    os.utime(path)
            return found
        except FileNotFoundError:
            return None
        except OSError as error:
            self._put_out_of_use(error)
        except ValueError as error:
            self._drop(path, error)
        return None

    def holds(self, key: str) -> bool:
        """Whether there is a file for `key`."""
        return not self._off and self._path(key).is_file()

    def save(self, key: str, states: DocumentStates) -> None:
        """Keep `states` under `key`."""
        if self._off:
            return
        path, size = self._path(key), _HEADER.size + states.nbytes
        try:
            if not self._make_room(size):
                self.refused += 1
                return
            path.parent.mkdir(parents=True, exist_ok=True)
            _write(path, states)
            self._total += size
        except OSError as error:
            self._put_out_of_use(error)

    def _put_out_of_use(self, error: OSError) -> None:
        self._off = True
        _log.warning("token states can't be kept in %s (%s); going on without it", self.folder, error)

    def _path(self, key: str) -> Path:
        return self._own / key[:2] / f"{key}{_SUFFIX}"

    def _drop(self, path: Path, error: Exception) -> None:
        self.damaged += 1
        _log.warning("%s: token states can't be used (%s); they are computed again", path, error)
        try:
            path.unlink(missing_ok=True)
        except OSError as problem:
            self._put_out_of_use(problem)

    def _make_room(self, size: int) -> bool:
        """Whether `size` bytes more are within the bound, after dropping what is old where they are not."""
        now, bound = time.monotonic(), self._max_bytes - size
        if now - self._scanned > _SCAN_SECONDS or (self._total > bound and not self._exhausted):
            self._total, self._scanned = sum(kept.size for kept in _files(self.folder)), now
            excess = self._total - bound
            if excess > 0 and bound >= 0:
                wanted = excess + int((1 - _FULL_SHARE) * self._max_bytes)
                freed = _drop_oldest(self.folder, wanted, before=self._opened)
                self._total -= freed
                self._exhausted = freed < wanted
        return self._total <= bound


@dataclass(frozen=True, slots=True)
class _Kept:
    path: Path
    size: int
    used: float


def _read(raw: npt.NDArray[np.uint8], *, verify: bool) -> DocumentStates:
    """Raises ValueError where the bytes are not those that were written."""
    if len(raw) < _HEADER.size:
        raise ValueError("cut short")
    magic, tokens, width, windows, around, checksum = _HEADER.unpack(raw[: _HEADER.size].tobytes())
    sizes = [2 * tokens * width, 4 * windows * width, 4 * tokens, 4 * tokens]
    if magic != _MAGIC or len(raw) != _HEADER.size + sum(sizes):
        raise ValueError("another format, or cut short")
    if verify and _checksum(_HEADER.pack(magic, tokens, width, windows, around, 0), raw[_HEADER.size :]) != checksum:
        raise ValueError("the checksum is wrong")
    states, rest, start, end = np.split(raw[_HEADER.size :], np.cumsum(sizes)[:-1])
    shaped = states.view("<f2").reshape(tokens, width), rest.view("<f4").reshape(windows, width)
    return DocumentStates(start.view("<i4"), end.view("<i4"), shaped[0], shaped[1], around)


def _write(path: Path, states: DocumentStates) -> None:
    kinds = {"states": "<f2", "rest": "<f4", "start": "<i4", "end": "<i4"}
    arrays = [np.ascontiguousarray(getattr(states, name), dtype=kind).reshape(-1).view(np.uint8) for name, kind in kinds.items()]
    head = (_MAGIC, *states.states.shape, len(states.rest), states.around)
    checksum = _checksum(_HEADER.pack(*head, 0), *arrays)
    draft = path.with_name(f"{path.stem}.{uuid.uuid4().hex}{_DRAFT}")
    try:
        with draft.open("wb") as file:
            file.write(_HEADER.pack(*head, checksum))
            for array in arrays:
                file.write(array.data)
        os.replace(draft, path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


def _checksum(head: bytes, *arrays: npt.NDArray[np.uint8]) -> int:
    found = zlib.crc32(head)
    for array in arrays:
        found = zlib.crc32(array.data, found)
    return found


def _files(folder: Path) -> Iterator[_Kept]:
    """What lies under `folder`, drafts of writers that may have died included."""
    for path in folder.glob("*/*/*"):
        if path.suffix in (_SUFFIX, _DRAFT):
            try:
                stat = path.stat()
            except FileNotFoundError:
                continue
            yield _Kept(path, stat.st_size, stat.st_mtime)


def _drop_oldest(folder: Path, excess: int, *, before: float) -> int:
    """Delete files last used before the time `before`, those used longest ago first, until `excess` bytes are free; drafts that nobody can be writing
    any more go in any case. Bytes freed."""
    freed, now = 0, time.time()
    for kept in sorted(_files(folder), key=lambda kept: (kept.path.suffix == _SUFFIX, kept.used)):
        stale = kept.path.suffix == _DRAFT and kept.used < now - _DRAFT_SECONDS
        if stale or (kept.path.suffix == _SUFFIX and kept.used < before and freed < excess):
            kept.path.unlink(missing_ok=True)
            freed += kept.size
    return freed


def prune_states(folder: Path, max_bytes: int) -> int:
    """Bring the token states of all models under `folder` down to `max_bytes` on disk, those used longest ago first; bytes freed.

    Raises StoreError where a file can't be deleted.
    """
    try:
        total = sum(kept.size for kept in _files(Path(folder)))
        return _drop_oldest(Path(folder), total - max_bytes, before=float("inf"))
    except OSError as error:
        raise StoreError(f"{folder}: can't be pruned ({error})") from error
