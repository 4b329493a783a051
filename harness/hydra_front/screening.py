"""`screen=static`: a cheap look at a grid before it is measured, that drops the cells which come out clearly behind. docs/screening.md judges it.

What it finds decides what is measured, and nothing else: no figure of it is kept, told or compared with, and it names no winner.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from harness.course import Impossible, ScreenedOut
from harness.curves import column
from harness.embedding.base import Embedder, EmbedsSpans
from harness.embedding.imitation import Imitation
from harness.errors import ConfigError, reason
from harness.evaluation import Scoring, evaluate, resampler_for
from harness.experiment import Experiment, Prepared, prepare, search
from harness.importing.checking.tongues import foreign
from harness.loads import Forecaster, pairs_of
from harness.planned import Planned, by_corpus, distinct_cells
from harness.retrieval.base import reads_vectors
from harness.retrieval.dense import DenseRetriever
from harness.statistics.paired import tie_group
from harness.summary import Select
from harness.types import Cell, CellResult

Warn = Callable[[str], object]
_SCORING = Scoring(resamples=2)
"""Intervals of a look are not read."""
_SEEN = ("answer_existence", "chunks", "storage_ratio")
"""What limits may be on that a look finds as the real run would: these depend on the chunks alone."""
_READ = "context_tokens_at_5"
_FLIPS = 1000


@dataclass(frozen=True)
class Screen:
    """Keeps the share `keep` of the combinations of strategy, size and overlap, at least `fewest`, by what `embedder` makes of them; and, of those
    that can't be told from the best by it, the `cheapest` that read least, since a verdict names the cheapest of equals. Raises ConfigError for
    values that can't work."""

    embedder: Embedder
    keep: float = 1 / 3
    fewest: int = 6
    cheapest: int = 2

    def __post_init__(self) -> None:
        keep: object = self.keep  # from a YAML it may be anything
        if isinstance(keep, bool) or not isinstance(keep, int | float) or not 0 < keep <= 1:
            raise ConfigError("screen.keep", keep, "a share of the grid over 0 and up to 1 would do, for example 0.33")
        for name, count, least in (("fewest", self.fewest, 1), ("cheapest", self.cheapest, 0)):
            found: object = count
            if isinstance(found, bool) or not isinstance(found, int) or found < least:
                raise ConfigError(f"screen.{name}", found, f"a whole number of cells from {least} would do")

    def room(self, points: int) -> int:
        """How many of so many are kept."""
        return min(points, max(self.fewest, math.ceil(self.keep * points - 1e-9)))


@dataclass(frozen=True)
class _Seen:
    """What a look found of a cell; `broken`: it breaks a limit."""

    result: CellResult
    value: float
    broken: bool


def look_through(
    screen: Screen, plans: Sequence[Planned | Impossible], select: Select, warn: Warn, finished: Callable[[Planned], bool] = lambda plan: False
) -> tuple[list[Planned | Impossible], dict[int, ScreenedOut]]:
    """The plans without the cells that come out clearly behind, and by corpus (its id) those cells. Stores no result (an embedder with a cache keeps
    its vectors there); costs chunking, tokenising and scoring. The same plans give the same choice.

    A combination stays where it is among the best of its corpus for some embedder, retriever or other setting, and then for all of them, so that
    these can be compared on the same chunks. Equal ones stay together. What can't be looked at cheaply stays: cells whose retriever reads no vectors
    embed nothing anyway, a strategy that embeds would have to. So do the baseline, cells that are `finished` already, cells that fail, and those of
    an embedder that does not know the language; of the last two a line is given to `warn`.
    """
    dropped: dict[int, ScreenedOut] = {}
    done = {plan.key for plan in plans if isinstance(plan, Planned) and finished(plan)}
    for corpus, group in by_corpus(plans):
        behind = {key for key in _behind(screen, group, select, warn) if key not in done}
        gone = [plan for plan in group if plan.key in behind]
        if gone:
            kept = [plan for plan in group if plan.key not in behind]
            cells, _ = distinct_cells(gone)
            dropped[id(corpus)] = ScreenedOut(tuple(plan.cell for plan in cells), screen.embedder.name, _tokens_beside(kept, cells))
            out = {plan.key for plan in gone}
            plans = [plan for plan in plans if not (isinstance(plan, Planned) and plan.key in out)]
    return list(plans), dropped


def _behind(screen: Screen, plans: Sequence[Planned], select: Select, warn: Warn) -> set[str]:
    """Keys of the cells to drop."""
    names = dict.fromkeys(plan.experiment.embedder.name for plan in plans)
    lost = {name for name in names if foreign(plans[0].experiment.corpus, name)}  # it finds little, and was seen to prefer other chunks than any look
    for name in sorted(lost):
        warn(f"{name} does not know the language, so a cheap look is no guide to it: its cells are all measured")
    asked, _ = distinct_cells([plan for plan in plans if _cheap(plan) and plan.experiment.embedder.name not in lost])
    seen = _look(screen, asked, select, warn)
    groups: dict[str, dict[str, _Seen]] = {}
    for plan in asked:
        if plan.key in seen:
            groups.setdefault(_setting(plan.cell), {})[_point(plan.cell)] = seen[plan.key]
    kept = {_point(plan.cell) for plan in asked if plan.key not in seen or _is_baseline(plan.cell, select)}
    for found in groups.values():
        kept |= _best(found, screen.room(len(found)))
        kept |= _cheapest(found, screen.cheapest, select)
    return {plan.key for plan in asked if _point(plan.cell) not in kept}


def _best(seen: Mapping[str, _Seen], room: int) -> set[str]:
    """The names of the `room` best, and of those equal to the last of them. What breaks a limit comes last."""
    order = {name: (not one.broken, one.value) for name, one in seen.items()}
    last = sorted(order.values(), reverse=True)[room - 1]
    return {name for name, value in order.items() if value >= last}


def _cheapest(seen: Mapping[str, _Seen], count: int, select: Select) -> set[str]:
    """Of those that can't be told from the best, the `count` with the fewest context tokens; of equal ones the better."""
    allowed = [(name, one) for name, one in seen.items() if not one.broken]
    if not count or not allowed:
        return set()
    columns = np.stack([column(one.result, select.metric) for _, one in allowed])
    tied = tie_group(columns, resampler_for(allowed[0][1].result.questions, _SCORING), alpha=select.alpha, flips=_FLIPS).members
    order = [(one.result.metrics.get(_READ) or 0.0, -one.value, name) for (name, one), member in zip(allowed, tied, strict=True) if member]
    return {name for _, _, name in sorted(order)[:count]}


def _look(screen: Screen, plans: Iterable[Planned], select: Select, warn: Warn) -> dict[str, _Seen]:
    """What is seen by cell key. Without cells that fail, and those without the metric."""
    values: dict[str, _Seen] = {}
    failed: list[str] = []
    last: tuple[str, Prepared] | None = None
    for plan in plans:
        experiment = _cheaply(plan, screen.embedder)
        try:
            if last is None or last[0] != plan.shelf_key:
                last = plan.shelf_key, prepare(experiment, _quiet, _quiet)
            value = _value(plan, experiment, last[1], select)
        except (Exception, SystemExit) as error:  # noqa: BLE001  whatever a part raises, the cell stays, and its real run tells it
            failed.append(f"{plan.cell.label}: {reason(error)}")
            value = None
        if value is not None:
            values[plan.key] = value
    if failed:
        warn(f"{len(failed)} cells could not be looked at first, so they are measured; {failed[0]}")
    return values


def _value(plan: Planned, experiment: Experiment, prepared: Prepared, select: Select) -> _Seen | None:
    """What the cheap cell comes to, None where it has no value of the selecting metric."""
    result = evaluate(experiment, search(experiment, prepared, _quiet), _SCORING, plan.cell, plan.key)
    value = result.metrics.get(select.metric)
    if value is None:
        return None
    broken = any(limit.broken_by(result.metrics) for limit in select.limits if limit.metric in _SEEN)
    return _Seen(result, value, broken)


def _cheaply(plan: Planned, embedder: Embedder) -> Experiment:
    """The same chunks by the cheap embedder, which reads of them what the real one would; without a cross-encoder."""
    experiment, real = plan.experiment, plan.experiment.embedder
    imitation = Imitation(embedder, real, whole=isinstance(real, EmbedsSpans) and real.contextual)
    return replace(experiment, embedder=imitation, sharding=None, retriever=DenseRetriever() if pairs_of([plan], 1) else experiment.retriever)


def _cheap(plan: Planned) -> bool:
    """Whether the cell can be looked at without embedding, and would embed."""
    return reads_vectors(plan.experiment.retriever) and getattr(plan.experiment.chunker, "embedder", None) is None


def _tokens_beside(kept: Sequence[Planned], gone: Sequence[Planned]) -> int:
    """Tokens that `gone` would have put through the model beside those of `kept`; those of cells that a cache serves are none."""
    forecaster = Forecaster()
    for plan in _shelves(kept):
        forecaster.look([plan])
    return sum(forecaster.look([plan]).embed for plan in _shelves(gone))


def _shelves(plans: Sequence[Planned]) -> list[Planned]:
    """One plan of each set of chunks and vectors."""
    return list({plan.shelf_key: plan for plan in reversed(plans)}.values())[::-1]


def _point(cell: Cell) -> str:
    """Strategy with its settings, size and overlap: what cells are kept or dropped by."""
    return _text([cell.strategy, cell.size, cell.overlap, cell.config.get("strategy")])


def _setting(cell: Cell) -> str:
    """Everything else."""
    choices = {name: choice for name, choice in cell.config.get("choices", {}).items() if name != "strategy"}
    rest = {name: value for name, value in cell.config.items() if name not in ("strategy", "size", "overlap", "choices")}
    return _text([rest, choices, cell.embedder, cell.retriever, cell.unit])


def _text(value: object) -> str:
    return json.dumps(value, sort_keys=True, default=str)


def _is_baseline(cell: Cell, select: Select) -> bool:
    wanted = select.baseline
    typed = str(cell.config.get("overlap", cell.overlap))
    return (cell.strategy, cell.size, cell.unit) == (wanted.strategy, wanted.size, wanted.unit) and typed == wanted.overlap


def _quiet(*_: object) -> None:
    """Nobody is told of the stages of a look."""
