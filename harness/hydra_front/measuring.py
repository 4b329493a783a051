"""Cells measured for a search: run and kept like any other, but told to no tracker and without a verdict: one sweep over all of them follows."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from omegaconf import DictConfig

from harness.course import Course, Earlier, Failure, Impossible
from harness.errors import SHOW_ALL, ConfigError, HarnessError, unforeseen
from harness.hydra_front.console import SweepConsole
from harness.hydra_front.launching import Launching
from harness.hydra_front.launching.base import ShardWorkers
from harness.hydra_front.search import Found
from harness.hydra_front.session import STOPPED
from harness.hydra_front.workshop import Workshop
from harness.planned import Planned, by_corpus
from harness.redaction import redacted
from harness.runner import Runner
from harness.tracking.base import SweepInfo
from harness.tracking.silent import FilesOnly
from harness.types import Cell, CellResult
from harness.visible import visible


class SearchConsole(SweepConsole):
    """Counts the cells of all batches together."""

    def __init__(self, metric: str, total: int) -> None:
        super().__init__(metric)
        super().sweep_started(total)

    def sweep_started(self, cells: int) -> None:
        """A batch begins; the bar stands already."""


class TellingConsole(SweepConsole):
    """For the sweep that follows a search: what its cells measured was told when they ran."""

    def cell_finished(self, result: CellResult, reused: bool) -> None:
        """Told before."""

    def cell_failed(self, failure: Failure) -> None:
        """Told before."""


@dataclass
class Measured:
    """All that a search ran so far."""

    outputs: Path
    rerun: bool
    executor: Launching | None
    ran: set[str] = field(default_factory=set)
    failures: dict[str, tuple[Failure, str]] = field(default_factory=dict)

    @property
    def earlier(self) -> Earlier:
        """For the sweep that follows."""
        return Earlier(frozenset(self.ran), self.failures)

    def measure(self, plans: Sequence[Planned | Impossible], console: SweepConsole, metric: str, cost: str) -> list[Found]:
        """Run `plans`; `metric` and `cost` of each."""
        values: dict[str, tuple[float, float] | None] = {}
        stopped = False
        for _, group in by_corpus(plans):
            run = self._run(group, console)
            values.update({result.key: _objectives(result, metric, cost) for result in run.results})
            stopped = stopped or run.stopped
        return [Found(values.get(plan.key), True, stopped) if isinstance(plan, Planned) else Found(None, False, stopped) for plan in plans]

    def _run(self, plans: Sequence[Planned], console: SweepConsole) -> Course:
        traces: dict[int, str] = {}

        def note(cell: Cell, trace: str) -> None:
            traces[id(cell)] = trace

        runner = Runner(self.outputs, FilesOnly(), console, self.rerun, note, self.executor, Earlier(frozenset(), self.failures))
        run = runner.run(plans, SweepInfo("", "", plans[0].experiment.corpus, len(plans), ""))
        self.ran |= set(run.ran)
        keys = {id(plan.cell): plan.key for plan in plans}
        self.failures |= {keys[id(failure.cell)]: (failure, traces[id(failure.cell)]) for failure in run.failures}
        return run


@dataclass
class Shared:
    """What all batches of one command have in common. `workers`: where the shards of cells are worked on elsewhere. `status` is the exit status of
    its search."""

    outputs: Path
    workshop: Workshop
    executor: Launching | None
    measured: Measured
    workers: ShardWorkers | None = None
    status: int = 0

    @property
    def alone(self) -> bool:
        """Whether all work is done in this process."""
        return self.executor is None and self.workers is None

    def close(self) -> None:
        """End the processes that ran cells."""
        for spread in (self.executor, self.workers):
            if spread is not None:
                spread.close()


Plan = Callable[[Sequence[DictConfig], Sequence[DictConfig], Workshop], list[Planned | Impossible]]


@dataclass
class Searching:
    """What a sweeper that searches needs of the command: `shared` of a configuration and its launcher, `plan` its cells, `check` the first batch."""

    shared: Callable[[DictConfig, DictConfig], Shared]
    plan: Plan
    check: Callable[[Sequence[DictConfig], Sequence[Planned | Impossible], SweepConsole], object]

    @contextmanager
    def guarded(self, config: DictConfig, total: int) -> Iterator[Measuring]:
        """Measures cells of `config`, `total` in the whole search; mistakes are told in a line."""
        with in_a_line():
            measuring = Measuring(self, config, total)
            try:
                yield measuring
            finally:
                measuring.close()


class Measuring:
    """Measures the batches of one search."""

    def __init__(self, searching: Searching, config: DictConfig, total: int) -> None:
        self._searching, self._total = searching, total
        self._shared = searching.shared(config, config.hydra.launcher)
        self._metric = str(config.select.metric)
        self._console: SearchConsole | None = None
        self.outputs = self._shared.outputs
        self.width = 1 if self._shared.executor is None else self._shared.executor.width

    def measure(self, configs: Sequence[DictConfig], cost: str) -> list[Found]:
        """The select.metric and `cost` of composed cells."""
        plans = self._searching.plan(configs, [config.hydra for config in configs], self._shared.workshop)
        if self._console is None:
            self._searching.check(configs, plans, SweepConsole(self._metric))
            self._console = SearchConsole(self._metric, self._total)
        found = self._shared.measured.measure(plans, self._console, self._metric, cost)
        if any(one.stopped for one in found):
            self._shared.status = STOPPED
        return found

    def close(self) -> None:
        """Take the bars away."""
        if self._console is not None:
            self._console.close()


@contextmanager
def in_a_line() -> Iterator[None]:
    """Our own errors end the program with one line and status 2, those that nobody foresaw with one and status 1: Hydra would make a traceback."""
    try:
        yield
    except HarnessError as error:
        sys.stderr.write(visible(redacted(f"chunk-sweep run: {error}\n")))
        raise SystemExit(2) from None
    except Exception as error:
        if os.environ.get(SHOW_ALL):
            raise
        sys.stderr.write(visible(redacted(f"chunk-sweep run: {unforeseen(error)}\n")))
        raise SystemExit(1) from None


def _objectives(result: CellResult, metric: str, cost: str) -> tuple[float, float] | None:
    metrics: Mapping[str, float | None] = result.metrics
    if cost not in metrics:
        raise ConfigError("hydra.sweeper.cost", cost, "is not measured here; context_tokens_at_K with a K of scoring.ks would do")
    value, paid = metrics.get(metric), metrics[cost]
    return None if value is None or paid is None else (value, paid)
