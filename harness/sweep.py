"""From many cell results to a verdict: leaderboard, winner, tie group, the cheapest of it, the baseline, and curves over size."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Collection, Sequence

import numpy as np
import pandas as pd

from harness.caveats import caveats
from harness.choosing import broken_limits, front, knee
from harness.chunking.overlap import resolve_overlap
from harness.curves import column, curves
from harness.errors import ConfigError
from harness.evaluation import Scoring, resampler_for
from harness.statistics.effects import Effects, effects
from harness.statistics.paired import Paired, paired, tie_group
from harness.statistics.resampling import Resampler
from harness.statistics.selection import corrected_best
from harness.statistics.sizing import Sizing, sizing
from harness.summary import NO_CHUNK, Select, Standing, Summary
from harness.types import Bools, Cell, CellResult, Floats
from harness.ways import ways

__all__ = ["Select", "Standing", "Summary", "check_metric", "clusters_of", "summarise"]

_NOT_BETTER = re.compile(
    r"(half_answer|chunking_miss|ranking_miss|assembled)_rate_at_\d+|claim_above_exception_rate|unreached_share|context_tokens_at_\d+|oracle_\w+"
)
"""Metrics of questions whose highest value is not the best, or says nothing of retrieval."""


def summarise(results: Sequence[CellResult], select: Select, scoring: Scoring) -> Summary:
    """Rank `results`, all measured on the same questions in the same order.

    Raises ConfigError where the metric is not one of per-question values. Cells whose value is null are left out and named in the warnings.
    """
    ranked, unranked = _with_values(results, select.metric)
    warnings = [f"{result.cell.label}: {select.metric} is null, the cell is not ranked" for result in unranked]
    if not ranked:
        return Summary(select, (), None, None, None, (), np.nan, None, 0, "", (), tuple(warnings))
    resampler = resampler_for(ranked[0].questions, scoring)
    standings, separation = _standings(ranked, select, resampler)
    kept = [item for item in standings if not item.broken]
    choice = kept if any(item.value > 0 for item in kept) else []
    cheapest = min((item for item in choice if item.tied), key=_cost, default=None)
    baseline = _baseline(standings, select, cheapest or standings[0])
    sized = _sized(choice or standings, select.metric, resampler, separation)
    on_front = front([item.result for item in choice], select.metric)
    bend = knee(on_front, select.metric)
    if not kept and any(item.broken != (NO_CHUNK,) for item in standings):
        warnings.append(
            "every cell breaks a limit, so none is named: " + "; ".join(dict.fromkeys(word for item in standings for word in item.broken))
        )
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
        clusters_of(resampler, _defined(ranked, select.metric)),
        tuple(curves(results, resampler)),
        tuple([*warnings, *caveats(ranked)]),
        tuple(result.key for result in on_front),
        None if bend is None else bend.key,
        corrected_best(_values([item.result for item in choice], select.metric), resampler) if len(choice) > 1 else None,
        _effects(ranked, select.metric, resampler),
        ways(standings, select.metric, resampler) if choice else (),
    )


def _values(results: Sequence[CellResult], metric: str) -> Floats:
    """The metric of every cell (rows) and question."""
    return np.stack([column(result, metric) for result in results])


def _effects(ranked: Sequence[CellResult], metric: str, resampler: Resampler) -> Effects | None:
    """What the spread between the cells is due to, None for fewer than three cells."""
    if len(ranked) < 3:
        return None
    axes = pd.DataFrame(
        [
            {
                "strategy": result.cell.strategy,
                "size": str(result.cell.size),
                "overlap": str(result.cell.config.get("overlap", result.cell.overlap)),
                "embedder": _settings(result.cell, "embedder"),
                "retriever": _settings(result.cell, "retriever"),
                "scope": str(result.cell.config.get("scope")),
                "filter": str(result.cell.config.get("filter")),
                **result.cell.around,
            }
            for result in ranked
        ]
    )
    return effects(axes, _values(ranked, metric), resampler)


def _settings(cell: Cell, part: str) -> str:
    """A part by its name and its settings: each is a level of its own."""
    return json.dumps([getattr(cell, part), cell.config.get(part)], sort_keys=True, default=str)


def _defined(ranked: Sequence[CellResult], metric: str) -> Bools:
    return np.asarray(~np.isnan(_values(ranked, metric)).any(axis=0))


def _sized(standings: Sequence[Standing], metric: str, resampler: Resampler, separation: float | None) -> Sizing:
    """What differences can be seen, from the spread between the best two; `separation` is what the sweep asks of a sole winner."""
    best, rival = standings[0].result, standings[min(1, len(standings) - 1)].result
    return sizing(column(best, metric) - column(rival, metric), resampler, separation=separation)


def _standings(ranked: Sequence[CellResult], select: Select, resampler: Resampler) -> tuple[list[Standing], float | None]:
    """Best first; of equal values the one the tie group names as the best, then grid order. Cells that break a limit stand in order, but apart."""
    problems = [(NO_CHUNK,) if result.metrics.get("chunks") == 0 else tuple(broken_limits(result, select.limits)) for result in ranked]
    allowed = [result for result, broken in zip(ranked, problems, strict=True) if not broken]
    found, separation = _compared(allowed, select, resampler) if allowed else ([], None)
    best = found[0] if found else None
    for result, broken in zip(ranked, problems, strict=True):
        if broken:
            value = float(np.nanmean(column(result, select.metric)))
            behind = best.value - value if best else np.nan
            bounds = _bound(result, select.metric, "low"), _bound(result, select.metric, "high")
            found.append(Standing(result, value, *bounds, behind, np.nan, np.nan, np.nan, tied=False, broken=broken))
    return sorted(found, key=lambda item: (-item.value, item is not best)), separation


def _compared(results: Sequence[CellResult], select: Select, resampler: Resampler) -> tuple[list[Standing], float | None]:
    """Every cell against the best of them, best first; and the separation (see TieGroup), None where it can't be told."""
    against = tie_group(_values(results, select.metric), resampler, alpha=select.alpha)
    found = [
        Standing(
            result,
            float(np.nanmean(column(result, select.metric))),
            _bound(result, select.metric, "low"),
            _bound(result, select.metric, "high"),
            -float(against.difference[row]),
            -float(against.high[row]),
            -float(against.low[row]),
            float(against.p[row]),
            bool(against.members[row]),
        )
        for row, result in enumerate(results)
    ]
    best = found[against.best]
    separation = against.separation if len(results) > 2 and np.isfinite(against.separation) else None
    return sorted(found, key=lambda item: (item is not best, -item.value)), separation


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
    """The cell of the baseline, with the embedder and the retrieval of the chosen cell."""
    strategy, size, overlap, unit = select.baseline
    wanted = (strategy, size, resolve_overlap(overlap, size), unit, chosen.result.cell.retrieval)
    for item in standings:
        cell = item.result.cell
        if (cell.strategy, cell.size, cell.overlap, cell.unit, cell.retrieval) == wanted and not cell.variant:
            return item
    return None


def _gap(chosen: Standing | None, baseline: Standing | None, metric: str, resampler: Resampler) -> Paired | None:
    """How far the chosen cell is ahead of the baseline, paired."""
    if chosen is None or baseline is None or baseline.result.key == chosen.result.key:
        return None
    return paired(column(chosen.result, metric), column(baseline.result, metric), resampler)


def _same_chunks(results: Sequence[CellResult]) -> tuple[tuple[str, ...], ...]:
    groups: dict[tuple[str, str], list[str]] = defaultdict(list)
    for result in results:
        groups[(result.chunk_digest, result.cell.retrieval)].append(result.cell.label)
    return tuple(tuple(labels) for labels in groups.values() if len(labels) > 1)
