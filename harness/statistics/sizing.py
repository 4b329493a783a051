"""How small a difference this question set can show, and how many questions it would take to show a given one."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy import stats

from harness.statistics.bootstrap import Resampler, drawn_means
from harness.types import Floats

TARGET = 0.05


@dataclass(frozen=True, slots=True)
class Sizing:
    """`error`: standard error of the mean difference. `smallest`: the smallest true difference that would be found significant with the power asked
    for. `needed`: questions for `target`. NaN and None where the two cells never differ: there is no spread to go by."""

    n: int
    error: float
    smallest: float
    target: float
    needed: int | None


def sizing(differences: Floats, sampler: Resampler, *, target: float = TARGET, power: float = 0.8, alpha: float = 0.05) -> Sizing:
    """From the paired differences of two cells, one a question (NaN: left out).

    smallest = (z(1 - alpha / 2) + z(power)) x error, error by the same bootstrap as the intervals, so clusters count; the normal approximation of a
    two-sided test. needed = n x (smallest / target)^2, rounded up: more questions of the same kind, in clusters of the same size.
    """
    n = int((~np.isnan(differences)).sum())
    error = float(np.nanstd(drawn_means(differences[:, None], sampler), ddof=1)) if n > 1 else math.nan
    if not error > 0:
        return Sizing(n, error, math.nan, target, None)
    smallest = float(stats.norm.ppf(1 - alpha / 2) + stats.norm.ppf(power)) * error
    return Sizing(n, error, smallest, target, math.ceil(n * (smallest / target) ** 2 - 1e-9))
