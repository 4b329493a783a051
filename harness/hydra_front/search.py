"""A search with Optuna for cells that find much and read little: two objectives, so its result is a front, not a point.

It is seeded, and what it measured is found again under outputs/cells: the same command goes the same way, so one that was stopped goes on,
and ends where it would have ended. The file of the study is a record for Optuna's own tools, made anew by every run.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.hydra_front.launching.base import library
from harness.hydra_front.search_space import Axis
from harness.tracking.files import folder_for

_REPEATS = 10
"""Proposals in a row that were tried before; the next is then drawn at random."""
_ASKED_PER_TRIAL = 20


@dataclass(frozen=True)
class Found:
    """What a cell came to: the two objectives, or None where it has none. An impossible cell costs nothing and is not counted."""

    values: tuple[float, float] | None = None
    possible: bool = True
    stopped: bool = False


Point = tuple[str, ...]
Measure = Callable[[Sequence[Point]], Sequence[Found]]
"""Measures points, given as overrides (`size=128`, …)."""


@dataclass(frozen=True)
class Search:
    """`n_trials` distinct cells are measured, `batch` side by side; the first is to be high, the second low. `study` is the file of the study."""

    axes: tuple[Axis, ...]
    n_trials: int
    batch: int
    seed: int
    study: Path

    def run(self, measure: Measure) -> list[Point]:
        """The distinct points that were tried, in order."""
        optuna = library("optuna", "optuna")
        study = _study(optuna, self.study, self.seed)
        tried: dict[Point, Found] = {}
        while (room := self._room(tried)) > 0:
            drawn = self._draw(optuna, study, tried, min(self.batch, room))
            if not drawn:
                break
            found = measure([point for _, point in drawn])
            for (trial, point), result in zip(drawn, found, strict=True):
                tried[point] = result
                _tell(optuna, study, trial, result)
            if any(result.stopped for result in found):
                break
        return list(tried)

    def _room(self, tried: dict[Point, Found]) -> int:
        """How many points more there are to try."""
        measured = sum(found.possible for found in tried.values())
        left = math.prod(axis.count for axis in self.axes) - len(tried)
        return int(min(self.n_trials - measured, left))

    def _draw(self, optuna: Any, study: Any, tried: dict[Point, Found], wanted: int) -> list[tuple[Any, Point]]:
        """At most `wanted` points that were not tried; none where the search has gone in circles for too long."""
        usual, repeats = study.sampler, 0
        drawn: dict[Point, Any] = {}
        while len(drawn) < wanted and len(study.trials) < _ASKED_PER_TRIAL * (self.n_trials + 10):
            study.sampler = optuna.samplers.RandomSampler(self.seed + len(study.trials)) if repeats >= _REPEATS else usual
            trial = study.ask()
            point = tuple(f"{axis.key}={axis.suggest(trial)}" for axis in self.axes)
            if point in tried or point in drawn:
                study.tell(trial, state=optuna.trial.TrialState.FAIL)
                repeats += 1
            else:
                drawn[point], repeats = trial, 0
        study.sampler = usual
        return [(trial, point) for point, trial in drawn.items()]


def study_key(axes: Sequence[Axis], fixed: Sequence[str], seed: int) -> str:
    """A name for the file of a study: equal for equal searches."""
    plain = json.dumps([[repr(axis) for axis in axes], list(fixed), seed])
    return hashlib.sha256(plain.encode()).hexdigest()[:12]


def _study(optuna: Any, path: Path, seed: int) -> Any:
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    folder_for(path.parent)
    path.unlink(missing_ok=True)
    journal = optuna.storages.JournalStorage(optuna.storages.journal.JournalFileBackend(str(path)))
    sampler = optuna.samplers.TPESampler(seed=seed)
    return optuna.create_study(study_name=path.stem, storage=journal, directions=["maximize", "minimize"], sampler=sampler)


def _tell(optuna: Any, study: Any, trial: Any, found: Found) -> None:
    if found.values is None:
        study.tell(trial, state=optuna.trial.TrialState.FAIL)
    else:
        study.tell(trial, list(found.values))
