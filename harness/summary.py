"""What a sweep comes to, as frozen data: how a winner is chosen, where each cell stands, and the sweep in numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from harness.choosing import Limit
from harness.curves import Curves
from harness.statistics.effects import Effects
from harness.statistics.paired import Paired
from harness.statistics.selection import Corrected
from harness.types import CellResult


class Baseline(NamedTuple):
    """The cell to stand beside the winner: its size in `unit`, its overlap as typed."""

    strategy: str = "recursive"
    size: int = 512
    overlap: str = "10%"
    unit: str = "tokens"

    def __str__(self) -> str:
        told = f"({self.strategy}, {self.size} {self.unit}, {self.overlap})"
        return f"the usual default {told}" if self == USUAL else f"the baseline {told}"


USUAL = Baseline()
NO_CHUNK = "it made no chunk"
"""Why a cell that found nothing because there was nothing can't win."""


@dataclass(frozen=True, slots=True)
class Select:
    """How a winner is chosen: the best mean of `metric`; cells that can't be told from it at `alpha` are tied; the cheapest is named.

    `baseline` is the usual default that stands beside the winner, or another cell. Cells that break one of the `limits` are
    shown, but can't win.
    """

    metric: str = "complete_within_2048"
    alpha: float = 0.05
    baseline: Baseline = USUAL
    limits: tuple[Limit, ...] = ()


def selected(record: Mapping[str, Any]) -> Select:
    """How the winner of a stored sweep was chosen, from what sweep.json or MLflow says under `select`; the usual way where that says nothing."""
    if not record:
        return Select()
    limits = tuple(Limit(metric, bound, at_most) for metric, bound, at_most in record.get("limits", []))
    return Select(record["metric"], record["alpha"], Baseline(*record["baseline"]), limits)


@dataclass(frozen=True, slots=True)
class Standing:
    """A cell in the order of the metric. `behind`, `behind_low`, `behind_high`: what it is behind the best, paired, with its 95% interval; `p`
    is adjusted; `tied`: it can't be told from the best. `broken`: the limits that it does not keep, in words; such a cell is not compared."""

    result: CellResult
    value: float
    low: float
    high: float
    behind: float
    behind_low: float
    behind_high: float
    p: float
    tied: bool
    broken: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Way:
    """A way of searching: its best cell, and what that is ahead of the winner's chunks searched in this way (None: these are its best, or were not
    searched so)."""

    name: str
    best: Standing
    gap: Paired | None


@dataclass(frozen=True)
class Summary:
    """The sweep in numbers. `standings` are best first. `cheapest`: of the tied cells the one with the fewest context tokens (then storage).

    `same_chunks`: groups of cells that made the very same chunks and so can't be ranked against each other. `detectable`: the smallest paired
    difference that this question set shows with 80% power; `needed`: questions for a difference of 0.05. `front`: keys of the cells on the Pareto
    front of the metric against context tokens, storage and tokens to embed; `knee`: the key of its knee. `corrected`: the winner's own figure,
    corrected for having been picked; `effects`: which axes the spread between cells is due to; `ways`: of searching, where there are several.
    """

    select: Select
    standings: tuple[Standing, ...]
    cheapest: Standing | None
    baseline: Standing | None
    baseline_gap: Paired | None
    same_chunks: tuple[tuple[str, ...], ...]
    detectable: float
    needed: int | None
    questions: int
    clusters: str
    curves: tuple[Curves, ...] = ()
    warnings: tuple[str, ...] = field(default_factory=tuple)
    front: tuple[str, ...] = ()
    knee: str | None = None
    corrected: Corrected | None = None
    effects: Effects | None = None
    ways: tuple[Way, ...] = ()

    @property
    def winner(self) -> Standing | None:
        """The best cell that keeps the limits, None where nothing could be ranked or none of them found anything."""
        return next((standing for standing in self.standings if not standing.broken and standing.value > 0), None)

    @property
    def tied(self) -> tuple[Standing, ...]:
        """The tie group, the winner first."""
        return tuple(standing for standing in self.standings if standing.tied) if self.winner else ()

    @property
    def decided(self) -> bool:
        """Whether there was anything to choose between: more than one chunking, and not all of it the same."""
        return len({(item.result.chunk_digest, item.result.cell.retrieval) for item in self.standings}) > 1


def no_winner(summary: Summary) -> str:
    """Why no cell is named."""
    if not summary.standings:
        return "No cell could be ranked."
    if all(NO_CHUNK in item.broken for item in summary.standings):
        return (
            "No cell made any chunk: nothing could be found, so there is nothing to choose between. min_size, short=drop and empty documents do that."
        )
    if all(item.broken for item in summary.standings):
        return "No cell keeps the limits."
    return f"No cell found anything: {summary.select.metric} is 0 for all, so there is nothing to choose between."
