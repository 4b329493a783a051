"""Disks that fill up, and disks that can't be written."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from fault_bench import Bench, Ran, Row, start

_SHARES = (0.02, 0.1, 0.25, 0.4, 0.55, 0.7, 0.85, 0.97)
"""How much of what a whole run writes the disk has room for."""


@contextmanager
def disk(place: Path, size: int) -> Iterator[Callable[[str], bool]]:
    """A file system of `size` bytes at `place`; gives what changes its options. Raises OSError where the machine does not allow it."""
    place.mkdir(parents=True)

    def mount(options: str) -> bool:
        return subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(place)], capture_output=True, check=False).returncode == 0

    if os.name != "posix" or not mount(f"size={size}"):
        raise OSError("no file system of one's own without root on Linux")
    try:
        yield lambda options: mount(f"remount,{options}")
    finally:
        subprocess.run(["umount", "-l", str(place)], capture_output=True, check=False)


def told_in_a_line(ran: Ran) -> list[str]:
    """A disk that is full must be told, and a command that did not do its work must not say that it did."""
    said = ran.out + ran.err
    clear = any(word in said for word in ("No space left", "can't be written", "can't write", "disk is full"))
    return ran.trouble + ([] if ran.status == 0 or clear else ["failed without saying why"])


def full(bench: Bench) -> Iterator[Row]:
    """A disk with room for a share of what a run writes, so that it is full in the cache, a ranking, a cell, the sweep's files; then more room."""
    _ = bench.whole
    whole = bench.scratch / "whole"
    for tracking, needed in (("files", _bytes(whole)), ("mlflow", _bytes(whole) + _store(bench))):
        problems, statuses, where = [], [], set()
        for share in _SHARES:
            place = bench.scratch / f"disk-{tracking}-{share}"
            try:
                with disk(place, int(needed * share) // 4096 * 4096 + 8192) as change:
                    ran = bench.run(place, f"tracking={tracking}", first=_prepared(bench, place, tracking))
                    statuses.append(ran.status)
                    where |= _what_failed(ran)
                    problems += [f"room for {share:.0%}: {line}" for line in told_in_a_line(ran)]
                    change(f"size={needed * 4 + 2**26}")
                    problems += [f"room for {share:.0%}: {line}" for line in bench.again(place, f"tracking={tracking}")]
            except OSError as error:
                yield Row("disk full", "a small file system of its own", f"not tried here: {error}", None)
                return
        seen = f"statuses {statuses}; told for {', '.join(sorted(where))}; no traceback"
        shares = ", ".join(f"{share:.0%}" for share in _SHARES)
        how = f"tracking={tracking}, room for {shares} of what the sweep writes; then with room"
        yield Row("disk full", how, seen, not problems, tuple(problems))


def _prepared(bench: Bench, place: Path, tracking: str) -> Callable[[], None]:
    """To make a new store of MLflow takes seconds: a ready one is put there, as far as there is room."""

    def copy() -> None:
        if tracking == "mlflow":
            try:
                shutil.copy(empty_store(bench) / "mlflow.db", place / "mlflow.db")
            except OSError:
                (place / "mlflow.db").unlink(missing_ok=True)

    return copy


def empty_store(bench: Bench) -> Path:
    """A folder with a new store of MLflow, made once."""
    place = bench.scratch / "store"
    if not (place / "mlflow.db").exists():
        ran = bench.run(place, "tracking=mlflow", FEW, seconds=300)
        assert ran.status == 0, ran.err
        with closing(sqlite3.connect(place / "mlflow.db")) as connection:  # so that the file alone is all of it
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return place


FEW = "dataset.documents=1"


def _store(bench: Bench) -> int:
    return _bytes(empty_store(bench)) * 2


def _bytes(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def _what_failed(ran: Ran) -> set[str]:
    names = {"/cells/": "cells", "/rankings/": "rankings", "/sweeps/": "the sweep's files", "cache of vectors": "the cache", "not tracked": "MLflow"}
    return {name for sign, name in names.items() if sign in ran.err + ran.out}


def read_only(bench: Bench) -> Iterator[Row]:
    """Outputs that can't be written: from the start, and from the middle of the sweep on."""
    _ = bench.whole
    problems, said = [], ""
    place = bench.scratch / "readonly"
    try:
        with disk(place, 2**26) as change:
            change("ro")
            ran = bench.run(place)
            said = ran.err.strip()
            problems += ran.trouble + ([] if ran.status == 2 and len(said.splitlines()) == 1 else [f"status {ran.status}, {said!r}"])
            change("rw")
            problems += bench.again(place)
            change("ro")
            ran = bench.run(place, "rerun=true")
            problems += ran.trouble + ([] if ran.status == 2 else [f"status {ran.status}"])
            change("rw")
            problems += bench.again(place)
    except OSError as error:
        yield Row("outputs read-only", "a file system remounted read-only", f"not tried here: {error}", None)
        return
    yield Row("outputs read-only", "a file system mounted read-only, before the first sweep and after it", "one line, status 2, before any work",
              not problems, tuple(problems))  # fmt: skip
    report = start(bench.scratch, "report", "list", "--outputs", str(bench.scratch / "whole")).wait()
    assert report.status == 0, report.err
