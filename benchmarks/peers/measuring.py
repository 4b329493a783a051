"""A command as a process of its own: how long it took, and the most memory that it and its children held at one moment."""

from __future__ import annotations

import os
import subprocess
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import psutil

_EVERY_SECONDS = 0.2
_OFFLINE = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1"}


class Spent(NamedTuple):
    """Wall seconds and CPU seconds of the process tree, and its peak memory in bytes (shared pages counted once, on Linux)."""

    seconds: float
    cpu: float
    peak: int


def measured(command: Sequence[str], log: Path) -> Spent:
    """Run `command` to its end in the folder of `log`, which gets its output. SystemExit with the end of the log where it fails.

    CPU seconds are those of a waited-for child and its waited-for children; they tell a slow program from a busy machine.
    """
    began, before = time.perf_counter(), os.times()
    with log.open("w") as output:
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, env={**os.environ, **_OFFLINE}, cwd=log.parent)
        done, peak = threading.Event(), [0]
        watcher = threading.Thread(target=_watch, args=(process.pid, done, peak))
        watcher.start()
        status = process.wait()
        seconds, after = time.perf_counter() - began, os.times()
        done.set()
        watcher.join()
    if status:
        raise SystemExit(f"{' '.join(command[:4])} … ended with status {status}; the end of {log}:\n{log.read_text()[-2000:]}")
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return Spent(seconds, cpu, peak[0])


def _watch(pid: int, done: threading.Event, peak: list[int]) -> None:
    while not done.wait(_EVERY_SECONDS):
        peak[0] = max(peak[0], _memory(pid))


def _memory(pid: int) -> int:
    """The proportional set size of the process and all below it; the resident size where the system has no such thing."""
    total = 0
    try:
        family = [psutil.Process(pid), *psutil.Process(pid).children(recursive=True)]
    except psutil.Error:
        return 0
    for process in family:
        try:
            found = process.memory_full_info()
            total += getattr(found, "pss", found.rss)
        except psutil.Error:  # it ended between being listed and being asked
            continue
    return total
