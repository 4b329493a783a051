"""Hydra's way into a sweep: all jobs of a grid arrive at once, are planned before any work, and run as one sweep."""

from __future__ import annotations

import sys
import types
from collections.abc import Callable, Sequence
from typing import Any

from hydra.core.config_store import ConfigStore
from hydra.core.hydra_config import HydraConfig
from hydra.core.plugins import Plugins
from hydra.core.utils import JobReturn, JobStatus, setup_globals
from hydra.plugins.launcher import Launcher
from hydra.types import HydraContext, TaskFunction
from omegaconf import DictConfig, open_dict

GridFunction = Callable[[Sequence[DictConfig]], Sequence[float]]
"""Runs composed jobs as one sweep; gives the value that a sweeper may optimise, one a job (NaN where there is none)."""

_grid: list[GridFunction] = []


class SweepLauncher(Launcher):  # type: ignore[misc]  # Hydra has no types
    """Composes every job, then hands the grid over whole. A job never raises here: failures are told by the sweep itself."""

    # Hydra takes plugins only from modules named hydra_plugins.*; `register` makes such a module in memory, so that the project needs no second
    # top-level package, whose code every other Hydra program in the same environment would import.
    __module__ = "hydra_plugins.chunk_sweep"

    def __init__(self) -> None:
        self._config: DictConfig | None = None
        self._context: HydraContext | None = None

    def setup(self, *, hydra_context: HydraContext, task_function: TaskFunction, config: DictConfig) -> None:
        """Remember what composing needs."""
        self._config, self._context = config, hydra_context

    def launch(self, job_overrides: Sequence[Sequence[str]], initial_job_idx: int) -> Sequence[JobReturn]:
        """Compose the jobs and run them."""
        setup_globals()
        if self._context is None or self._config is None:
            raise RuntimeError("Hydra launches only after setup")
        configs = []
        for number, overrides in enumerate(job_overrides, initial_job_idx):
            config = self._context.config_loader.load_sweep_config(self._config, list(overrides))
            with open_dict(config):
                config.hydra.job.id = config.hydra.job.num = number
            configs.append(config)
        HydraConfig.instance().set_config(configs[0])
        values = _grid[-1](configs)
        return [_returned(config, value) for config, value in zip(configs, values, strict=True)]


def _returned(config: DictConfig, value: float) -> JobReturn:
    overrides: list[Any] = list(config.hydra.overrides.task)
    done = JobReturn(overrides=overrides, cfg=config, status=JobStatus.COMPLETED)
    done.return_value = value
    return done


def register(grid: GridFunction) -> None:
    """Make the launcher known to Hydra as hydra/launcher=chunk_sweep, and `grid` what it runs."""
    _grid.append(grid)
    Plugins.instance().register(SweepLauncher)
    parent, name = SweepLauncher.__module__.split(".")
    sys.modules.setdefault(parent, types.ModuleType(parent)).__dict__.setdefault("__path__", [])
    module = types.ModuleType(SweepLauncher.__module__)
    setattr(module, SweepLauncher.__name__, SweepLauncher)
    setattr(sys.modules[parent], name, module)
    sys.modules[SweepLauncher.__module__] = module
    node = {"_target_": "hydra_plugins.chunk_sweep.SweepLauncher"}
    ConfigStore.instance().store(group="hydra/launcher", name="chunk_sweep", node=node, provider="chunk-sweep")
