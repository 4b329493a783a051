"""Bootstrap over questions: intervals of means, and the draws behind them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy import sparse, stats

from harness.statistics.resampling import Counts, Resampler, clusters_in
from harness.types import Bools, Floats, Ints


@dataclass(frozen=True, slots=True)
class Intervals:
    """For each of m columns: its mean over the n defined rows and the interval, NaN where fewer than two clusters are defined."""

    mean: Floats
    low: Floats
    high: Floats
    n: Ints


def intervals(values: Floats, sampler: Resampler, *, weights: Floats | None = None, level: float = 0.95, skewed: bool = True) -> Intervals:
    """Intervals of the means of many columns at once; `values` (questions, m), NaN where not defined: such rows are left out, column by column.

    `weights` (questions, m): for weighted means (pooled shares). Percentiles of the bootstrap over whole clusters. `skewed`: bias-corrected and
    accelerated (Efron 1987, "Better Bootstrap Confidence Intervals", JASA 82(397)): the skewness of the clusters' sums moves both ends, and is also
    taken for the bias correction, to which it is equal for a mean; two columns of clusters add their squares and cubes. For differences of cells
    use `skewed=False`: they are nearly symmetric, so what skewness is seen in few clusters is chance (docs/statistics.md has both simulated). The
    level is widened for small numbers of clusters C: each tail is Phi(-sqrt(C / (C - 1)) t(alpha / 2, C - 1)), without which intervals are too
    narrow (Hesterberg 2015, "What Teachers Should Know About the Bootstrap", The American Statistician 69(4)). Where all rows are equal the interval
    has no width: a bootstrap can't see what never happened.
    """
    defined = ~np.isnan(values)
    share = np.where(defined, 1.0 if weights is None else weights, 0.0)
    weighted = np.where(defined, values, 0.0) * share
    mean = _ratio(weighted.sum(axis=0), share.sum(axis=0))
    drawn = _drawn(weighted, share, sampler)
    acceleration = _acceleration(weighted - np.nan_to_num(mean) * share, sampler) if skewed else np.zeros(values.shape[1])
    clusters = np.min([(by_cluster(defined, group) > 0).sum(axis=0) for group in sampler.groups], axis=0)
    tails = np.array([expanded_tail(int(count), level) if count > 1 else np.nan for count in clusters])
    low, high = _quantiles(drawn, _ends(tails, acceleration))
    return Intervals(mean, low, high, defined.sum(axis=0))


def _quantiles(drawn: Floats, ends: Floats) -> tuple[Floats, Floats]:
    """The two quantiles `ends` (m, 2) of every column of `drawn` (resamples, m), between neighbours in proportion; NaN in `drawn` is left out."""
    ordered = np.sort(drawn, axis=0)
    column, count = np.arange(drawn.shape[1]), np.count_nonzero(~np.isnan(drawn), axis=0)
    found = []
    for end in ends.T:
        place = np.where((count > 0) & ~np.isnan(end), end * (count - 1), np.nan)
        below = np.nan_to_num(place).astype(np.int64)
        above = np.minimum(below + 1, np.maximum(count - 1, 0))
        part = place - below
        found.append(ordered[below, column] * (1 - part) + ordered[above, column] * part)
    return found[0], found[1]


def _acceleration(deviations: Floats, sampler: Resampler) -> Floats:
    """A sixth of the skewness of the mean of each column, from the sums of its clusters; `deviations` (questions, m) are from the mean."""
    sums = [by_cluster(deviations, group) for group in sampler.groups]
    squares: Floats = np.sum([(part * part).sum(axis=0) for part in sums], axis=0)
    cubes: Floats = np.sum([(part * part * part).sum(axis=0) for part in sums], axis=0)  # ** 3 takes twenty times as long
    return _ratio(cubes, 6 * squares**1.5)


def _ends(tails: Floats, acceleration: Floats) -> Floats:
    """Which two quantiles (m, 2) of the draws intervals take that would leave `tails` (m,) on each side without skewness."""
    a = np.nan_to_num(acceleration)[:, None]
    sides = a + np.array([-1.0, 1.0]) * stats.norm.isf(tails)[:, None]
    return np.asarray(stats.norm.cdf(a + sides / np.maximum(1 - a * sides, 1e-3)), dtype=np.float64)


def interval(values: Floats, sampler: Resampler, *, weights: Floats | None = None, level: float = 0.95) -> tuple[float, float]:
    """(low, high) of the mean of one column; see `intervals`."""
    found = intervals(values[:, None], sampler, weights=None if weights is None else weights[:, None], level=level)
    return float(found.low[0]), float(found.high[0])


@lru_cache(maxsize=4096)
def expanded_tail(clusters: int, level: float) -> float:
    """The share to cut from each tail of the bootstrap distribution; a little less than (1 - level) / 2."""
    t = stats.t.ppf((1 + level) / 2, clusters - 1)
    return float(stats.norm.sf(np.sqrt(clusters / (clusters - 1)) * t))


def _ratio(part: Floats | Counts, whole: Floats | Counts) -> Floats:
    out = np.full(part.shape, np.nan)
    np.divide(part, whole, out=out, where=whole > 0)
    return out


def drawn_means(values: Floats, sampler: Resampler) -> Floats:
    """The bootstrap distribution (resamples, m) of the means of the columns of `values` (questions, m), NaN rows left out."""
    defined = ~np.isnan(values)
    return _drawn(np.where(defined, values, 0.0), defined.astype(np.float64), sampler)


def _drawn(weighted: Floats, share: Floats, sampler: Resampler) -> Floats:
    """Weighted means of every resample. Sums are taken in float32, which holds about seven digits."""
    if len(sampler.groups) == 1:  # draw clusters of sums instead of questions
        different, of_column = _different_columns(share)
        part, whole = (by_cluster(each, sampler.groups[0]).astype(np.float32) for each in (weighted, different))
        return np.concatenate([_ratio(drawn @ part, (drawn @ whole)[:, of_column]) for (drawn,) in sampler.draws()])
    different, of_column = _different_columns(share)
    part, whole = weighted.astype(np.float32), different.astype(np.float32)
    drawn = np.concatenate([_ratio(block @ part, (block @ whole)[:, of_column]) for block in sampler.weights()])
    mean = _ratio(weighted.sum(axis=0), share.sum(axis=0))
    error = _ratio(np.sqrt(squared_errors(weighted - np.nan_to_num(mean) * share, sampler)), share.sum(axis=0))
    return np.asarray(mean + (drawn - mean) * np.fmin(_ratio(error, _spread(drawn)), 1.0), dtype=np.float64)


def _different_columns(values: Floats) -> tuple[Floats, Ints]:
    """The columns of `values` without repeats, and where each of its columns is among them: most metrics are defined for the same questions."""
    places: dict[bytes, int] = {}
    of_column = np.array([places.setdefault(column.tobytes(), len(places)) for column in values.T], dtype=np.int64)
    first = np.unique(of_column, return_index=True)[1]
    return values[:, first], of_column


def _spread(drawn: Floats | Counts) -> Floats:
    """Standard deviation of each column over what is defined in it; NaN where nothing is."""
    defined = ~np.isnan(drawn)
    count = defined.sum(axis=0).astype(np.float64)
    gaps = np.where(defined, drawn - _ratio(np.where(defined, drawn, 0.0).sum(axis=0, dtype=np.float64), count), 0.0)
    return np.sqrt(_ratio((gaps**2).sum(axis=0), count))


def squared_errors(deviations: Floats, sampler: Resampler) -> Floats:
    """Squared standard errors of the sums of the columns of `deviations` (questions, m), from the mean, or from 0 where 0 is the hypothesis.

    One column of clusters: the sum of squares of the clusters' sums. Two: those of both, less those of the pairs (Cameron, Gelbach and Miller 2011,
    "Robust Inference With Multiway Clustering", Journal of Business & Economic Statistics 29(2)), and never less than of one of them.
    """
    ways = [(by_cluster(deviations, group) ** 2).sum(axis=0) for group in sampler.groups]
    if len(ways) > 1:
        pairs = np.unique(np.stack(sampler.groups), axis=1, return_inverse=True)[1].astype(np.int64)
        ways.append(ways[0] + ways[1] - (by_cluster(deviations, pairs) ** 2).sum(axis=0))
    return np.asarray(np.max(ways, axis=0), dtype=np.float64)


def by_cluster(values: Floats | Bools, group: Ints) -> Floats:
    """Sums (clusters, m) of the rows of `values` (questions, m) that are in the same cluster."""
    belongs = sparse.csr_array((np.ones(len(group)), (group, np.arange(len(group)))), shape=(clusters_in(group), len(group)))
    return np.asarray(belongs @ values, dtype=np.float64)
