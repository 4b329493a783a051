"""How small a difference this question set can show, and how many questions it would take to show a given one."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy import stats

from harness.statistics.bootstrap import drawn_means
from harness.statistics.resampling import Resampler
from harness.types import Bools, Floats

TARGET = 0.05


@dataclass(frozen=True, slots=True)
class Sizing:
    """`error`: standard error of the mean difference. `smallest`: the smallest true difference that would be found significant with the power asked
    for. `needed`: questions for `target`. NaN and None where the two cells never differ: there is no spread to go by; `smallest` infinite and
    `needed` None where no difference could be found."""

    n: int
    error: float
    smallest: float
    target: float
    needed: int | None


def sizing(
    differences: Floats, sampler: Resampler, *, target: float = TARGET, power: float = 0.8, alpha: float = 0.05, separation: float | None = None
) -> Sizing:
    """From the paired differences of two cells, one a question (NaN: left out).

    smallest = separation x error. `separation`: by default t(1 - alpha / 2) + t(power), right for two cells that were named beforehand; of a sweep,
    `TieGroup.separation`: the more cells are compared, the more it takes, and the promise is that a best cell this far ahead of *every* other is
    found to be the only winner with 80% power. error by the same bootstrap as the intervals, so clusters count, times sqrt(C / (C - 1)), as t with
    C - 1 degrees of freedom wants it for C clusters. needed = n x (smallest / target)^2, rounded up: more questions of the same kind, in clusters of
    the same size.
    """
    defined: Bools = np.asarray(~np.isnan(differences))
    n, clusters = int(defined.sum()), sampler.among(defined).clusters
    error = float(np.nanstd(drawn_means(differences[:, None], sampler), ddof=1)) if clusters > 1 else math.nan
    if not error > 0:
        return Sizing(n, error, math.nan, target, None)
    error *= math.sqrt(clusters / (clusters - 1))
    freedom = clusters - 1
    needs = float(stats.t.ppf(1 - alpha / 2, freedom) + stats.t.ppf(power, freedom)) if separation is None else separation
    smallest = needs * error
    needed = math.ceil(n * (smallest / target) ** 2 - 1e-9) if math.isfinite(smallest) else None
    return Sizing(n, error, smallest, target, needed)
