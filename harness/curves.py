"""Size-discrimination curves: what size does to existence, to completeness at a budget, and to discrimination."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from harness.statistics.bootstrap import Resampler, interval
from harness.types import Bools, CellResult, Floats

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
    """The size-discrimination curve of one strategy x overlap x embedder. `discrimination` is on the questions that all its sizes can answer."""

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
    """A curve for every strategy x overlap (as typed) x embedder that was measured at two sizes or more."""
    groups: dict[tuple[str, str, str, str, str], dict[int, CellResult]] = defaultdict(dict)
    for result in results:
        cell = result.cell
        if cell.size is not None:
            overlap = str(cell.config.get("overlap", cell.overlap))
            groups[(cell.strategy, overlap, cell.embedder, cell.retriever, cell.unit)][cell.size] = result
    found = []
    for (strategy, overlap, embedder, _, unit), by_size in groups.items():
        if len(by_size) > 1:
            ordered = [by_size[size] for size in sorted(by_size)]
            limit = ordered[0].metrics.get("embedder_limit") if unit == "tokens" else None
            found.append(
                Curves(
                    strategy,
                    overlap,
                    embedder,
                    limit,
                    tuple(_point(result, "answer_existence", None, resampler) for result in ordered),
                    tuple(_point(result, "complete_within_2048", None, resampler) for result in ordered),
                    _discrimination(ordered, resampler),
                )
            )
    return found


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
    low, high = interval(values, resampler)
    return Point(size, float(np.nanmean(values)), low, high, n)
