"""Cells on a Ray cluster: the way past one machine. A group of cells is a task, run again where its process or machine dies."""

from __future__ import annotations

import getpass
import logging
import os
import socket
import tempfile
from collections.abc import Callable, Generator, Sequence
from contextlib import suppress
from typing import Any

from harness.course import Outcome
from harness.errors import ConfigError, StoreError, reason
from harness.hydra_front.launching.base import Job, Place, job_of, library, whole_number
from harness.hydra_front.launching.ray_shards import RayShards
from harness.hydra_front.launching.worker import work
from harness.planned import Planned

_SECONDS_TO_ANSWER = 10.0


class RayExecutor:
    """Tasks of `cpus` cores and `gpus` GPUs each (None: one where the cluster has any), run again at most `retries` times when a process dies.

    `address` is a cluster's (None: RAY_ADDRESS, else the one that runs on this machine, else a new one of it alone). `cache` is a folder for
    vectors (None: the one under outputs, and a temporary folder of each machine where there are several, for SQLite is not safe on a network).
    """

    def __init__(
        self, place: Place, address: str | None = None, cpus: int = 1, gpus: float | None = None, retries: int = 3, cache: str | None = None
    ) -> None:
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        self._ray = library("ray", "ray")
        self._place, self._address = place, address
        self.cpus, self.retries = whole_number("hydra.launcher.cpus", cpus, 1), whole_number("hydra.launcher.retries", retries, 0)
        if gpus is not None and not gpus >= 0:
            raise ConfigError("hydra.launcher.gpus", gpus, "a number from 0 up; null for one where there are any")
        self._gpus, self._cache = gpus, None if cache is None else os.path.expanduser(cache)
        self._ours = False

    @property
    def width(self) -> int:
        """How many tasks the cluster takes at once, as it is now."""
        return max(int(self.connected().cluster_resources().get("CPU", 1)) // self.cpus, 1)

    def run(self, groups: Sequence[Sequence[Planned]], begun: Callable[[Planned], None]) -> Generator[Outcome, None, None]:
        """Hand all groups to Ray, which may grow its cluster for them; see Executor. Which one is on its way it does not say."""
        ray = self.connected()
        task, cache = self._task(), self.cache_there()
        waiting = {task.remote(job): job for job in (job_of(self._place, plans, cache=cache, cores=self.cpus) for plans in groups)}
        try:
            while waiting:
                (ready, *_), _ = ray.wait(list(waiting), num_returns=1)
                yield from self._ended(ready, waiting.pop(ready))
        finally:
            for reference in waiting:
                with suppress(Exception):  # it may have ended this moment
                    ray.cancel(reference, force=True)

    def _ended(self, reference: Any, job: Job) -> Sequence[Outcome]:
        try:
            found: list[Outcome] = self._ray.get(reference)
        except self._ray.exceptions.RayError as error:
            return job.lost(f"Ray gave it up after {self.retries} more tries: {reason(error)}")
        return found

    def shard_workers(self, count: int) -> RayShards:
        """Who works on the shards of one cell after the other."""
        return RayShards(self, self._place)

    def gpus_of_a_task(self) -> float:
        """GPUs that a task asks for."""
        return (1 if self.connected().cluster_resources().get("GPU", 0) else 0) if self._gpus is None else self._gpus

    def _task(self) -> Any:
        # max_calls: Ray would end a process that has a GPU after each task, and its model with it
        remote = self._ray.remote(max_calls=0)(work)
        return remote.options(num_cpus=self.cpus, num_gpus=self.gpus_of_a_task(), max_retries=self.retries)

    def cache_there(self) -> str | None:
        """A folder for vectors on a disk of each machine; None: the one under outputs."""
        machines = {node["NodeManagerHostname"] for node in self.connected().nodes() if node["Alive"]}
        if self._cache is not None or len(machines) < 2:
            return self._cache
        return os.path.join(tempfile.gettempdir(), f"chunk-sweep-{getpass.getuser()}")

    def connected(self) -> Any:
        """Ray, connected to the cluster. Raises StoreError where it can't be reached."""
        if not self._ray.is_initialized():
            options = {"include_dashboard": False} if self._address is None and "RAY_ADDRESS" not in os.environ else {}
            try:
                _reach(self._address or os.environ.get("RAY_ADDRESS", ""))
                self._ray.init(address=self._address, log_to_driver=False, logging_level=logging.ERROR, configure_logging=False, **options)
            except (OSError, ValueError, RuntimeError) as error:
                raise StoreError(f"hydra.launcher.address={self._address}: {reason(error)}") from error
            self._ours = True
        return self._ray

    def close(self) -> None:
        """Let go of the cluster; one that was started here ends."""
        if self._ours:
            self._ray.shutdown()
            self._ours = False


def _reach(address: str) -> None:
    """Raise OSError where nobody listens at `address` (HOST:PORT, whatever stands before): Ray itself would try for minutes, without a word."""
    host, _, port = address.rpartition("://")[2].rpartition(":")
    if host and port.isdecimal():
        with socket.create_connection((host.strip("[]"), int(port)), timeout=_SECONDS_TO_ANSWER):
            pass
