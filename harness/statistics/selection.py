"""The winner's own value, corrected for having been picked, and how often each cell would be picked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from harness.statistics.bootstrap import drawn_means, interval
from harness.statistics.resampling import Resampler
from harness.types import Bools, Floats, Ints

SPLITS = 1000
_BLOCK = 1 << 22
"""Questions in or out of splits held at a time."""
_EQUAL = 1e-6
"""Means of resamples that differ by less are the same: they are taken in float32."""


@dataclass(frozen=True, slots=True)
class Corrected:
    """Of the cell with the largest mean: its number, the `apparent` mean, the `optimism` that comes of having picked it, and `value`, the apparent
    mean less the optimism, with its interval. NaN where all questions are of one cluster, which can't be split, or where no question is defined in
    every cell."""

    best: int
    value: float
    low: float
    high: float
    apparent: float
    optimism: float


def corrected_best(cells: Floats, sampler: Resampler, *, splits: int = SPLITS) -> Corrected:
    """What the best of `cells` (m, questions) would score on other questions of the same kind. Only questions where all are defined are used.

    Clusters are split in halves `splits` times: the best is picked on one half and valued on the other, which had no say in the choice; the mean of
    these values, pooled over splits, is `value` (repeated hold-out; two columns of clusters are both halved, and only what is in, or out, in both is
    used). The interval is the ordinary one of the best cell, moved down by the optimism and kept within the range of the values seen. `value` is
    never above the apparent mean. Of the corrections tried (docs/statistics.md) this has little bias everywhere and the least error; the
    bootstrap's own estimate of optimism leaves about a third of it standing where cells are equal.
    """
    common: Bools = np.asarray(~np.isnan(cells).any(axis=0))
    kept, among = cells[:, common], sampler.among(common)
    best = int(np.argmax(kept.mean(axis=1))) if common.any() else 0
    held_out = _held_out(kept, among, splits) if among.clusters > 1 else np.nan
    if not np.isfinite(held_out):
        return Corrected(best, *[np.nan] * 5)
    apparent = float(kept[best].mean())
    optimism = max(apparent - held_out, 0.0)
    low, high = np.clip(np.array(interval(kept[best], among)) - optimism, kept.min(), kept.max())
    return Corrected(best, apparent - optimism, float(low), float(high), apparent, optimism)


def _held_out(cells: Floats, sampler: Resampler, splits: int) -> float:
    """The pooled mean of what was picked on one half, on the other half; NaN where no split leaves questions on both sides."""
    total, questions = 0.0, 0.0
    for inside, outside in _halves(sampler, splits):
        seen, unseen = inside.sum(axis=1), outside.sum(axis=1)
        picked = (inside @ cells.T).argmax(axis=1)
        values = (outside @ cells.T)[np.arange(len(picked)), picked]
        usable = (seen > 0) & (unseen > 0)
        total += float(values[usable].sum())
        questions += float(unseen[usable].sum())
    return total / questions if questions else np.nan


def _halves(sampler: Resampler, splits: int) -> Iterator[tuple[Floats, Floats]]:
    """Blocks of splits: 1 for each question (rows, n) that is inside, and 1 for each that is outside."""
    random = np.random.default_rng(sampler.seed + 2)
    rows = max(1, _BLOCK // max(len(sampler), 1))
    for done in range(0, splits, rows):
        inside, outside = (np.ones((min(rows, splits - done), len(sampler))) for _ in range(2))
        for group in sampler.groups:
            half = _half(random, len(inside), group)
            inside *= half
            outside *= 1 - half
        yield inside, outside


def _half(random: np.random.Generator, rows: int, group: Ints) -> Bools:
    clusters = int(group.max()) + 1
    drawn = random.permuted(np.tile(np.arange(clusters) < clusters // 2, (rows, 1)), axis=1)
    return np.asarray(drawn[:, group])


def ranks(cells: Floats, sampler: Resampler) -> Floats:
    """The share of resamples (m,) in which each of `cells` (m, questions) is the best, on the questions where all are defined; ties share it.

    A picture of how open the race is. It is not the probability that a cell is the best: of equal cells the one that happens to lead gets most.
    NaN where no question is defined in all cells.
    """
    common: Bools = np.asarray(~np.isnan(cells).any(axis=0))
    if not common.any():
        return np.full(len(cells), np.nan)
    drawn = drawn_means(cells[:, common].T, sampler.among(common))
    leads = drawn >= drawn.max(axis=1, keepdims=True) - _EQUAL
    return np.asarray((leads / leads.sum(axis=1, keepdims=True)).mean(axis=0), dtype=np.float64)
