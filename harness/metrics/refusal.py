"""Unanswerable questions and the score floor: what is gained and lost by refusing a question whose best score is low.

floor_area, floor_at_95, refused_at_95; the whole curve by `floor_curve`.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from harness.metrics.base import Figure, Measures, Scene
from harness.types import Bools, Floats, Ranking

KEPT = 0.95
COMPLETE_AT = 5


def top_scores(ranking: Ranking) -> Floats:
    """The best score of every question, -inf where nothing was retrieved."""
    out = np.full(len(ranking), -np.inf)
    some = np.diff(ranking.indptr) > 0
    out[some] = ranking.score[ranking.indptr[:-1][some]]
    return out


def floor_curve(top: Floats, complete: Bools, answerable: Bools) -> pd.DataFrame:
    """One row a floor, rising: a question is refused where its best score lies below the floor.

    `complete_kept`: share of the questions that are complete (at 5) and not refused; falls from 1. `unanswerable_refused`: share of the
    unanswerable ones that are refused; rises. Empty where either kind is missing.
    """
    kept, refused = np.sort(top[complete & answerable]), np.sort(top[~answerable])
    if not len(kept) or not len(refused):
        return pd.DataFrame({"floor": [], "complete_kept": [], "unanswerable_refused": []}, dtype=float)
    floor = np.unique(np.concatenate([kept, refused]))
    return pd.DataFrame({
        "floor": floor,
        "complete_kept": 1 - np.searchsorted(kept, floor) / len(kept),
        "unanswerable_refused": np.searchsorted(refused, floor) / len(refused),
    })  # fmt: skip


def refusal(scene: Scene) -> Measures:
    """Figures over the complete (at 5) and the unanswerable questions; null where either kind is missing.

    floor_area (0..1) = share of pairs (complete, unanswerable) where the complete one has the higher best score, a tie counting half: the area under
    the curve, .5 for a floor that can't tell them apart. floor_at_95 = the highest floor that keeps at least 95% of the complete ones, a score;
    refused_at_95 (0..1) = the share of unanswerable questions that it refuses.
    """
    labels = scene.labels
    top = top_scores(scene.ranking)
    kept = np.sort(top[scene.reading.question_rank <= COMPLETE_AT])
    refused = np.sort(top[~labels.answerable])
    area = floor = caught = np.nan
    if len(kept) and len(refused):
        lower, not_higher = np.searchsorted(refused, kept), np.searchsorted(refused, kept, side="right")
        area = float((lower + not_higher).mean() / 2 / len(refused))
        floor = float(kept[int((1 - KEPT) * len(kept) + 1e-9)])
        caught = float((refused < floor).mean())
    return Measures(figures={
        "floor_area": Figure(area, len(kept) + len(refused)),
        "floor_at_95": Figure(floor, len(kept)),
        "refused_at_95": Figure(caught, len(refused)),
    })  # fmt: skip


FAMILY = refusal
