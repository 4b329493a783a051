"""`hydra/sweeper=optuna`: Hydra's way into a search. Cells are measured batch by batch, and told as one sweep at the end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.plugins import Plugins
from hydra.plugins.sweeper import Sweeper
from hydra.types import HydraContext, TaskFunction
from omegaconf import DictConfig

from harness.errors import CommandLineError, ConfigError
from harness.hydra_front.launching.base import whole_number
from harness.hydra_front.search import Found, Point, Search, study_key
from harness.hydra_front.search_space import Axis, split

if TYPE_CHECKING:
    from harness.hydra_front.measuring import Measuring


def optuna_sweeper(module: str, front: Any) -> Any:
    """The sweeper's class, which Hydra finds in `module`; `front` is the Searching of the command (None where nothing runs).

    Made late, as the grid's is: Hydra's first look for plugins replaces the base classes.
    """

    class OptunaSweeper(Sweeper):  # type: ignore[misc]  # Hydra has no types
        __module__, __qualname__ = module, "OptunaSweeper"

        def __init__(self, params: Any, n_trials: int, seed: int, batch: int | None, cost: str) -> None:
            self._params, self._n_trials, self._seed, self._batch, self._cost = dict(params or {}), n_trials, seed, batch, cost

        def setup(self, *, hydra_context: HydraContext, task_function: TaskFunction, config: DictConfig) -> None:
            self._config, self._context = config, hydra_context
            known = {"hydra_context": hydra_context, "task_function": task_function, "config": config}
            self._launcher = Plugins.instance().instantiate_launcher(**known)

        def sweep(self, arguments: list[str]) -> Any:
            trials = self._n_trials if isinstance(self._n_trials, int) else 0
            with front.guarded(self._config, trials) as measuring:
                points = self._searched(arguments, measuring)
            return [self._launcher.launch(points, 0)]

        def _searched(self, arguments: list[str], measuring: Measuring) -> list[list[str]]:
            axes, fixed = self._space(arguments)
            done = 0

            def measure(points: Sequence[Point]) -> Sequence[Found]:
                nonlocal done
                configs = self._launcher.composed([[*fixed, *point] for point in points], done)
                done += len(points)
                return measuring.measure(configs, self._cost)

            return [[*fixed, *point] for point in self._search(axes, fixed, measuring).run(measure)]

        def _space(self, arguments: list[str]) -> tuple[list[Axis], list[str]]:
            parser = OverridesParser.create(config_loader=self._context.config_loader)
            axes, fixed = split(parser.parse_overrides([*(f"{key}={value}" for key, value in self._params.items()), *arguments]))
            if not axes:
                raise CommandLineError(
                    "hydra/sweeper=optuna has nothing to search: give values (size=128,256,512) or an interval (size=interval(64,512))"
                )
            if not hasattr(self._launcher, "composed"):
                raise ConfigError(
                    "hydra/launcher", type(self._launcher).__name__, "does not go with hydra/sweeper=optuna; chunk_sweep, joblib or ray would do"
                )
            return axes, fixed

        def _search(self, axes: Sequence[Axis], fixed: Sequence[str], measuring: Measuring) -> Search:
            trials = whole_number("hydra.sweeper.n_trials", self._n_trials, 1)
            batch = measuring.width if self._batch is None else whole_number("hydra.sweeper.batch", self._batch, 1)
            seed = whole_number("hydra.sweeper.seed", self._seed, 0)
            study = measuring.outputs / "studies" / f"{study_key(axes, fixed, seed)}.log"
            return Search(tuple(axes), trials, batch, seed, study)

    return OptunaSweeper
