"""`chunk-sweep run …`: Hydra composes, this module plans the grid, runs it and tells how it came out."""

from __future__ import annotations

import math
import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

import hydra
from hydra.core.hydra_config import HydraConfig
from omegaconf import DictConfig, OmegaConf

from harness.bundled import bundled_folder
from harness.choosing import Limit
from harness.chunking.overlap import resolve_overlap
from harness.course import Impossible
from harness.errors import CommandLineError, ConfigError
from harness.evaluation import question_metrics
from harness.hydra_front import launcher, preflight, schema
from harness.hydra_front.build import plan_cell
from harness.hydra_front.console import SweepConsole
from harness.hydra_front.first_look import first_look
from harness.hydra_front.launcher import as_typed
from harness.hydra_front.launching import Place, executor_for
from harness.hydra_front.measuring import Measured, Searching, Shared, TellingConsole, in_a_line
from harness.hydra_front.planning import Ahead, look_ahead
from harness.hydra_front.screen_setting import screened
from harness.hydra_front.session import Session
from harness.hydra_front.workshop import Workshop, build_part
from harness.planned import Planned
from harness.redaction import redacted
from harness.summary import Baseline
from harness.sweep import Select, check_metric
from harness.types import SURROUNDINGS

_status = [0]
_shared: list[Shared] = []


def run(words: list[str]) -> int:
    """Run what the words say. Exit status: 0 done, 1 a cell failed, 2 a mistake in the words or the data, 130 stopped by Ctrl-C."""
    conf = bundled_folder("conf")
    schema.register()
    launcher.register(_run_grid, Searching(_of_the_command, _planned, _check_search))
    words = preflight.without_nulls(preflight.in_order(words))
    preflight.check(words, conf)
    sys.argv = ["chunk-sweep run", *words]
    _status[0] = 0
    _shared.clear()
    try:
        hydra.main(config_path=str(conf), config_name="config", version_base="1.3")(_run_one)()
    finally:
        for shared in _shared:
            shared.close()
    return max(_status[0], *(shared.status for shared in _shared), 0)


def _run_one(config: DictConfig) -> float:
    """Hydra's task for a single cell."""
    whole = OmegaConf.create({"hydra": HydraConfig.get()})
    OmegaConf.set_readonly(whole, False)
    return _guarded([config], [whole.hydra])[0]


def _run_grid(configs: Sequence[DictConfig]) -> Sequence[float]:
    """The launcher's grid."""
    return _guarded(configs, [config.hydra for config in configs])


def _guarded(configs: Sequence[DictConfig], hydra_nodes: Sequence[DictConfig]) -> list[float]:
    with in_a_line():
        return _sweep(configs, hydra_nodes)


def _of_the_command(first: DictConfig, launching: DictConfig) -> Shared:
    """What all batches of this command have in common, made once."""
    if not _shared:
        outputs = Path(os.path.expanduser(first.outputs)).absolute()  # a part may change the current folder
        executor = executor_for(launching, Place(outputs, first.cache_gigabytes, first.rerun))
        workers = executor.shard_workers(first.shards) if executor is not None and first.shards > 1 else None
        executor = executor if workers is None else None  # it is the shards that are spread; cells come one after the other
        workshop = Workshop(outputs, first.cache_gigabytes, workers=workers)
        _shared.append(Shared(outputs, workshop, executor, Measured(outputs, first.rerun, executor), workers))
    return _shared[0]


def _check(configs: Sequence[DictConfig], plans: Sequence[Planned | Impossible], console: SweepConsole) -> Select:
    """How the winner is chosen; what is wrong or misleading is refused or told, before any work."""
    _same_for_all(configs)
    select = _select(configs[0], plans)
    for line in first_look(plans):
        console.warn(line)
    return select


def _check_search(configs: Sequence[DictConfig], plans: Sequence[Planned | Impossible], console: SweepConsole) -> None:
    if configs[0].plan:
        raise ConfigError("plan", True, "a search decides as it goes what to run; a grid (without hydra/sweeper) would do")
    if configs[0].screen is not None:
        raise ConfigError("screen", "a look at the whole grid", "a search picks its cells by itself; one of screen and hydra/sweeper would do")
    _check(configs, plans, console)


def _sweep(configs: Sequence[DictConfig], hydra_nodes: Sequence[DictConfig]) -> list[float]:
    first = configs[0]
    _same_for_all(configs)
    shared = _of_the_command(first, hydra_nodes[0].launcher)
    earlier = shared.measured.earlier  # nothing, but where this sweep is the end of a search
    console = TellingConsole(first.select.metric) if earlier else SweepConsole(first.select.metric)
    console.planning(len(configs))
    tracker = build_part("tracking", first.tracking)
    plans = _plans(configs, hydra_nodes, shared.workshop)
    select = _select(first, plans) if earlier else _check(configs, plans, console)
    rerun = first.rerun and not earlier
    ahead = Ahead(shared.outputs, rerun)
    screen = None if earlier else first.screen
    kept, dropped = screened(screen, plans, shared.workshop, select, console, finished=ahead.seems_finished, only=first.plan)
    if not earlier:
        seen = look_ahead(ahead, kept, console, only=first.plan, alone=shared.alone)
        if seen is None:
            return [math.nan] * len(plans)
        earlier = seen
    name = hydra_nodes[0].runtime.choices.get("experiment") or "sweep"
    session = Session(
        shared.outputs,
        tracker,
        console,
        select,
        rerun=rerun,
        name=name,
        command=_command(),
        report=first.report,
        typed=Path(os.path.expanduser(first.outputs)),
        executor=shared.executor,
        earlier=earlier,
        screened=dropped,
    )
    values, status = session.run(kept)
    _status[0] = max(_status[0], status)
    return [values.get(plan.key, math.nan) if isinstance(plan, Planned) else math.nan for plan in plans]


_FOR_THE_SWEEP = ("select", "tracking", "screen", "outputs", "cache_gigabytes", "shards", "rerun", "plan", "report")


def _same_for_all(configs: Sequence[DictConfig]) -> None:
    """These say what becomes of the sweep as a whole, so they have no values by cell."""
    for name in _FOR_THE_SWEEP:
        if any(str(config[name]) != str(configs[0][name]) for config in configs):  # nan is not equal to itself
            raise ConfigError(name, "several values", "one value for the whole grid; run the command once for each")


def _planned(configs: Sequence[DictConfig], hydra_nodes: Sequence[DictConfig], workshop: Workshop) -> list[Planned | Impossible]:
    extras = _extras([as_typed(node) for node in hydra_nodes])
    return [
        plan_cell(config, {str(key): str(value) for key, value in node.runtime.choices.items()}, workshop, extra)
        for config, node, extra in zip(configs, hydra_nodes, extras, strict=True)
    ]


def _plans(configs: Sequence[DictConfig], hydra_nodes: Sequence[DictConfig], workshop: Workshop) -> list[Planned | Impossible]:
    plans = _planned(configs, hydra_nodes, workshop)
    possible = [plan for plan in plans if isinstance(plan, Planned)]
    if not possible:
        reasons = "; ".join(dict.fromkeys(plan.reason for plan in plans if isinstance(plan, Impossible)))
        if len(plans) == 1:
            raise CommandLineError(reasons)
        raise ConfigError("grid", f"{len(plans)} cells", f"not one of them is possible: {reasons}")
    return plans


_NAMED_AXES = {"strategy", "retriever", "size", "overlap", "embedder", "embedder.pooling", "dataset", "scope", "filter", *SURROUNDINGS}


_SETTINGS = ("embedder.model", "embedder.dim", "embedder.storage", "embedder.precision", "retriever.", "retriever@")
"""Beginnings of settings that make another cell of the same name."""


def _extras(overrides: Sequence[list[str]]) -> list[str]:
    """What else a cell's label tells: whatever differs between the jobs of a grid, and what was typed of _SETTINGS."""
    split = [dict(word.lstrip("+").split("=", 1) for word in words if "=" in word) for words in overrides]
    keys = {key for words in split for key in words}
    told = [
        key
        for key in sorted(keys - _NAMED_AXES)
        if key.startswith(_SETTINGS) or (len({words.get(key) for words in split}) > 1 and not key.startswith(("hydra.", "filter.")))
    ]
    return [" ".join(f"{key}={words[key]}" for key in told if key in words) for words in split]


def _select(config: DictConfig, plans: Sequence[Planned | Impossible]) -> Select:
    """How the winner is chosen, refused before any work where it can't be."""
    node, baseline = config.select, config.select.baseline
    if not 0 < node.alpha < 1:
        raise ConfigError("select.alpha", node.alpha, "a share between 0 and 1, for example 0.05")
    for ks, budgets in {(plan.experiment.ks, plan.experiment.budgets) for plan in plans if isinstance(plan, Planned)}:
        check_metric(node.metric, question_metrics(ks, budgets))
    try:
        resolve_overlap(baseline.overlap, baseline.size)
    except ConfigError as error:
        raise ConfigError(f"select.baseline.{error.key}", error.found, error.expected) from error
    return Select(node.metric, node.alpha, Baseline(baseline.strategy, baseline.size, baseline.overlap, baseline.unit), _limits(node))


def _limits(node: DictConfig) -> tuple[Limit, ...]:
    bounds = [(name, bound, True) for name, bound in node.max.items()] + [(name, bound, False) for name, bound in node.min.items()]
    return tuple(Limit(str(name), float(bound), at_most) for name, bound, at_most in bounds if bound is not None)


def _command() -> str:
    return redacted(shlex.join(["chunk-sweep", "run", *sys.argv[1:]]))
