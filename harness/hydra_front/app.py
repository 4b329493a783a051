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
from harness.errors import CommandLineError, ConfigError, HarnessError
from harness.evaluation import question_metrics
from harness.hydra_front import launcher, preflight, schema
from harness.hydra_front.build import Workshop, build_part, plan_cell
from harness.hydra_front.console import SweepConsole
from harness.hydra_front.first_look import first_look
from harness.hydra_front.session import Session
from harness.runner import Planned
from harness.summary import Baseline
from harness.sweep import Select, check_metric
from harness.types import SURROUNDINGS

_status = [0]


def run(words: list[str]) -> int:
    """Run what the words say. Exit status: 0 done, 1 a cell failed, 2 a mistake in the words or the data, 130 stopped by Ctrl-C."""
    conf = bundled_folder("conf")
    schema.register()
    launcher.register(_run_grid)
    words = preflight.in_order(words)
    preflight.check(words, conf)
    sys.argv = ["chunk-sweep run", *words]
    _status[0] = 0
    hydra.main(config_path=str(conf), config_name="config", version_base="1.3")(_run_one)()
    return _status[0]


def _run_one(config: DictConfig) -> float:
    """Hydra's task for a single cell."""
    whole = OmegaConf.create({"hydra": HydraConfig.get()})
    OmegaConf.set_readonly(whole, False)
    return _guarded([config], [whole.hydra])[0]


def _run_grid(configs: Sequence[DictConfig]) -> Sequence[float]:
    """The launcher's grid."""
    return _guarded(configs, [config.hydra for config in configs])


def _guarded(configs: Sequence[DictConfig], hydra_nodes: Sequence[DictConfig]) -> list[float]:
    """Our own errors end the program with one line and status 2, before Hydra turns them into a traceback."""
    try:
        return _sweep(configs, hydra_nodes)
    except HarnessError as error:
        sys.stderr.write(f"chunk-sweep run: {error}\n")
        raise SystemExit(2) from None


def _sweep(configs: Sequence[DictConfig], hydra_nodes: Sequence[DictConfig]) -> list[float]:
    first = configs[0]
    _same_for_all(configs)
    outputs = Path(os.path.expanduser(first.outputs))
    console = SweepConsole(first.select.metric)
    console.planning(len(configs))
    workshop = Workshop(outputs, first.cache_gigabytes)
    tracker = build_part("tracking", first.tracking)
    plans = _plans(configs, hydra_nodes, workshop)
    select = _select(first, plans)
    for line in first_look(plans):
        console.warn(line)
    name = hydra_nodes[0].runtime.choices.get("experiment") or "sweep"
    session = Session(outputs, tracker, console, select, rerun=first.rerun, name=name, command=_command(), report=first.report)
    values, status = session.run(plans)
    _status[0] = max(_status[0], status)
    return [values.get(plan.key, math.nan) if isinstance(plan, Planned) else math.nan for plan in plans]


_FOR_THE_SWEEP = ("select", "tracking", "outputs", "cache_gigabytes", "rerun", "report")


def _same_for_all(configs: Sequence[DictConfig]) -> None:
    """These say what becomes of the sweep as a whole, so they have no values by cell."""
    for name in _FOR_THE_SWEEP:
        if any(config[name] != configs[0][name] for config in configs):
            raise ConfigError(name, "several values", "one value for the whole grid; run the command once for each")


def _plans(configs: Sequence[DictConfig], hydra_nodes: Sequence[DictConfig], workshop: Workshop) -> list[Planned | Impossible]:
    extras = _extras([list(node.overrides.task) for node in hydra_nodes])
    plans = [
        plan_cell(config, {str(key): str(value) for key, value in node.runtime.choices.items()}, workshop, extra)
        for config, node, extra in zip(configs, hydra_nodes, extras, strict=True)
    ]
    possible = [plan for plan in plans if isinstance(plan, Planned)]
    if not possible:
        reasons = "; ".join(dict.fromkeys(plan.reason for plan in plans if isinstance(plan, Impossible)))
        if len(plans) == 1:
            raise CommandLineError(reasons)
        raise ConfigError("grid", f"{len(plans)} cells", f"not one of them is possible: {reasons}")
    return plans


_NAMED_AXES = {"strategy", "size", "overlap", "embedder", "embedder.pooling", "dataset", "scope", "filter", *SURROUNDINGS}


def _extras(overrides: Sequence[list[str]]) -> list[str]:
    """What else differs between the jobs of a grid, to be told in a cell's label."""
    split = [dict(word.split("=", 1) for word in words if "=" in word) for words in overrides]
    keys = {key for words in split for key in words}
    differing = [key for key in sorted(keys - _NAMED_AXES) if len({words.get(key) for words in split}) > 1 and not key.startswith("hydra.")]
    return [" ".join(f"{key}={words[key]}" for key in differing if key in words) for words in split]


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
    return shlex.join(["chunk-sweep", "run", *sys.argv[1:]])
