"""What the rows of faults.py share: a small sweep that is run in processes of its own, and the one comparison by which a row counts.

Processes are forked from this one, which has imported everything already: a run then costs what the sweep costs, and can still be killed, stopped or
starved like any other.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]
MAY_DIFFER = ("seconds_", "embedded_tokens", "cached_tokens")
"""Times, and what came from a cache: all else must be equal."""
QUICK = ("embedder=hashing", "unit=words", "budget.tokenizer=words", "scoring.resamples=60", "report=false", "tracking=files")
GRID = ("-m", "strategy=fixed,recursive", "size=12,24,40")
SECONDS = 120


@dataclass(frozen=True)
class Row:
    """One line of the table. `equal`: whether the restarted run came out as an uninterrupted one; None where nothing is there to compare."""

    fault: str
    how: str
    seen: str
    equal: bool | None
    problems: tuple[str, ...] = ()

    @property
    def good(self) -> bool:
        return self.equal is not False and not self.problems


@dataclass
class Ran:
    """How a process ended and what it said; `status` is negative where a signal ended it."""

    status: int
    out: str
    err: str
    seconds: float = 0.0

    @property
    def trouble(self) -> list[str]:
        """What no person should ever see."""
        found = [word for word in ("Traceback", "Logging error", "Error in sys.excepthook") if word in self.err + self.out]
        return [f"{found[0]} shown: {_last_line(self.err)}"] if found else []


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:200] if lines else ""


@dataclass
class Process:
    """`chunk-sweep WORDS` in a forked process, the leader of a group of its own."""

    pid: int
    folder: Path
    began: float = field(default_factory=time.monotonic)

    def ended(self) -> bool:
        """Whether it is over; does not take it away."""
        return os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None

    def kill(self, number: int = signal.SIGKILL) -> None:
        """The whole group, workers too."""
        with suppress(ProcessLookupError):
            os.killpg(self.pid, number)

    def wait(self, seconds: float = SECONDS) -> Ran:
        """How it came out. A hang is killed and told as such."""
        until = time.monotonic() + seconds
        while not self.ended() and time.monotonic() < until:
            time.sleep(0.005)
        hung = not self.ended()
        if hung:
            self.kill()
        _, code = os.waitpid(self.pid, 0)
        status = os.waitstatus_to_exitcode(code)
        out, err = ((self.folder / name).read_text(encoding="utf-8", errors="replace") for name in ("out", "err"))
        shutil.rmtree(self.folder)
        return Ran(status, out, err + ("\nTraceback: it hung" if hung else ""), time.monotonic() - self.began)


def start(scratch: Path, *words: str, first: Callable[[], Any] | None = None) -> Process:
    """Begin; `first` is called in the new process before anything else. What it says goes to files under `scratch`."""
    folder = scratch / f"said-{time.monotonic_ns()}"
    folder.mkdir(parents=True)
    if pid := os.fork():
        return Process(pid, folder)
    status = 1
    try:
        os.setsid()
        for number, name in ((1, "out"), (2, "err")):
            os.dup2(os.open(folder / name, os.O_WRONLY | os.O_CREAT), number)
        status = _inside(words, first)
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def _inside(words: tuple[str, ...], first: Callable[[], Any] | None) -> int:
    sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
    sys.stderr = os.fdopen(2, "w", encoding="utf-8", closefd=False, buffering=1)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.argv = ["chunk-sweep"]
    try:
        if first is not None:
            first()
        from harness.cli.main import main

        return main(list(words))
    except SystemExit as ended:
        return int(ended.code or 0)
    except BaseException:  # noqa: BLE001  whatever escapes is what this looks for
        traceback.print_exc()
        return 1


class Bench:
    """One small sweep: its words, what it gives when nothing happens, and room for what is tried."""

    def __init__(self, scratch: Path, *words: str) -> None:
        from front_cases import write_corpus

        self.scratch = scratch
        self.corpus = write_corpus(scratch / "harbour", documents=4)
        self.words = ("run", *QUICK, "dataset=folder", f"dataset.path={self.corpus}", *words)
        self.seconds = 0.0
        self._whole: dict[str, Any] | None = None

    @property
    def whole(self) -> dict[str, Any]:
        """What an uninterrupted run gives."""
        if self._whole is None:
            ran = self.run(outputs := self.scratch / "whole")
            assert ran.status == 0, ran.err
            self.seconds, self._whole = ran.seconds, results(outputs)
            assert len(self._whole["cells"]) >= 2
        return self._whole

    def start(self, outputs: Path, *more: str, first: Callable[[], Any] | None = None) -> Process:
        return start(self.scratch, *_without(self.words, more), f"outputs={outputs}", *more, first=first)

    def run(self, outputs: Path, *more: str, first: Callable[[], Any] | None = None, seconds: float = SECONDS) -> Ran:
        return self.start(outputs, *more, first=first).wait(seconds)

    def again(self, outputs: Path, *more: str) -> list[str]:
        """What is wrong after the same command was run once more in peace: nothing, if nothing was lost."""
        ran = self.run(outputs, *more)
        found = ran.trouble + ([f"status {ran.status}: {_last_line(ran.err)}"] if ran.status else [])
        return found + differences(self.whole, results(outputs))

    @contextmanager
    def room(self) -> Iterator[Path]:
        """A folder for the outputs of one try."""
        place = self.scratch / f"try-{time.monotonic_ns()}"
        try:
            yield place
        finally:
            shutil.rmtree(place, ignore_errors=True)


def _without(words: tuple[str, ...], more: tuple[str, ...]) -> list[str]:
    """`words` but for the keys that `more` sets again."""
    keys = {word.split("=")[0] for word in more}
    return [word for word in words if word.split("=")[0] not in keys]


def results(outputs: Path) -> dict[str, Any]:
    """Everything measured under `outputs`, without times: metrics and tables by cell key, leaderboards by sweep."""
    cells: dict[str, Any] = {}
    for path in sorted(outputs.glob("cells/*/result.json")):
        record = json.loads(path.read_text(encoding="utf-8"))
        record["metrics"] = {name: value for name, value in record["metrics"].items() if not name.startswith(MAY_DIFFER)}
        del record["corpus"]["name"]  # it is what a person calls it, and part of no key
        cells[path.parent.name] = (record, pd.read_parquet(path.parent / "questions.parquet").to_json(double_precision=15))
    boards = {path.parent.name: _board(path) for path in sorted(outputs.glob("sweeps/*/leaderboard.csv"))}
    return {"cells": cells, "boards": boards}


def _board(path: Path) -> str:
    frame = pd.read_csv(path, dtype=str)
    return str(frame.drop(columns=[name for name in frame.columns if name.startswith(MAY_DIFFER)]).to_csv(index=False))


def differences(whole: dict[str, Any], found: dict[str, Any]) -> list[str]:
    """How `found` differs from `whole`, in words; empty where they are equal. Cells and boards beyond those of `whole` are of no account."""
    told = []
    for kind in ("cells", "boards"):
        for name, value in whole[kind].items():
            if name not in found[kind]:
                told.append(f"{kind}: {name} is missing")
            elif found[kind][name] != value:
                told.append(f"{kind}: {name} differs")
    return told


def digest(outputs: Path) -> str:
    """A digest of `results`, for the log of the script."""
    return hashlib.sha256(json.dumps(results(outputs), sort_keys=True, default=str).encode()).hexdigest()[:12]
