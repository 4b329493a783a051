"""Comparison of cells over the same questions: paired differences, sign-flip permutation, and the group that ties with the best."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from harness.statistics.bootstrap import by_cluster, intervals, squared_errors
from harness.statistics.resampling import Resampler
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
    found = intervals(differences, sampler, skewed=False)
    p = sign_flip(differences, sampler, flips=flips)
    return Paired(float(found.mean[0]), float(found.low[0]), float(found.high[0]), float(p[0]), int(found.n[0]))


def sign_flip(differences: Floats, sampler: Resampler, *, flips: int = FLIPS) -> Floats:
    """Two-sided p of each column of `differences` (questions, m): how often flipping signs at random moves the sum as far from 0 as it is.

    p = (1 + flips at least as far) / (1 + flips), so never 0, and 1 where all differences are 0. All questions of a cluster flip together. Source:
    Fisher's randomisation test; Smucker, Allan and Carterette 2007 for retrieval. Where the resampler has two columns of clusters, that with the
    fewest is flipped, and sums are compared in standard errors of their own (see `_distance`), as in MacKinnon, Nielsen and Webb 2021, "Wild
    Bootstrap and Asymptotic Inference With Multiway Clustering", Journal of Business & Economic Statistics 39(2): flips of one column alone would
    take what comes by chance with the other for a difference.
    """
    sums = by_cluster(np.nan_to_num(differences, nan=0.0), _fewest(sampler))
    root = np.sqrt((sums**2).sum(axis=0))
    nearly = (_distance(differences, sampler) - 1e-9) * root
    as_far = np.zeros(differences.shape[1], dtype=np.int64)
    sums = sums[np.any(sums != 0, axis=1)]
    for signs in _signs(flips, len(sums), sampler.seed + 1):
        as_far += (np.abs(signs @ sums) >= nearly).sum(axis=0)
    return np.asarray((1 + as_far) / (1 + flips), dtype=np.float64)


def _fewest(sampler: Resampler) -> Ints:
    """The column with the fewest clusters: what limits how much the questions can say."""
    return min(sampler.groups, key=lambda group: int(group.max(initial=-1)))


def _distance(differences: Floats, sampler: Resampler) -> Floats:
    """How far the sum of each column of `differences` (questions, m) is from 0, in roots of its sum of squares; 0 where all differences are 0.

    One column of C clusters: |sum| / sqrt(sum of squares of the clusters' sums), which flips leave as it is. Two: the sum of squares is put together
    of the two-way squared error about the mean and sum^2 / C, C of the column with the fewest clusters; for one column that would be the same.
    """
    values = np.nan_to_num(differences, nan=0.0)
    total, sums = values.sum(axis=0), by_cluster(values, _fewest(sampler))
    squares = (sums**2).sum(axis=0)
    if len(sampler.groups) > 1:
        defined = ~np.isnan(differences)
        mean = total / np.maximum(defined.sum(axis=0), 1)
        squares = squared_errors(np.where(defined, values - mean, 0.0), sampler) + total**2 / max(len(sums), 1)
    distance = np.zeros(len(total))
    np.divide(np.abs(total), np.sqrt(squares), out=distance, where=squares > 0)
    return distance


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

    `separation`: how many standard errors the best would have to be ahead of every other cell to be the only member in 80% of such sweeps; what
    `sizing` needs to speak of a sweep. NaN where there is nothing to compare, infinite where no difference could be enough.
    """

    best: int
    difference: Floats
    low: Floats
    high: Floats
    p: Floats
    n: Ints
    members: Bools
    separation: float


def tie_group(cells: Floats, sampler: Resampler, *, alpha: float = 0.05, flips: int = FLIPS) -> TieGroup:
    """`cells` (m, questions): one metric of every cell, in the same order of questions. Only questions where all are defined are compared.

    The best has the largest mean; of equal ones the first. Because it was picked by looking, the others are held against what chance does to *any*
    two cells: p is the share of flips in which some two are as far apart as this one is behind the best, each pair in units of its own chance. The
    cell that is furthest behind is judged among all m, the next without it, and so on (a step-down maximum test: Romano and Wolf 2005, "Exact and
    Approximate Stepdown Methods for Multiple Hypothesis Testing", JASA 100(469); Hansen, Lunde and Nason 2011, "The Model Confidence Set",
    Econometrica 79(2), drop cells in the same way). Where all cells are equal, some cell leaves the group in at most a share `alpha` of sweeps; with
    Holm's adjustment, which takes the best as given, that happens in about a quarter of sweeps of 48 (docs/statistics.md). The group, not the best,
    is the finding.
    """
    common: Bools = np.asarray(~np.isnan(cells).any(axis=0))
    means = cells[:, common].mean(axis=1) if common.any() else np.zeros(len(cells))
    best = int(np.argmax(means))
    found = intervals(np.where(common, cells - cells[best], np.nan).T, sampler, skewed=False)
    p, separation = _behind(cells[:, common], best, sampler.among(common), alpha, flips)
    return TieGroup(best, found.mean, found.low, found.high, p, found.n, p > alpha, separation)


def _behind(cells: Floats, best: int, sampler: Resampler, alpha: float, flips: int) -> tuple[Floats, float]:
    """Adjusted p of every cell, and the separation."""
    p, sums = np.ones(len(cells)), by_cluster((cells - cells.mean(axis=0)).T, _fewest(sampler))
    if len(cells) < 2 or len(sums) < 2:
        return p, np.nan
    own, lead = _pair_roots(sums), _distance((cells[best] - cells).T, sampler)
    others = np.argsort(lead, kind="stable")
    order = np.concatenate([[best], others[others != best]])
    own, lead = own[np.ix_(order, order)], lead[order]
    leads, furthest = np.empty((flips, len(cells) - 1)), np.empty((flips, len(cells) - 1))
    done = 0
    for signs in _signs(flips, len(sums), sampler.seed + 1):
        flipped, rows = signs @ sums[:, order], slice(done, done + len(signs))
        furthest[rows] = np.stack(list(_furthest_apart(flipped, own)), axis=1)
        leads[rows] = (flipped[:, :1] - flipped[:, 1:]) / own[0, 1:]
        done += len(signs)
    as_far = (furthest >= lead[1:] - 1e-9).sum(axis=0)
    p[order[1:]] = np.maximum.accumulate((1 + as_far[::-1]) / (1 + flips))[::-1]
    return p, _separation(leads, np.quantile(furthest, 1 - alpha, axis=0), _fewest(sampler))


def _separation(leads: Floats, critical: Floats, group: Ints, power: float = 0.8) -> float:
    """How far ahead the best must be for all to be behind it in a share `power` of the flips, whose chance lends it `leads` (flips, m - 1).

    `critical` (m - 1,): what the nearest cell must be behind, the two nearest, …; both in roots, the result in standard errors. A difference adds to
    its own root, the more so where clusters are of unequal size; and chance is widened for the error's own error, as in a noncentral t.
    """
    sizes = np.bincount(group)
    clusters, uneven = len(sizes), float((sizes**2).mean() / sizes.mean() ** 2)
    if (uneven * critical**2 >= clusters).any():
        return np.inf
    errors = critical * np.sqrt((clusters - 1) / (clusters - uneven * critical**2))
    widened = np.sqrt(1 + errors**2 / (2 * (clusters - 1)))
    return float(np.quantile((errors - np.sort(leads, axis=1) * widened).max(axis=1), power))


def _furthest_apart(flipped: Floats, own: Floats) -> Iterator[Floats]:
    """For the first 2, 3, … m cells: how far apart any two of them are at most, in every flip (rows, m), in roots `own` (m, m)."""
    furthest = np.zeros(len(flipped))
    for cell in range(1, flipped.shape[1]):
        apart = np.abs(flipped[:, :cell] - flipped[:, cell, None]) / own[cell, :cell]
        furthest = np.maximum(furthest, apart.max(axis=1))
        yield furthest


def _pair_roots(sums: Floats) -> Floats:
    """Roots (m, m) of the sums of squares of the differences of every two columns; infinite where they never differ."""
    products = sums.T @ sums
    alone = np.diag(products)
    squared = alone[:, None] + alone[None, :] - 2 * products
    return np.sqrt(np.where(squared > 1e-9 * (alone[:, None] + alone[None, :]), squared, np.inf))
