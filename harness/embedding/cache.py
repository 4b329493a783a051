"""A cache of vectors on disk: one SQLite file an embedder identity, keyed by the digest of the token ids that the model read.

SQLite in WAL mode keeps whole transactions whatever dies, and lets processes write in turn. Each row carries a checksum over key and vector: a row
that changed on disk is dropped and computed again. A cache that can't be used is said so in the log and done without; it never stops a run.
"""

from __future__ import annotations

import logging
import os
import sqlite3
import time
import weakref
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from threading import RLock

import numpy as np

from harness.errors import StoreError
from harness.types import Bools, Vectors

_KEYS_AT_ONCE = 1000
_BUSY_SECONDS = 60.0
_FRESH_SECONDS = 3600
_FULL_SHARE = 0.8
_SCHEMA = """
CREATE TABLE IF NOT EXISTS vectors
    (id INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, used INTEGER NOT NULL, checksum INTEGER NOT NULL, value BLOB NOT NULL);
CREATE INDEX IF NOT EXISTS vectors_used ON vectors (used);
"""
_UNUSABLE = (sqlite3.Error, OSError, UnicodeDecodeError)
"""What a file that can't be used raises; where SQLite quotes the damage in its message, Python may fail to decode that."""
_log = logging.getLogger(__name__)


class VectorCache:
    """Vectors of `dim` float32 of the embedder `identity`, in a file under `folder`, kept below about `max_bytes`.

    When the file is full, the least recently used rows go until it is 80% full. Use is recorded to the hour. `damaged` counts rows that were found
    changed. `clock` gives seconds since 1970.
    """

    def __init__(self, folder: Path, identity: str, dim: int, *, max_bytes: int, clock: Callable[[], float] = time.time) -> None:
        self.path = Path(folder) / f"{identity[:40]}.sqlite"
        self.damaged = 0
        self._dim, self._max_bytes, self._clock = dim, max_bytes, clock
        self._lock, self._off = RLock(), False
        self._connection: sqlite3.Connection | None = None
        self._process = 0

    def find(self, keys: Sequence[bytes], out: Vectors) -> Bools:
        """Fill the rows of `out` (len(keys), dim) whose key is held and sound; which ones. 20,000 keys take about 0.1 s."""
        found = np.zeros(len(keys), dtype=bool)
        place = {key: number for number, key in enumerate(keys)}
        with self._guarded("read") as connection:
            if connection is not None:
                for start in range(0, len(keys), _KEYS_AT_ONCE):
                    self._find(connection, keys[start : start + _KEYS_AT_ONCE], place, found, out)
        return found

    def _find(self, connection: sqlite3.Connection, keys: Sequence[bytes], place: dict[bytes, int], found: Bools, out: Vectors) -> None:
        marks = ",".join("?" * len(keys))
        select = f"SELECT id, key, used, checksum, value FROM vectors WHERE key IN ({marks})"  # noqa: S608 (nothing but question marks)
        rows = connection.execute(select, keys).fetchall()
        sound = [row for row in rows if self._is_sound(row)]
        if sound:
            places = [place[row[1]] for row in sound]
            out[places] = np.frombuffer(b"".join(row[4] for row in sound), dtype="<f4").reshape(-1, self._dim)
            found[places] = True
        now = int(self._clock())
        stale = [(now, row[0]) for row in sound if row[2] < now - _FRESH_SECONDS]
        if stale:
            with _transaction(connection):
                connection.executemany("UPDATE vectors SET used = ? WHERE id = ?", stale)
        if len(sound) < len(rows):
            self._drop_damaged(connection, {row[0] for row in rows} - {row[0] for row in sound})

    def holds(self, keys: Sequence[bytes]) -> Bools:
        """Which keys have a row, sound or not. Reads no vector, is no use of one, and makes no file."""
        found = np.zeros(len(keys), dtype=bool)
        if self._connection is None and not self.path.is_file():
            return found
        place = {key: number for number, key in enumerate(keys)}
        with self._guarded("read") as connection:
            if connection is not None:
                for start in range(0, len(keys), _KEYS_AT_ONCE):
                    some = keys[start : start + _KEYS_AT_ONCE]
                    select = f"SELECT key FROM vectors WHERE key IN ({','.join('?' * len(some))})"  # noqa: S608 (nothing but question marks)
                    found[[place[row[0]] for row in connection.execute(select, some)]] = True
        return found

    def _is_sound(self, row: tuple[object, ...]) -> bool:
        """A byte that changed in SQLite's own headers can make any value of any other."""
        _, key, used, checksum, value = row
        whole = isinstance(key, bytes) and isinstance(used, int) and isinstance(value, bytes) and len(value) == 4 * self._dim
        return whole and _checksum(key, value) == checksum  # type: ignore[arg-type]  # mypy forgets what `whole` says

    def _drop_damaged(self, connection: sqlite3.Connection, ids: set[int]) -> None:
        self.damaged += len(ids)
        _log.warning("%s: %d cached vectors were damaged on disk; they are computed again", self.path, len(ids))
        with _transaction(connection):
            connection.executemany("DELETE FROM vectors WHERE id = ?", [(number,) for number in ids])

    def save(self, keys: Sequence[bytes], vectors: Vectors) -> None:
        """Keep a row of `vectors` (len(keys), dim) under each key, in one transaction, then make room where the file is over its bound."""
        now = int(self._clock())
        values = [row.tobytes() for row in np.ascontiguousarray(vectors, dtype="<f4")]
        rows = [(key, now, _checksum(key, value), value) for key, value in zip(keys, values, strict=True)]
        with self._guarded("written") as connection:
            if connection is None:
                return
            with _transaction(connection):
                connection.executemany(
                    "INSERT INTO vectors (key, used, checksum, value) VALUES (?, ?, ?, ?) ON CONFLICT (key) DO UPDATE "
                    "SET used = excluded.used, checksum = excluded.checksum, value = excluded.value",
                    rows,
                )
            if _bytes_in_use(connection) > self._max_bytes:
                _shrink(connection, int(self._max_bytes * _FULL_SHARE))

    def close(self) -> None:
        """Let go of the file; the next use opens it again."""
        with self._lock:
            if self._connection is not None and self._process == os.getpid():
                self._connection.close()
            self._connection = None

    @contextmanager
    def _guarded(self, done: str) -> Iterator[sqlite3.Connection | None]:
        """The connection, or None where the cache is out of use. An error, also inside the block, puts it out of use and is logged, once."""
        with self._lock:
            connection = self._connection_or_none(done)
            try:
                yield connection
            except _UNUSABLE as error:
                self._put_out_of_use(done, error)

    def _connection_or_none(self, done: str) -> sqlite3.Connection | None:
        try:
            return None if self._off else self._connect()
        except _UNUSABLE as error:
            self._put_out_of_use(done, error)
            return None

    def _put_out_of_use(self, done: str, error: Exception) -> None:
        self._off = True
        self.close()
        _log.warning("the cache of vectors %s can't be %s (%s); going on without it. If the file is damaged, delete it", self.path, done, error)

    def _connect(self) -> sqlite3.Connection:
        if self._connection is None or self._process != os.getpid():  # a connection must not cross a fork
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._connection, self._process = _open(self.path), os.getpid()
            weakref.finalize(self, _close, self._connection, self._process)  # at exit too: with the last connection the log goes into the file
        return self._connection


def _close(connection: sqlite3.Connection, process: int) -> None:
    if process == os.getpid():
        connection.close()


def _open(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False)
    try:
        connection.execute("PRAGMA page_size = 16384")
        _switch_to_wal(connection)
        connection.execute("PRAGMA synchronous = NORMAL")
        with _transaction(connection):
            for statement in filter(str.strip, _SCHEMA.split(";")):
                connection.execute(statement)
    except BaseException:
        connection.close()
        raise
    return connection


def _switch_to_wal(connection: sqlite3.Connection) -> None:
    """SQLite does not wait for other processes here, so this does."""
    deadline = time.monotonic() + _BUSY_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.02)


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def _checksum(key: bytes, value: bytes) -> int:
    return zlib.crc32(value, zlib.crc32(key))


def _bytes_in_use(connection: sqlite3.Connection) -> int:
    pages, free, size = (int(connection.execute(f"PRAGMA {name}").fetchone()[0]) for name in ("page_count", "freelist_count", "page_size"))
    return (pages - free) * size


def _shrink(connection: sqlite3.Connection, max_bytes: int) -> None:
    """Delete the least recently used rows, in batches, until at most `max_bytes` are in use."""
    while (excess := _bytes_in_use(connection) - max_bytes) > 0:
        rows, value = connection.execute("SELECT count(*), max(length(value)) FROM vectors").fetchone()
        if not rows:
            return
        batch = max(min(excess // (value + 100), _KEYS_AT_ONCE * 10), 1)
        with _transaction(connection):
            connection.execute("DELETE FROM vectors WHERE id IN (SELECT id FROM vectors ORDER BY used, id LIMIT ?)", (batch,))


def prune(folder: Path, max_bytes: int) -> int:
    """Bring all the caches under `folder` down to `max_bytes` on disk, those first that were written longest ago; bytes freed.

    An emptied file keeps about 60 KB. Raises StoreError where a file can't be changed.
    """
    files = sorted(Path(folder).glob("*.sqlite"), key=lambda path: path.stat().st_mtime)
    before = total = sum(path.stat().st_size for path in files)
    for path in files:
        if total <= max_bytes:
            break
        size = path.stat().st_size
        _shrink_file(path, max(size - (total - max_bytes), 0))
        total += path.stat().st_size - size
    return before - total


def _shrink_file(path: Path, max_bytes: int) -> None:
    try:
        with closing(_open(path)) as connection:
            _shrink(connection, max_bytes)
            connection.execute("VACUUM")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    except _UNUSABLE as error:
        raise StoreError(f"{path}: can't be pruned ({error}); if the file is damaged, delete it") from error
