"""Cells side by side in processes of this machine, on loky, the process pool of joblib.

Each process has a pool of its own, so that one that dies (killed, out of memory) takes nothing with it but the group it had, which is tried again;
and so that each has its own GPU, or its own share of the cores.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass
from typing import Any

from harness.course import Outcome
from harness.errors import ConfigError
from harness.hydra_front.launching.base import Job, Place, ShardWorkers, job_of, library, whole_number
from harness.hydra_front.launching.worker import child, work
from harness.planned import Planned
from harness.workers import CORES, cores

_THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "RAYON_NUM_THREADS")


@dataclass
class _Task:
    """A group of cells, and how often its process died."""

    job: Job
    plans: Sequence[Planned]
    deaths: int = 0


class JoblibExecutor:
    """`n_jobs` processes (None: one a GPU, or half the cores where there is none); a group whose process dies is tried `retries` times more."""

    def __init__(self, place: Place, n_jobs: int | None = None, retries: int = 2) -> None:
        self._loky = library("joblib.externals.loky", "joblib")
        self._place, self._retries = place, whole_number("hydra.launcher.retries", retries, 0)
        self.width = max(len(_gpus()) or cores() // 2, 1) if n_jobs is None else whole_number("hydra.launcher.n_jobs", n_jobs, 1)
        self._pools: dict[int, Any] = {}

    def run(self, groups: Sequence[Sequence[Planned]], begun: Callable[[Planned], None]) -> Generator[Outcome, None, None]:
        """Keep every process busy with one group; see Executor."""
        waiting = deque(_Task(job_of(self._place, plans), plans) for plans in groups)
        free = list(range(min(self.width, len(waiting))))[::-1]
        running: dict[Future[list[Outcome]], tuple[int, _Task]] = {}
        try:
            while waiting or running:
                while waiting and free:
                    slot, task = free.pop(), waiting.popleft()
                    running[self._pool(slot).submit(work, task.job)] = (slot, task)
                    for plan in task.plans:
                        begun(plan)
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    slot, task = running.pop(future)
                    free.append(slot)
                    yield from self._ended(future, slot, task, waiting)
        finally:
            if running:
                self.close()

    def _ended(self, future: Future[list[Outcome]], slot: int, task: _Task, waiting: deque[_Task]) -> Sequence[Outcome]:
        error = future.exception()
        if error is None:
            return future.result()
        self._drop(slot)
        if not isinstance(error, self._loky.process_executor.BrokenProcessPool):
            return task.job.lost(f"{type(error).__name__}: {error}")
        task.deaths += 1
        if task.deaths > self._retries:
            return task.job.lost(f"its process died {task.deaths} times (killed, or out of memory); fewer of them: hydra.launcher.n_jobs=1")
        waiting.appendleft(task)
        return []

    def shard_workers(self, count: int) -> ShardWorkers:
        """None: processes of one machine share its memory and its disk."""
        raise ConfigError("shards", count, "are spread over a Ray cluster (hydra/launcher=ray), or worked on one by one here (no hydra/launcher)")

    def close(self) -> None:
        """End the processes, at once."""
        for slot in list(self._pools):
            self._drop(slot)

    def _pool(self, slot: int) -> Any:
        if slot not in self._pools:
            self._pools[slot] = self._loky.ProcessPoolExecutor(1, initializer=child, env=_environment(slot, self.width))
        return self._pools[slot]

    def _drop(self, slot: int) -> None:
        pool = self._pools.pop(slot, None)
        if pool is not None:
            pool.shutdown(wait=True, kill_workers=True)


def _environment(slot: int, width: int) -> dict[str, str]:
    """The share of one process of `width`: set before it loads any library, since most look only once."""
    gpus = _gpus()
    share = str(max(cores() // width, 1))
    shares = {CORES: share, **dict.fromkeys(_THREADS, share)}
    return {**shares, "CUDA_VISIBLE_DEVICES": gpus[slot % len(gpus)]} if gpus else shares


def _gpus() -> list[str]:
    """The CUDA devices that this process sees, as CUDA_VISIBLE_DEVICES names them."""
    import torch

    named = [name for name in os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",") if name]
    return named or [str(number) for number in range(torch.cuda.device_count())] if torch.cuda.is_available() else []
