"""Comparison of cells over the same questions: paired differences, sign-flip permutation, Holm, and the group that ties with the best."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from harness.statistics.bootstrap import Resampler, intervals
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

    p = (1 + flips at least as far) / (1 + flips), so never 0, and 1 where all differences are 0. All questions of a cluster flip together. Where the
    resampler has two columns of clusters, flips by each give a p, and the larger is returned (flipping by both at once would hide either
    dependence). Source: Fisher's randomisation test; Smucker, Allan and Carterette 2007 for retrieval.
    """
    values = np.nan_to_num(differences, nan=0.0)
    ways = np.array([_one_way(values, group, flips, sampler.seed + 1) for group in sampler.groups])
    return np.asarray(ways.max(axis=0), dtype=np.float64)


def _one_way(values: Floats, group: Ints, flips: int, seed: int) -> Floats:
    sums = np.zeros((int(group.max(initial=-1)) + 1, values.shape[1]))
    np.add.at(sums, group, values)
    sums = sums[np.any(sums != 0, axis=1)]
    observed = np.abs(sums.sum(axis=0))
    nearly = observed - 1e-9 * np.abs(sums).sum(axis=0)
    random = np.random.default_rng(seed)
    rows = max(1, _BLOCK // max(len(sums), 1))
    as_far = np.zeros(values.shape[1], dtype=np.int64)
    for done in range(0, flips, rows):
        signs = 2.0 * random.integers(0, 2, (min(rows, flips - done), len(sums)), dtype=np.int8) - 1.0
        as_far += (np.abs(signs @ sums) >= nearly).sum(axis=0)
    return (1 + as_far) / (1 + flips)


def holm(p: Floats) -> Floats:
    """p values adjusted for the number of comparisons (Holm 1979, "A simple sequentially rejective multiple test procedure"), in the order given."""
    order = np.argsort(p, kind="stable")
    steps = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    out = np.empty(len(p))
    out[order] = np.minimum(steps, 1.0)
    return out


@dataclass(frozen=True, slots=True)
class TieGroup:
    """Of m cells: the number of the best, and for each cell its difference from the best (at most 0) with interval, the Holm-adjusted p, the n of the
    comparison, and whether it belongs to the group that can't be told from the best (the best itself does, with p = 1)."""

    best: int
    difference: Floats
    low: Floats
    high: Floats
    p: Floats
    n: Ints
    members: Bools


def tie_group(cells: Floats, sampler: Resampler, *, alpha: float = 0.05) -> TieGroup:
    """`cells` (m, questions): one metric of every cell, in the same order of questions.

    The best has the largest mean over the questions where every cell is defined; of equal ones the first. Every other cell is compared with it,
    paired; p values are adjusted by Holm over the m - 1 comparisons; the group are the cells with p > alpha. The best was picked by looking, so its
    own mean is a little flattered; the group, not the best, is the finding. There are enough flips for the smallest p to survive the adjustment.
    """
    common = ~np.isnan(cells).any(axis=0)
    means = cells[:, common].mean(axis=1) if common.any() else np.full(len(cells), np.nan)
    best = int(np.argmax(np.nan_to_num(means, nan=-np.inf)))
    differences = (cells - cells[best]).T
    found = intervals(differences, sampler)
    others = np.arange(len(cells)) != best
    p = np.ones(len(cells))
    p[others] = holm(sign_flip(differences[:, others], sampler, flips=max(FLIPS, 40 * len(cells))))
    return TieGroup(best, found.mean, found.low, found.high, p, found.n, p > alpha)
