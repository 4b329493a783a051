"""Size-discrimination curves: what size does to existence, to completeness at a budget, and to discrimination."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from harness.statistics.bootstrap import interval
from harness.statistics.resampling import Resampler
from harness.types import Bools, Cell, CellResult, Floats

COMMON_FLOOR = 0.2
"""Sizes with less answer existence than this are drawn, but do not shrink the set of questions that a curve compares sizes on."""


@dataclass(frozen=True, slots=True)
class Point:
    """One size of a curve: a value with its interval, and the number of questions behind it."""

    size: int
    value: float
    low: float
    high: float
    n: int


@dataclass(frozen=True)
class Curves:
    """The size-discrimination curve of one strategy x overlap x embedder. `discrimination` is on the questions that all its sizes can answer.

    `strategy` also names what else was swept, for example "fixed strategy.keep_tail=true".
    """

    strategy: str
    overlap: str
    embedder: str
    limit: float | None
    existence: tuple[Point, ...]
    complete: tuple[Point, ...]
    discrimination: tuple[Point, ...]

    @property
    def name(self) -> str:
        """For legends and MLflow: strategy, embedder, overlap."""
        return f"{self.strategy} {self.embedder} overlap {self.overlap}"


def column(result: CellResult, metric: str) -> Floats:
    """The metric's value of every question, NaN where it is not defined."""
    values: Floats = result.questions[metric].to_numpy(dtype=np.float64)
    return values


def curves(results: Sequence[CellResult], resampler: Resampler) -> list[Curves]:
    """A curve for every strategy x overlap (as typed) x embedder (and whatever else was swept) that was measured at two sizes or more."""
    groups: dict[str, dict[int, CellResult]] = defaultdict(dict)
    for result in results:
        if result.cell.size is not None:
            groups[_without_size(result.cell)][result.cell.size] = result
    return [_curves([by_size[size] for size in sorted(by_size)], resampler) for by_size in groups.values() if len(by_size) > 1]


def _without_size(cell: Cell) -> str:
    """What cells of one curve have in common: all that decides a number but the size."""
    config = {name: value for name, value in cell.config.items() if name != "size"}
    if isinstance(strategy := config.get("strategy"), dict):
        config["strategy"] = {name: value for name, value in strategy.items() if name != "size"}
    axes = [cell.strategy, cell.embedder, cell.retriever, cell.unit]
    return json.dumps([axes, config, None if "overlap" in config else cell.overlap], sort_keys=True, default=str)


def _curves(ordered: Sequence[CellResult], resampler: Resampler) -> Curves:
    cell = ordered[0].cell
    return Curves(
        strategy=" ".join([cell.strategy, *cell.label.partition(f" {cell.embedder}")[2].split()]),
        overlap=str(cell.config.get("overlap", cell.overlap)),
        embedder=cell.embedder,
        limit=ordered[0].metrics.get("embedder_limit") if cell.unit == "tokens" else None,
        existence=tuple(_point(result, "answer_existence", None, resampler) for result in ordered),
        complete=tuple(_point(result, "complete_within_2048", None, resampler) for result in ordered),
        discrimination=_discrimination(ordered, resampler),
    )


def _discrimination(ordered: Sequence[CellResult], resampler: Resampler) -> tuple[Point, ...]:
    able = [result for result in ordered if (result.metrics.get("answer_existence") or 0.0) >= COMMON_FLOOR]
    if not able:
        return ()
    common: Bools = np.asarray(~np.isnan(np.stack([column(result, "discrimination") for result in able])).any(axis=0))
    return tuple(_point(result, "discrimination", common, resampler) for result in ordered)


def _point(result: CellResult, metric: str, among: Bools | None, resampler: Resampler) -> Point:
    size = result.cell.size or 0
    if metric not in result.questions.columns:
        return Point(size, np.nan, np.nan, np.nan, 0)
    values = column(result, metric)
    if among is not None:
        values = np.where(among, values, np.nan)
    n = int((~np.isnan(values)).sum())
    if not n:
        return Point(size, np.nan, np.nan, np.nan, 0)
    low, high = (result.metrics.get(f"{metric}_{side}") if among is None else None for side in ("low", "high"))
    if low is None or high is None:  # a cell that keeps an interval of its own has it of the same draws of the same questions
        low, high = interval(values, resampler)
    return Point(size, float(np.nanmean(values)), low, high, n)
