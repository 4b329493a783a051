"""What each axis of a sweep (strategy, size, overlap, embedder, …) does to a metric: shares of the spread between cells, and means of its levels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd

from harness.statistics.bootstrap import drawn_means, expanded_tail, intervals
from harness.statistics.resampling import Resampler
from harness.types import Bools, Floats

REST = "rest"
_RANK = 1e-9
"""Singular values below this share of the largest are 0."""
_ROUNDING = 1e-12
"""Squares between cells below this share of the squares of the means are rounding."""


@dataclass(frozen=True, slots=True)
class Effect:
    """`share` (0 to 1) of the spread between cells that is due to `name`: an axis ("size"), two of them together ("size x overlap": what they do
    beyond the sum of the two), or "rest" (three and more together). NaN where this grid can't separate it from the others."""

    name: str
    share: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Effects:
    """`terms`: axes, then pairs, then the rest. `shared`: 1 less the sum of the shares; on a full grid 0 (but for shares cut at 0), otherwise what is
    common to axes that did not vary independently. `spread`: standard deviation between the cells, without chance. `chance`: share (0 to 1) of the
    variance *seen* that is chance. Where that may be all of it the shares are NaN: there is nothing to divide."""

    terms: tuple[Effect, ...]
    shared: float
    spread: float
    chance: float


@dataclass(frozen=True, slots=True)
class Level:
    """The mean of one level of an axis over the other axes, with its interval, and the number of cells that have it."""

    axis: str
    level: str
    value: float
    low: float
    high: float
    cells: int


def effects(axes: pd.DataFrame, cells: Floats, sampler: Resampler, *, level: float = 0.95) -> Effects:
    """Divide the variance of the means of `cells` (m, questions) among `axes` (m rows, a column an axis; values are categories).

    Analysis of variance with squares of type II (Fox 2016, "Applied Regression Analysis", chapter 8): each axis after all terms without it, each pair
    after all other axes and pairs. Of a full grid these are the ordinary, orthogonal parts, in no order; where cells are missing each term gets only
    what no other term can explain, so it is never credited with another's work, and what is left over is named (`shared`). Only questions
    where all cells are defined are used; axes with one value are left out.

    Chance spreads cells as well, so it would raise every share of a weak axis: a sum of squares of means has the true one plus the variance of its
    coordinates as expectation. That variance, taken from the resamples, is subtracted (and once more in each resample, whose means have been
    drawn twice: by the question set, and from it); what falls below 0 is 0. Intervals are percentiles over resamples, widened for few clusters.
    """
    common: Bools = np.asarray(~np.isnan(cells).any(axis=0))
    among = sampler.among(common)
    varied = _varied(axes)
    if not varied or among.clusters < 2:
        return Effects((), np.nan, np.nan, np.nan)
    means, drawn = cells[:, common].mean(axis=1), drawn_means(cells[:, common].T, among)
    inflated = among.clusters / (among.clusters - 1)
    everything = _basis(np.eye(len(cells)), np.ones((len(cells), 1)))
    total = _Squares.of(everything, means, drawn, inflated)
    if total.true <= _ROUNDING * float((means**2).sum()):
        total = _Squares(total.seen, 0.0, total.drawn, True)
    tail = expanded_tail(among.clusters, level)
    parts = {name: _Squares.of(basis, means, drawn, inflated) for name, basis in _bases(varied, len(cells)).items()}
    terms = tuple(_effect(name, part, total, tail) for name, part in parts.items())
    shares = np.array([term.share for term in terms])
    spread = float(np.sqrt(max(total.true, 0.0) / len(cells)))
    chance = float(np.clip(1 - total.true / total.seen, 0, 1)) if total.seen > 0 else np.nan
    return Effects(terms, float(1 - np.nansum(shares)) if total.true > 0 else np.nan, spread, chance)


@dataclass(frozen=True, slots=True)
class _Squares:
    """A sum of squares of cell means: as seen, without chance, and of every resample without chance (resamples,)."""

    seen: float
    true: float
    drawn: Floats
    possible: bool

    @classmethod
    def of(cls, basis: Floats, means: Floats, drawn: Floats, inflated: float) -> _Squares:
        """Of the part of the means that lies in `basis` (m, rank), whose columns are orthonormal."""
        coordinates = drawn @ basis
        seen, noise = float(((means @ basis) ** 2).sum()), float(coordinates.var(axis=0).sum()) * inflated
        return cls(seen, seen - noise, (coordinates**2).sum(axis=1) - 2 * noise, basis.shape[1] > 0)


def _effect(name: str, part: _Squares, total: _Squares, tail: float) -> Effect:
    """Resamples without any spread beyond chance say nothing of a share: they count as 0 below and as 1 above."""
    if total.true <= 0 or (not part.possible and name != REST):
        return Effect(name, np.nan, np.nan, np.nan)
    shares = np.full(len(part.drawn), np.nan)
    np.divide(part.drawn, total.drawn, out=shares, where=total.drawn > 0)
    low, high = np.quantile(np.nan_to_num(shares, nan=0.0), tail), np.quantile(np.nan_to_num(shares, nan=1.0), 1 - tail)
    share, low, high = np.clip([part.true / total.true, low, high], 0, 1)
    return Effect(name, float(share), float(low), float(high))


def _varied(axes: pd.DataFrame) -> dict[str, Floats]:
    """Indicators (m, levels) of each axis with more than one level."""
    coded = {str(name): _indicators(axes[name])[0] for name in axes.columns}
    return {name: columns for name, columns in coded.items() if columns.shape[1] > 1}


def _indicators(axis: pd.Series) -> tuple[Floats, list[str]]:
    names = [_name(value) for value in axis.tolist()]
    distinct = list(dict.fromkeys(names))
    return np.array([[name == each for each in distinct] for name in names], dtype=np.float64), distinct


def _name(value: object) -> str:
    """A column of sizes with a gap holds 64.0 and NaN: these are "64" and "none"."""
    if value is None or (isinstance(value, float) and np.isnan(value)):
        return "none"
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _bases(varied: dict[str, Floats], cells: int) -> dict[str, Floats]:
    """An orthonormal basis (m, rank) of what each term adds to all terms that do not contain it; the last of what no term explains."""
    designs: dict[tuple[str, ...], Floats] = {(name,): columns for name, columns in varied.items()}
    for one, two in combinations(varied, 2):
        designs[(one, two)] = (varied[one][:, :, None] * varied[two][:, None, :]).reshape(cells, -1)
    whole = np.ones((cells, 1))
    found = {}
    for term, columns in designs.items():
        without = [other for name, other in designs.items() if not set(term) <= set(name)]
        found[" x ".join(term)] = _basis(columns, np.hstack([whole, *without]))
    found[REST] = _basis(np.eye(cells), np.hstack([whole, *designs.values()]))
    return found


def _basis(columns: Floats, known: Floats) -> Floats:
    """Orthonormal columns that span what `columns` (m, a) add to the span of `known` (m, b)."""
    left, size, _ = np.linalg.svd(known, full_matrices=False)
    left = left[:, size > _RANK * size[0]]
    added, size, _ = np.linalg.svd(columns - left @ (left.T @ columns), full_matrices=False)
    return np.asarray(added[:, size > _RANK * np.sqrt(len(columns))], dtype=np.float64)


def levels(axes: pd.DataFrame, cells: Floats, sampler: Resampler, *, level: float = 0.95) -> tuple[Level, ...]:
    """The mean of each level of each axis that varies, all levels of the other axes weighing the same.

    Over a full grid this is the plain mean of the level's cells. Where cells are missing, the plain mean would mix in which other levels happen to be
    there, so it is the least squares fit of a sum of the axes (Searle, Speed and Milliken 1980, "Population Marginal Means in the Linear
    Model", The American Statistician 34(4)); NaN where even that can't be told. It is linear in the cells, so it has an ordinary interval over
    questions. Only questions where all cells are defined are used.
    """
    common: Bools = np.asarray(~np.isnan(cells).any(axis=0))
    coded = {str(name): _indicators(axes[name]) for name in axes.columns}
    coded = {name: found for name, found in coded.items() if len(found[1]) > 1}
    if not coded or not common.any():
        return ()
    weights = _level_weights([columns for columns, _ in coded.values()])
    found = intervals((weights @ cells[:, common]).T, sampler.among(common), level=level)
    labels = [(axis, name, int(count)) for axis, (columns, names) in coded.items() for name, count in zip(names, columns.sum(axis=0), strict=True)]
    return tuple(
        Level(axis, name, float(found.mean[row]), float(found.low[row]), float(found.high[row]), count)
        for row, (axis, name, count) in enumerate(labels)
    )


def _level_weights(indicators: Sequence[Floats]) -> Floats:
    """What each cell weighs in the mean of each level (levels of all axes, m)."""
    design = np.hstack([np.ones((len(indicators[0]), 1)), *indicators])
    rows = []
    for place, columns in enumerate(indicators):
        for own in np.eye(columns.shape[1]):
            others = [own if other == place else np.full(each.shape[1], 1 / each.shape[1]) for other, each in enumerate(indicators)]
            rows.append(np.concatenate([[1.0], *others]))
    wanted, inverse = np.array(rows), np.linalg.pinv(design)
    told = np.isclose(wanted @ inverse @ design, wanted, atol=1e-8).all(axis=1)
    return np.where(told[:, None], wanted @ inverse, np.nan)
