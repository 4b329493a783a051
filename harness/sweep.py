"""From many cell results to a verdict: leaderboard, winner, tie group, the cheapest of it, the baseline, and curves over size."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

import numpy as np

from harness.chunking.overlap import resolve_overlap
from harness.curves import Curves, column, curves
from harness.errors import ConfigError
from harness.evaluation import TRUNCATION, Scoring, resampler_for
from harness.statistics.bootstrap import Resampler
from harness.statistics.paired import Paired, paired, tie_group
from harness.statistics.sizing import sizing
from harness.types import Bools, CellResult, Floats

_NOT_BETTER = re.compile(
    r"(half_answer|chunking_miss|ranking_miss|assembled)_rate_at_\d+|claim_above_exception_rate|unreached_share|context_tokens_at_\d+|oracle_\w+"
)
"""Metrics of questions whose highest value is not the best, or says nothing of retrieval."""


@dataclass(frozen=True, slots=True)
class Select:
    """How a winner is chosen: the best mean of `metric`; cells that can't be told from it at `alpha` (Holm) are tied; the cheapest is named.

    `baseline` (strategy, size, overlap as typed) is the usual default that stands beside the winner.
    """

    metric: str = "complete_within_2048"
    alpha: float = 0.05
    baseline: tuple[str, int, str] = ("recursive", 512, "10%")


@dataclass(frozen=True, slots=True)
class Standing:
    """A cell in the order of the metric. `behind`, `behind_low`, `behind_high`: what it is behind the best, paired, with its 95% interval; `p`
    is adjusted (Holm); `tied`: it can't be told from the best."""

    result: CellResult
    value: float
    low: float
    high: float
    behind: float
    behind_low: float
    behind_high: float
    p: float
    tied: bool


@dataclass(frozen=True)
class Summary:
    """The sweep in numbers. `standings` are best first. `cheapest`: of the tied cells the one with the fewest context tokens (then storage).

    `same_chunks`: groups of cells that made the very same chunks and so can't be ranked against each other. `detectable`: the smallest paired
    difference that this question set shows with 80% power; `needed`: questions for a difference of 0.05.
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

    @property
    def winner(self) -> Standing | None:
        """The best cell, None where nothing could be ranked."""
        return self.standings[0] if self.standings else None

    @property
    def tied(self) -> tuple[Standing, ...]:
        """The tie group, the winner first."""
        return tuple(standing for standing in self.standings if standing.tied)

    @property
    def decided(self) -> bool:
        """Whether there was anything to choose between: more than one chunking, and not all of it the same."""
        return len({(item.result.chunk_digest, item.result.cell.embedder, item.result.cell.retriever) for item in self.standings}) > 1


def summarise(results: Sequence[CellResult], select: Select, scoring: Scoring) -> Summary:
    """Rank `results`, all measured on the same questions in the same order.

    Raises ConfigError where the metric is not one of per-question values. Cells whose value is null are left out and named in the warnings.
    """
    ranked, unranked = _with_values(results, select.metric)
    warnings = [f"{result.cell.label}: {select.metric} is null, the cell is not ranked" for result in unranked]
    if not ranked:
        return Summary(select, (), None, None, None, (), np.nan, None, 0, "", (), tuple(warnings))
    resampler = resampler_for(ranked[0].questions, scoring)
    values = np.stack([column(result, select.metric) for result in ranked])
    defined: Bools = np.asarray(~np.isnan(values).any(axis=0))
    standings = _standings(ranked, values, select, resampler)
    cheapest = min((item for item in standings if item.tied), key=_cost)
    baseline = _baseline(standings, select, cheapest)
    rival = standings[min(1, len(standings) - 1)]
    sized = sizing(column(standings[0].result, select.metric) - column(rival.result, select.metric), resampler)
    return Summary(
        select,
        tuple(standings),
        cheapest,
        baseline,
        _gap(cheapest, baseline, select.metric, resampler),
        _same_chunks(ranked),
        sized.smallest,
        sized.needed,
        sized.n,
        clusters_of(resampler, defined),
        tuple(curves(results, resampler)),
        tuple([*warnings, *_shared_warnings(ranked)]),
    )


def _standings(ranked: Sequence[CellResult], values: Floats, select: Select, resampler: Resampler) -> list[Standing]:
    """Best first; of equal values the one the tie group names as the best, then grid order."""
    against = tie_group(values, resampler, alpha=select.alpha)
    found = [
        Standing(
            result,
            float(np.nanmean(values[row])),
            _bound(result, select.metric, "low"),
            _bound(result, select.metric, "high"),
            -float(against.difference[row]),
            -float(against.high[row]),
            -float(against.low[row]),
            float(against.p[row]),
            bool(against.members[row]),
        )
        for row, result in enumerate(ranked)
    ]
    best = found[against.best]
    return sorted(found, key=lambda item: (item is not best, -item.value))


def clusters_of(resampler: Resampler, defined: Bools) -> str:
    """How the `defined` questions are drawn for the intervals, in words."""
    sizes = [len(np.unique(group[defined])) for group in resampler.groups]
    if len(sizes) > 1:
        return f"drawn by document and by question text: {sizes[0]} and {sizes[1]} clusters"
    return "drawn one by one" if sizes[0] == int(defined.sum()) else f"drawn by document: {sizes[0]} clusters"


def check_metric(metric: str, known: Collection[str], key: str = "select.metric") -> None:
    """Raise ConfigError where a winner can't be chosen by `metric`: not one of the `known` metrics of questions, or not better the higher it is."""
    usable = [name for name in known if not _NOT_BETTER.fullmatch(name)]
    if metric not in usable:
        shown = [name for name in usable if name.startswith("complete_")] or usable[:8]
        problem = "not a metric that is better the higher it is" if metric in known else "not a metric with a value for each question"
        raise ConfigError(key, metric, f"{problem}; for example {', '.join(shown)} would do")


def _with_values(results: Sequence[CellResult], metric: str) -> tuple[list[CellResult], list[CellResult]]:
    for result in results:
        check_metric(metric, [name for name in result.questions.columns if name in result.metrics])
    ranked = [result for result in results if result.metrics.get(metric) is not None]
    return ranked, [result for result in results if result.metrics.get(metric) is None]


def _bound(result: CellResult, metric: str, side: str) -> float:
    value = result.metrics.get(f"{metric}_{side}")
    return np.nan if value is None else float(value)


def _cost(item: Standing) -> tuple[float, float, float]:
    """Context tokens, then storage, then (for equal costs) the better value."""
    metrics = item.result.metrics
    return (round(metrics.get("context_tokens_at_5") or 0.0), round(metrics.get("storage_ratio") or 0.0, 3), -item.value)


def _baseline(standings: Sequence[Standing], select: Select, chosen: Standing) -> Standing | None:
    """The usual default, its size in tokens of the embedder, with the embedder and the retriever of the chosen cell."""
    strategy, size, overlap = select.baseline
    wanted = (strategy, size, resolve_overlap(overlap, size), "tokens", chosen.result.cell.embedder, chosen.result.cell.retriever)
    for item in standings:
        cell = item.result.cell
        if (cell.strategy, cell.size, cell.overlap, cell.unit, cell.embedder, cell.retriever) == wanted:
            return item
    return None


def _gap(chosen: Standing, baseline: Standing | None, metric: str, resampler: Resampler) -> Paired | None:
    """How far the chosen cell is ahead of the baseline, paired."""
    if baseline is None or baseline.result.key == chosen.result.key:
        return None
    return paired(column(chosen.result, metric), column(baseline.result, metric), resampler)


def _same_chunks(results: Sequence[CellResult]) -> tuple[tuple[str, ...], ...]:
    groups: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for result in results:
        groups[(result.chunk_digest, result.cell.embedder, result.cell.retriever)].append(result.cell.label)
    return tuple(tuple(labels) for labels in groups.values() if len(labels) > 1)


def _shared_warnings(results: Sequence[CellResult]) -> list[str]:
    """Each warning once, with the cells it holds for; what embedders did not read in one line an embedder."""
    cells: dict[str, list[str]] = defaultdict(list)
    for result in results:
        for line in result.warnings:
            if not line.startswith(TRUNCATION):
                cells[line].append(result.cell.label)
    lines = []
    for line, labels in cells.items():
        everywhere = len(labels) == len(results) and len(labels) > 1
        lines.append(f"{line} ({'every cell' if everywhere else _some(labels)})")
    return [*lines, *_unread(results)]


def _unread(results: Sequence[CellResult]) -> list[str]:
    shares: dict[tuple[str, float], list[tuple[float, str]]] = defaultdict(list)
    for result in results:
        share = result.metrics.get("truncated_token_share") or 0.0
        if share > 0:
            shares[(result.cell.embedder, result.metrics.get("embedder_limit") or 0.0)].append((share, result.cell.label))
    return [
        f"{embedder} reads {limit:.0f} tokens of a chunk; never read: "
        + _some([f"{share:.1%} of all tokens in {label}" for share, label in sorted(found, reverse=True)])
        for (embedder, limit), found in shares.items()
    ]


def _some(labels: Sequence[str], shown: int = 3) -> str:
    return ", ".join(labels[:shown]) + (f" and {len(labels) - shown} more" if len(labels) > shown else "")
