"""What a score floor would gain, in words: how well the scores of each way of searching tell answerable questions from unanswerable ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.report.tables import number
from harness.summary import Standing, Summary


def refusing(summary: Summary) -> list[str]:
    """Lines on the named cell's floor, and on the other ways of searching; none where there are no unanswerable questions."""
    named = summary.cheapest or summary.winner
    if named is None or named.result.metrics.get("floor_area") is None:
        return []
    metrics, label = named.result.metrics, named.result.cell.label
    kept = f"keeps 95% of the questions that {label} completes with 5 chunks"
    refused = f"refuses {number(metrics.get('refused_at_95'), 2)} of the {number(metrics.get('questions_unanswerable'), 0)} unanswerable ones"
    lines = [f"Refusing questions whose best score is under {number(metrics.get('floor_at_95'), 3)} {kept} and {refused}."] if _tells(named) else []
    ways = _ways(summary)
    if len(ways) > 1:
        told = ", ".join(f"{name} {number(item.result.metrics.get('floor_area'), 2)}" for name, item in ways.items())
        left = "" if all(map(_tells, summary.standings)) else " Scores of fused places say nothing of a question, so those are left out."
        lines.append(f"How well scores tell the two apart (1: always; {number(0.5, 2)}: not at all), for the best cell of each: {told}.{left}")
    return lines


def _ways(summary: Summary) -> dict[str, Standing]:
    """The best cell of every retriever and embedder whose scores can be judged, in the order of the leaderboard."""
    found: dict[str, Standing] = {}
    for item in summary.standings:
        if item.result.metrics.get("floor_area") is not None and _tells(item):
            found.setdefault(f"{item.result.cell.retriever} on {item.result.cell.embedder}", item)
    return found


def _tells(item: Standing) -> bool:
    """Whether scores can be held against a floor at all: those of reciprocal rank fusion are made of places, the same for every question."""
    return not _by_rank(item.result.cell.config.get("retriever"))


def _by_rank(part: Any) -> bool:
    return isinstance(part, Mapping) and (part.get("method") == "rrf" or any(_by_rank(held) for held in part.values()))
