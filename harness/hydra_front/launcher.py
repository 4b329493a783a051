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
from hydra.types import HydraContext, RunMode, TaskFunction
from omegaconf import DictConfig, OmegaConf, open_dict

from harness.hydra_front.composing import Composer
from harness.hydra_front.optuna_sweeper import optuna_sweeper

GridFunction = Callable[[Sequence[DictConfig]], Sequence[float]]
"""Runs composed jobs as one sweep; gives the value that a sweeper may optimise, one a job (NaN where there is none)."""

_grid: list[GridFunction] = []


_PLUGINS = "hydra_plugins.chunk_sweep"
"""Hydra takes plugins only from modules named hydra_plugins.*; `register` makes such a module in memory, so that the project needs no second
top-level package, whose code every other Hydra program in the same environment would import."""


def _grid_sweeper() -> Any:
    """Hydra's own grid, without composing every job a first time only to see whether it can be: the launcher composes all before any work.

    The class is made late: Hydra's first look for plugins runs the module of its base class once more, and so replaces that class.
    """
    from hydra._internal.core_plugins.basic_sweeper import BasicSweeper

    class GridSweeper(BasicSweeper):  # type: ignore[misc]  # Hydra has no types
        __module__, __qualname__ = _PLUGINS, "GridSweeper"

        def validate_batch_is_legal(self, batch: Sequence[Sequence[str]]) -> None:
            """Left to the launcher."""

    return GridSweeper


class SweepLauncher(Launcher):  # type: ignore[misc]  # Hydra has no types
    """Composes every job, then hands the grid over whole. A job never raises here: failures are told by the sweep itself."""

    __module__ = _PLUGINS

    def __init__(self, **_where: Any) -> None:
        """What hydra.launcher says besides, where cells run, is for the sweep: see harness.hydra_front.launching."""
        self._config: DictConfig | None = None
        self._context: HydraContext | None = None

    def setup(self, *, hydra_context: HydraContext, task_function: TaskFunction, config: DictConfig) -> None:
        """Remember what composing needs."""
        self._config, self._context = config, hydra_context

    def launch(self, job_overrides: Sequence[Sequence[str]], initial_job_idx: int) -> Sequence[JobReturn]:
        """Compose the jobs and run them."""
        configs = self.composed(job_overrides, initial_job_idx)
        HydraConfig.instance().set_config(configs[0])
        values = _grid[-1](configs)
        return [_returned(config, value) for config, value in zip(configs, values, strict=True)]

    def composed(self, job_overrides: Sequence[Sequence[str]], initial_job_idx: int) -> list[DictConfig]:
        """The configuration of each job."""
        setup_globals()
        if self._context is None or self._config is None:
            raise RuntimeError("Hydra launches only after setup")
        master, loader = self._config, self._context.config_loader
        name, of_hydra = master.hydra.job.config_name, as_typed(master.hydra, "hydra")

        def whole(words: list[str]) -> DictConfig:
            config: DictConfig = loader.load_configuration(name, words, RunMode.RUN)
            OmegaConf.copy_cache(from_config=master, to_config=config)
            return config

        composer, configs = Composer(loader, name, whole), []
        for number, overrides in enumerate(job_overrides, initial_job_idx):
            config = composer.compose([*of_hydra, *overrides])
            with open_dict(config):
                config.hydra.job.id = config.hydra.job.num = number
            configs.append(config)
        return configs


def as_typed(node: DictConfig, which: str = "task") -> list[str]:
    """The words of a job, or those for Hydra itself, from its `hydra` node; one that refers to another key (size=${...}) stays as it was typed."""
    words: Any = OmegaConf.to_container(node.overrides[which], resolve=False)
    return [str(word) for word in words]


def _returned(config: DictConfig, value: float) -> JobReturn:
    overrides: list[Any] = as_typed(config.hydra)
    done = JobReturn(overrides=overrides, cfg=config, status=JobStatus.COMPLETED)
    done.return_value = value
    return done


def register(grid: GridFunction, front: Any = None) -> None:
    """Make launcher and sweepers known to Hydra, the grid's as hydra/launcher=chunk_sweep and hydra/sweeper=chunk_sweep, and `grid` what they run;
    `front` measures cells for a search (harness.hydra_front.optuna_sweeper)."""
    _grid.append(grid)
    module = types.ModuleType(_PLUGINS)
    plugins = Plugins.instance()
    for plugin in (SweepLauncher, _grid_sweeper(), optuna_sweeper(_PLUGINS, front)):
        plugins.register(plugin)
        setattr(module, plugin.__name__, plugin)
    parent, name = _PLUGINS.split(".")
    sys.modules.setdefault(parent, types.ModuleType(parent)).__dict__.setdefault("__path__", [])
    setattr(sys.modules[parent], name, module)
    sys.modules[_PLUGINS] = module
    store = ConfigStore.instance().store
    sweeper = {"_target_": f"{_PLUGINS}.GridSweeper", "max_batch_size": None, "params": None}
    store(group="hydra/launcher", name="chunk_sweep", node={"_target_": f"{_PLUGINS}.SweepLauncher"}, provider="chunk-sweep")
    store(group="hydra/sweeper", name="chunk_sweep", node=sweeper, provider="chunk-sweep")
