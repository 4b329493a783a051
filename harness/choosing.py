"""Choosing between cells on more than one figure: limits that a choice must keep, the Pareto front, and its knee."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from harness.errors import ConfigError
from harness.types import Bools, CellResult, Floats

COSTS = ("context_tokens_at_5", "storage_ratio", "embedding_tokens")
"""What quality is weighed against: the reader's tokens, storage, and the tokens to embed once; less is better."""


@dataclass(frozen=True, slots=True)
class Limit:
    """A bound that the named cell must keep: `metric` at most (or at least) `bound`."""

    metric: str
    bound: float
    at_most: bool

    def broken_by(self, metrics: Mapping[str, float | None]) -> str | None:
        """What is wrong in words, None where the limit is kept. A null figure keeps no limit."""
        if self.metric not in metrics:
            raise ConfigError(f"select.{'max' if self.at_most else 'min'}.{self.metric}", self.bound, "there is no metric of this name")
        value = metrics[self.metric]
        if value is not None and (value <= self.bound if self.at_most else value >= self.bound):
            return None
        found = "null" if value is None else f"{value:.4g}"
        return f"{self.metric} is {found}, {'over' if self.at_most else 'under'} the limit {self.bound:g}"


def broken_limits(result: CellResult, limits: Sequence[Limit]) -> list[str]:
    """Every limit that the cell does not keep, in words."""
    return [problem for limit in limits if (problem := limit.broken_by(result.metrics))]


def pareto(gains: Floats) -> Bools:
    """Which rows of `gains` (cells, figures; more is better in each) no other row beats: none is at least as good everywhere and better somewhere.

    Equal rows are all on the front. Costs cells squared comparisons, vectorised.
    """
    at_least = (gains[:, None, :] >= gains[None, :, :]).all(axis=2)
    better = (gains[:, None, :] > gains[None, :, :]).any(axis=2)
    return np.asarray(~(at_least & better).any(axis=0))


def front(results: Sequence[CellResult], metric: str) -> list[CellResult]:
    """The cells on the Pareto front of `metric` against COSTS. Cells with a null among these figures are left out."""
    rows = [[result.metrics.get(metric), *(result.metrics.get(name) for name in COSTS)] for result in results]
    whole = [place for place, row in enumerate(rows) if all(value is not None for value in row)]
    if not whole:
        return []
    figures = np.array([rows[place] for place in whole], dtype=np.float64)
    gains = figures * np.array([1.0, *[-1.0] * len(COSTS)])
    return [results[place] for place, kept in zip(whole, pareto(gains), strict=True) if kept]


def knee(results: Sequence[CellResult], metric: str, cost: str = "context_tokens_at_5") -> CellResult | None:
    """Of cells on a front, the one past which quality gets dear: the furthest above the chord from the cheapest to the best, axes scaled to 0..1.

    Cost on a log axis, as sizes are. None for fewer than three distinct points. Source: the idea of Satopaa et al. 2011, "Finding a 'Kneedle' in a
    Haystack", for a concave increasing curve.
    """
    points = sorted(((result.metrics[cost] or 0.0, result.metrics[metric] or 0.0, place) for place, result in enumerate(results)))
    rising: list[tuple[float, float, int]] = []
    for point in points:
        if not rising or point[1] > rising[-1][1]:
            rising.append(point)
    if len(rising) < 3 or rising[0][0] <= 0:
        return None
    price, quality = np.log([point[0] for point in rising]), np.array([point[1] for point in rising])
    price, quality = (price - price[0]) / (price[-1] - price[0]), (quality - quality[0]) / (quality[-1] - quality[0])
    return results[rising[int(np.argmax(quality - price))][2]]
