"""Comparison of cells over the same questions: paired differences, sign-flip permutation, and the group that ties with the best."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from harness.statistics.bootstrap import Resampler, by_cluster, intervals
from harness.types import Bools, Floats, Ints

FLIPS = 10_000
_BLOCK = 1 << 22


@dataclass(frozen=True, slots=True)
class Paired:
    """First minus second: mean difference over the n questions where both are defined, its interval, two-sided p."""

    difference: float
    low: float
    high: float
    p: float
    n: int


def paired(first: Floats, second: Floats, sampler: Resampler, *, flips: int = FLIPS) -> Paired:
    """The paired difference of two cells, one value a question each, in the same order; NaN in either leaves the question out."""
    differences = (first - second)[:, None]
    found = intervals(differences, sampler)
    p = sign_flip(differences, sampler, flips=flips)
    return Paired(float(found.mean[0]), float(found.low[0]), float(found.high[0]), float(p[0]), int(found.n[0]))


def sign_flip(differences: Floats, sampler: Resampler, *, flips: int = FLIPS) -> Floats:
    """Two-sided p of each column of `differences` (questions, m): how often flipping signs at random moves the sum as far from 0 as it is.

    p = (1 + flips at least as far) / (1 + flips), so never 0, and 1 where all differences are 0. All questions of a cluster flip together. Source:
    Fisher's randomisation test; Smucker, Allan and Carterette 2007 for retrieval. Where the resampler has two columns of clusters, sums are measured
    in standard errors: the observed one in the two-way error (see `squared_errors`), the flipped ones in the error of the column with the fewest
    clusters, which is flipped (after MacKinnon, Nielsen and Webb 2021, "Wild Bootstrap and Asymptotic Inference With Multiway Clustering", Journal of
    Business & Economic Statistics 39(2)); flips of one column alone would take the other column's chance for a difference.
    """
    values: Floats = np.nan_to_num(differences, nan=0.0)
    group = fewest(sampler)
    sums = by_cluster(values, group)
    own = np.sqrt((sums**2).sum(axis=0))
    observed = np.abs(sums.sum(axis=0)) * _ratio_of_errors(own, np.sqrt(squared_errors(values, sampler)))
    nearly = observed - 1e-9 * np.abs(sums).sum(axis=0)
    as_far = np.zeros(values.shape[1], dtype=np.int64)
    sums = sums[np.any(sums != 0, axis=1)]
    for signs in _signs(flips, len(sums), sampler.seed + 1):
        as_far += (np.abs(signs @ sums) >= nearly).sum(axis=0)
    return np.asarray((1 + as_far) / (1 + flips), dtype=np.float64)


def fewest(sampler: Resampler) -> Ints:
    """The column with the fewest clusters: what limits how much the questions can say."""
    return min(sampler.groups, key=lambda group: int(group.max(initial=-1)))


def squared_errors(values: Floats, sampler: Resampler) -> Floats:
    """Squared standard errors of the sums of the columns of `values` (questions, m), if their true sums are 0.

    One column of clusters: the sum of squares of the clusters' sums. Two: those of both, less those of the pairs (Cameron, Gelbach and Miller 2011,
    "Robust Inference With Multiway Clustering", Journal of Business & Economic Statistics 29(2)), and never less than of one of them.
    """
    ways = [(by_cluster(values, group) ** 2).sum(axis=0) for group in sampler.groups]
    if len(ways) == 1:
        return np.asarray(ways[0], dtype=np.float64)
    pairs = np.unique(np.stack(sampler.groups), axis=1, return_inverse=True)[1].astype(np.int64)
    both = ways[0] + ways[1] - (by_cluster(values, pairs) ** 2).sum(axis=0)
    return np.asarray(np.max([*ways, both], axis=0), dtype=np.float64)


def _ratio_of_errors(part: Floats, whole: Floats) -> Floats:
    return np.divide(part, whole, out=np.ones_like(part), where=whole > 0)


def _signs(flips: int, clusters: int, seed: int) -> Iterator[Floats]:
    """Blocks (rows, clusters) of random signs, `flips` rows in all."""
    random = np.random.default_rng(seed)
    rows = max(1, _BLOCK // max(clusters, 1))
    for done in range(0, flips, rows):
        yield np.asarray(2.0 * random.integers(0, 2, (min(rows, flips - done), clusters), dtype=np.int8) - 1.0, dtype=np.float64)


@dataclass(frozen=True, slots=True)
class TieGroup:
    """Of m cells: the number of the best, and for each cell its difference from the best (at most 0) with its own interval, p adjusted for the sweep,
    the n of the comparison, and whether it belongs to the group that can't be told from the best (the best itself does, with p = 1).

    `critical`: how many standard errors a cell had to be behind to be told from the best of all m; what `sizing` needs to speak of a sweep. NaN
    where there is nothing to compare, infinite where no difference could have been enough.
    """

    best: int
    difference: Floats
    low: Floats
    high: Floats
    p: Floats
    n: Ints
    members: Bools
    critical: float


def tie_group(cells: Floats, sampler: Resampler, *, alpha: float = 0.05, flips: int = FLIPS) -> TieGroup:
    """`cells` (m, questions): one metric of every cell, in the same order of questions. Only questions where all are defined are compared.

    The best has the largest mean; of equal ones the first. Because it was picked by looking, every flip of signs picks its best anew and measures how
    far behind it the others are, in standard errors; p is the share of flips in which some cell is as far behind as this one really is. The cell
    that is furthest behind is judged among all m, the next without it, and so on (a step-down maximum test: Romano and Wolf 2005, "Exact and
    Approximate Stepdown Methods for Multiple Hypothesis Testing", JASA 100(469); Hansen, Lunde and Nason 2011, "The Model Confidence Set",
    Econometrica 79(2), drop cells in the same way). Where all cells are equal, some cell leaves the group in at most a share `alpha` of sweeps;
    Holm's adjustment, which takes the best as given, lets that happen in a third of sweeps of 48 (docs/statistics.md). The group, not the best, is
    the finding.
    """
    common: Bools = np.asarray(~np.isnan(cells).any(axis=0))
    means = cells[:, common].mean(axis=1) if common.any() else np.zeros(len(cells))
    best = int(np.argmax(means))
    found = intervals(np.where(common, cells - cells[best], np.nan).T, sampler)
    p, critical = _behind(cells[:, common], best, sampler.among(common), alpha, flips)
    return TieGroup(best, found.mean, found.low, found.high, p, found.n, p > alpha, critical)


def _behind(cells: Floats, best: int, sampler: Resampler, alpha: float, flips: int) -> tuple[Floats, float]:
    """Adjusted p of every cell, and the critical number of standard errors."""
    group = fewest(sampler)
    sums = by_cluster((cells - cells.mean(axis=0)).T, group)
    own = _pair_errors(sums)
    lead = (sums.sum(axis=0)[best] - sums.sum(axis=0)) / _two_way(cells, best, own[best], sampler)
    others = np.argsort(lead, kind="stable")
    order = np.concatenate([[best], others[others != best]])
    own, lead, p = own[np.ix_(order, order)], lead[order], np.ones(len(cells))
    as_far, furthest = np.zeros(len(cells), dtype=np.int64), []
    for signs in _signs(flips, len(sums), sampler.seed + 1):
        for place, behind in enumerate(_furthest_behind(signs @ sums[:, order], own)):
            as_far[place] += (behind >= lead[place] - 1e-9).sum()
        furthest.append(behind)
    p[order[1:]] = np.maximum.accumulate((1 + as_far[:0:-1]) / (1 + flips))[::-1]
    return p, _in_errors(float(np.quantile(np.concatenate(furthest), 1 - alpha)), len(sums)) if len(cells) > 1 and len(sums) else np.nan


def _furthest_behind(flipped: Floats, own: Floats) -> Iterator[Floats]:
    """For the first 1, 2, … m cells: how many errors the furthest of them is behind the best of them, in every flip (rows, m); `own` (m, m)."""
    rows = np.arange(len(flipped))
    leader, furthest = np.zeros(len(flipped), dtype=np.int64), np.zeros(len(flipped))
    for cell in range(flipped.shape[1]):
        gap = flipped[rows, leader] - flipped[:, cell]
        furthest = np.maximum(furthest, gap / own[leader, cell])
        ahead = np.flatnonzero(gap < 0)
        if len(ahead):
            furthest[ahead] = ((flipped[ahead, cell, None] - flipped[ahead, :cell]) / own[cell, :cell]).max(axis=1)
            leader[ahead] = cell
        yield furthest


def _pair_errors(sums: Floats) -> Floats:
    """Standard errors (m, m) of the sums of the differences of every two columns; infinite where they never differ."""
    products = sums.T @ sums
    alone = np.diag(products)
    squared = alone[:, None] + alone[None, :] - 2 * products
    return np.sqrt(np.where(squared > 1e-9 * (alone[:, None] + alone[None, :]), squared, np.inf))


def _two_way(cells: Floats, best: int, own: Floats, sampler: Resampler) -> Floats:
    """The errors of the differences from the best that count every way in which questions depend on each other."""
    if len(sampler.groups) == 1:
        return own
    squared = squared_errors((cells[best] - cells).T, sampler)
    return np.maximum(own, np.sqrt(squared))


def _in_errors(ratio: float, clusters: int) -> float:
    """The number of standard errors at which a sum over `clusters`, divided by the root of its sum of squares, reaches `ratio`."""
    return ratio * np.sqrt((clusters - 1) / (clusters - ratio**2)) if ratio**2 < clusters else np.inf
