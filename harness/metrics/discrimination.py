"""Can retrieval still tell things apart? discrimination (d-prime) and auc, from scores over all candidates.

Both are means over the questions with R(q) not empty, on chunks. Outside(q) = C(q) without R(q). Where Outside is empty there is nothing to choose
from: 0. With 1 to 19 chunks outside, or scores that differ by less than float32 can resolve, the question can't be scored: NaN, and counted in
`questions_unscored`. Null altogether for retrievers that don't score every candidate.
"""

from __future__ import annotations

import numpy as np

from harness.metrics.base import Figure, Measures, Scene, share
from harness.types import Floats, Ints, Ranking

FEWEST_OUTSIDE = 20
SMALLEST_DEVIATION = 1e-6
"""Scores near 1 in float32 are 6e-8 apart, so a standard deviation below this is mostly rounding."""


def discrimination(scene: Scene) -> Measures:
    """The two figures.

    d-prime(q) = (mean score of R(q) - mean score of Outside(q)) / standard deviation of Outside(q), the whole of Outside(q) and so without
    Bessel's correction: by how many deviations the answer stands out (the sensitivity index of signal detection, Green and Swets 1966).
    auc(q) = share of pairs (chunk of R(q), chunk of Outside(q)) in the right order, a tie counting half; 0..1.
    """
    ranking, questions = scene.ranking, scene.labels.questions
    relevant = np.bincount(ranking.probes.question, minlength=questions)
    outside = ranking.candidates - relevant
    scored = (relevant > 0) & np.isfinite(ranking.score_mean)
    enough = scored & (outside >= FEWEST_OUTSIDE)
    means: dict[str, Floats] = {}
    for name, values in (("discrimination", _d_prime(ranking, relevant, outside)), ("auc", _auc(ranking, relevant, outside))):
        means[name] = np.where(enough, values, np.nan)
        means[name][scored & (outside == 0)] = 0.0
    unscored = scored & np.isnan(means["discrimination"])
    return Measures(means, figures={"questions_unscored": Figure(float(unscored.sum()), int(scored.sum()))})


def _d_prime(ranking: Ranking, relevant: Ints, outside: Ints) -> Floats:
    """Moments of Outside(q): those of all candidates less those of R(q) (Chan, Golub and LeVeque 1979, the merging of moments, backwards)."""
    row, score = ranking.probes.question, ranking.probe_score
    inside = share(np.bincount(row, weights=score, minlength=len(relevant)), relevant)
    inside_m2 = np.bincount(row, weights=(score - inside[row]) ** 2, minlength=len(relevant))
    total = ranking.candidates * ranking.score_mean
    mean = share(total - relevant * inside, outside)
    m2 = ranking.score_m2 - inside_m2 - share(relevant * outside, ranking.candidates) * (inside - mean) ** 2
    deviation = np.sqrt(np.maximum(share(m2, outside), 0))
    out = np.full(len(relevant), np.nan)
    np.divide(inside - mean, deviation, out=out, where=deviation >= SMALLEST_DEVIATION)
    return out


def _auc(ranking: Ranking, relevant: Ints, outside: Ints) -> Floats:
    """From how many candidates each chunk of R(q) beats and ties, less how many of R(q) itself."""
    row, score = ranking.probes.question, ranking.probe_score
    order = np.lexsort((score, row))
    sorted_row, sorted_score = row[order], score[order]
    new = np.ones(len(row), dtype=bool)
    new[1:] = (sorted_row[1:] != sorted_row[:-1]) | (sorted_score[1:] != sorted_score[:-1])
    run = np.cumsum(new) - 1
    first = np.flatnonzero(new)
    begin = np.cumsum(relevant) - relevant
    below = ranking.probe_below[order] - (first[run] - begin[sorted_row])
    tied = ranking.probe_tied[order] - np.bincount(run, minlength=len(first))[run]
    won = np.bincount(sorted_row, weights=below + tied / 2, minlength=len(relevant))
    return share(won, relevant * outside)


FAMILY = discrimination
