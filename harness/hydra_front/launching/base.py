"""What travels to a process that runs cells, and what every way of running them has in common."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from harness.course import Outcome
from harness.errors import ConfigError
from harness.planned import Executor, Planned
from harness.sharding import Workers
from harness.types import Cell


class Launching(Executor, Protocol):
    """An executor with processes of its own. They live from the first `run` to `close`, so that models are loaded once."""

    @property
    def width(self) -> int:
        """How many groups it runs at once, as far as it knows."""
        ...

    def shard_workers(self, count: int) -> ShardWorkers:
        """Who works on the `count` shards of a cell, where cells are spread one at a time. Raises ConfigError where it can't be so."""
        ...

    def close(self) -> None:
        """End the processes."""
        ...


class ShardWorkers(Workers, Protocol):
    """Workers with processes of their own."""

    def close(self) -> None:
        """End the processes."""
        ...


class Settled(Protocol):
    """What a process has to know to find files and modules as the one that asked: its folder, its sys.path, and the most cores to use."""

    @property
    def folder(self) -> str:
        """The current folder."""
        ...

    @property
    def paths(self) -> tuple[str, ...]:
        """Where modules are looked for."""
        ...

    @property
    def cores(self) -> int | None:
        """None: all there are."""
        ...


@dataclass(frozen=True)
class Place:
    """What a sweep keeps the same for every process: where results and vectors go, and whether finished cells run again."""

    outputs: Path
    cache_gigabytes: float
    rerun: bool = False


@dataclass(frozen=True)
class Job:
    """Cells that share chunks and vectors, as plain data. `keys` are what this process made of them: another one must come to the same.

    `folder` and `paths` are the current folder and sys.path here; `cache` is a folder for vectors, None for the one under outputs; `cores` the most
    cores to use.
    """

    place: Place
    cells: tuple[Cell, ...]
    keys: tuple[str, ...]
    folder: str
    paths: tuple[str, ...]
    cache: str | None = None
    cores: int | None = None

    def lost(self, problem: str) -> list[Outcome]:
        """All of them failed in the same way."""
        return [Outcome(key, problem, expected=True) for key in self.keys]


def job_of(place: Place, plans: Sequence[Planned], *, cache: str | None = None, cores: int | None = None) -> Job:
    """The cells of one group."""
    cells, keys = tuple(_plain(plan.cell) for plan in plans), tuple(plan.key for plan in plans)
    return Job(place, cells, keys, os.getcwd(), tuple(sys.path), cache, cores)


def _plain(cell: Cell) -> Cell:
    return Cell(cell.strategy, cell.size, cell.overlap, cell.embedder, cell.retriever, cell.unit, cell.label, dict(cell.config))


def library(name: str, extra: str) -> Any:
    """An optional library. Raises ConfigError with what to install where it is not there."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ConfigError(_SETTING[extra], extra, f"needs the library {name.split('.')[0]}: pip install 'chunk-sweep[{extra}]'") from error


_SETTING: Mapping[str, str] = {"optuna": "hydra/sweeper", "joblib": "hydra/launcher", "ray": "hydra/launcher"}


def whole_number(key: str, value: Any, least: int) -> int:
    """`value` as a whole number from `least` up. Raises ConfigError."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ConfigError(key, value, f"a whole number from {least} up")
    return value
