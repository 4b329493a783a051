"""Two cells over the same questions: the paired difference, and the questions that flip."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from harness.curves import column
from harness.errors import ConfigError
from harness.evaluation import Scoring, resampler_for
from harness.report.tables import number, p_value
from harness.statistics.paired import Paired, paired
from harness.sweep import check_metric
from harness.types import CellResult

_SHOWN = 20


@dataclass(frozen=True, slots=True)
class Comparison:
    """First against second on one metric: means, the paired difference (first minus second), ids of questions better in one or the other."""

    metric: str
    first: float
    second: float
    paired: Paired
    gained: tuple[str, ...]
    lost: tuple[str, ...]


def compare(first: CellResult, second: CellResult, metric: str, *, key: str = "--metric") -> Comparison:
    """Compare question by question.

    Raises ConfigError where the metric has no value for each question, the questions are not the same, or no question has a value in both.
    """
    for result in (first, second):
        check_metric(metric, [name for name in result.questions.columns if name in result.metrics], key=key)
    ids = first.questions["id"]
    if first.questions_digest != second.questions_digest or ids.tolist() != second.questions["id"].tolist():
        raise ConfigError("results", f"{first.cell.label}, {second.cell.label}", "must have been measured on the same questions with the same labels")
    ours, theirs = column(first, metric), column(second, metric)
    found = paired(ours, theirs, resampler_for(first.questions, Scoring()))
    if not found.n:
        raise ConfigError(key, metric, "has no value for any question in both results, so nothing can be compared")
    gained, lost = (tuple(ids[np.flatnonzero(better)].astype(str)) for better in (ours > theirs, theirs > ours))
    return Comparison(metric, float(np.nanmean(ours)), float(np.nanmean(theirs)), found, gained, lost)


def lines(found: Comparison) -> list[str]:
    """The comparison in words, the second being what was before."""
    return _told(found, f"{number(found.second, 3)} -> {number(found.first, 3)}, change", "gained", "lost")


def side_by_side(found: Comparison) -> list[str]:
    """The same for two cells of which neither is the older one."""
    shown = f"{number(found.first, 3)} against {number(found.second, 3)}, difference"
    return _told(found, shown, "better in the first", "better in the second")


def _told(found: Comparison, shown: str, gained: str, lost: str) -> list[str]:
    gap = found.paired
    return [
        f"{found.metric}: {shown} {gap.difference:+.3f} (95% {gap.low:+.3f} to {gap.high:+.3f}, {p_value(gap.p)}, n={gap.n})",
        f"{len(found.gained)} questions {gained}{_named(found.gained)}",
        f"{len(found.lost)} questions {lost}{_named(found.lost)}",
    ]


def _named(ids: tuple[str, ...]) -> str:
    return (f": {', '.join(ids[:_SHOWN])}" if ids else "") + (" ..." if len(ids) > _SHOWN else "")
