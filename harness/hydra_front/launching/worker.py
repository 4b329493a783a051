"""The other end: a process that builds cells from their configuration, runs them with the runner that every sweep has, and says how they ended.

Results go to the files under outputs; what is sent back is small. Trackers are told by the process that asked.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
import time
import traceback
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from omegaconf import OmegaConf

from harness.course import Failure, Impossible, Outcome
from harness.errors import ConfigError, HarnessError, StoreError, reason
from harness.hydra_front.build import plan_cell
from harness.hydra_front.launching.base import Job, Place, Settled
from harness.hydra_front.workshop import Workshop
from harness.planned import Planned
from harness.redaction import redacted
from harness.runner import Runner
from harness.tracking.base import SweepInfo
from harness.tracking.silent import FilesOnly
from harness.types import Cell, CellResult
from harness.workers import CORES

_SECONDS_BETWEEN_LOOKS = 1.0


def child() -> None:
    """Make this process one that lives and dies with its parent. Ctrl-C in a terminal reaches every process; what becomes of the work is the parent's
    to decide. Where the parent is killed this one ends too: what it has not written is lost, as in the parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_SECONDS_BETWEEN_LOOKS)
    os._exit(1)


def work(job: Job) -> list[Outcome]:
    """Run the cells of `job`; one outcome each. Whatever a part raises is told, not raised."""
    plans: list[Planned] = []
    outcomes: list[Outcome] = []
    for cell, key in zip(job.cells, job.keys, strict=True):
        try:
            plans.append(_planned(cell, key, job))
        except (Exception, SystemExit) as error:  # noqa: BLE001  whatever a part raises when it is built
            outcomes.append(_failed(key, reason(error), isinstance(error, HarnessError), "".join(traceback.format_exception(error))))
    return [*outcomes, *(_run(plans, job) if plans else [])]


def _run(plans: Sequence[Planned], job: Job) -> list[Outcome]:
    traces: list[str] = []
    runner = Runner(job.place.outputs, FilesOnly(), _Silent(), job.place.rerun, lambda cell, trace: traces.append(trace))
    run = runner.run(plans, SweepInfo("", "", plans[0].experiment.corpus, len(plans), ""))
    why = {id(failure.cell): (failure, trace) for failure, trace in zip(run.failures, traces, strict=True)}
    outcomes = []
    for plan in plans:
        failure, trace = why.get(id(plan.cell), (None, ""))
        outcomes.append(Outcome(plan.key) if failure is None else _failed(plan.key, failure.problem, failure.expected, trace))
    outcomes[0] = replace(outcomes[0], prepared=tuple(run.prepared), searched=tuple(run.searched))
    return outcomes


def _failed(key: str, problem: str, expected: bool, trace: str) -> Outcome:
    return Outcome(key, redacted(problem), expected, redacted(f"in process {os.getpid()} of {socket.gethostname()}\n{trace}"))


def _planned(cell: Cell, key: str, job: Job) -> Planned:
    settle(job)
    plan = plan_cell(OmegaConf.create(dict(cell.config)), cell.config["choices"], workshop(job.place, job.cache))
    if isinstance(plan, Impossible):
        raise ConfigError("cell", cell.label, plan.reason)
    if plan.key != key:
        raise StoreError(f"{machine()} makes another cell of it: its code, libraries, weights or data are not those here; install the same")
    return replace(plan, cell=cell)


def settle(job: Settled) -> None:
    """Relative paths and a person's own modules are found as they are where the command was typed."""
    try:
        os.chdir(job.folder)
    except OSError as error:
        raise StoreError(f"{machine()} has no folder {job.folder}; start the command in one that all machines share") from error
    sys.path += [path for path in job.paths if path not in sys.path]
    if job.cores is not None:
        os.environ[CORES] = str(job.cores)


def machine() -> str:
    """The name of this machine."""
    return socket.gethostname()


def workshop(place: Place, cache: str | None) -> Workshop:
    """Kept from job to job, so that a process loads a model and a corpus once."""
    return _workshop(place.outputs, place.cache_gigabytes, cache)


@lru_cache(maxsize=2)
def _workshop(outputs: Path, cache_gigabytes: float, cache: str | None) -> Workshop:
    return Workshop(outputs, cache_gigabytes, None if cache is None else _own_folder(Path(cache)))


def _own_folder(place: Path) -> Path:
    """`place`, which may lie where everybody can write: what another person put there is not trusted."""
    place.mkdir(parents=True, exist_ok=True, mode=0o700)
    if hasattr(os, "getuid") and place.stat().st_uid != os.getuid():
        raise StoreError(f"{place} on {socket.gethostname()} is another person's; hydra.launcher.cache=… names a folder of your own")
    return place


class _Silent:
    """A listener of a process that nobody watches."""

    def sweep_started(self, cells: int) -> None: ...

    def cell_started(self, cell: Cell) -> None: ...

    def stage(self, name: str) -> None: ...

    def tokens(self, done: int, total: int) -> None: ...

    def cell_finished(self, result: CellResult, reused: bool) -> None: ...

    def cell_failed(self, failure: Failure) -> None: ...

    def warn(self, line: str) -> None: ...
