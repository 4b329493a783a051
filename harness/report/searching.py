"""The ways of searching in words: how good each is, and whether it wants other chunks."""

from __future__ import annotations

from harness.report.tables import number, p_value
from harness.summary import Summary, Way

_NAMED = 8


def searching(summary: Summary) -> list[str]:
    """One line on the best cell of each, one on whether the best cell's chunks are good enough for all; none where there is only one way."""
    if not summary.ways:
        return []
    lines = [f"{way.name}: {number(way.best.value, 3)} with {_chunks(way)}{_real(way, summary)}" for way in summary.ways[:_NAMED]]
    more = len(summary.ways) - _NAMED
    return [*lines, *([f"and {more} more in the leaderboard"] if more > 0 else []), _moved(summary)]


def _chunks(way: Way) -> str:
    cell = way.best.result.cell
    size = "" if cell.size is None else f" size={cell.size}"
    overlap = "" if cell.overlap is None else f" overlap={cell.config.get('overlap', cell.overlap)}"
    return f"{cell.strategy}{size}{overlap}" + (f" {cell.variant}" if cell.variant else "")


def _real(way: Way, summary: Summary) -> str:
    """Whether its own best is really better than the best cell's chunks searched in this way."""
    if way.gap is None:
        return ""
    if way.gap.p >= summary.select.alpha:
        return f"; the best cell's chunks are {number(way.gap.difference, 3)} behind that, which chance could explain"
    low, high = number(way.gap.low, 3), number(way.gap.high, 3)
    return f"; the best cell's chunks are {number(way.gap.difference, 3)} behind that (95% {low} to {high}, {p_value(way.gap.p)})"


def _moved(summary: Summary) -> str:
    wanting = [way.name for way in summary.ways if way.gap is not None and way.gap.p < summary.select.alpha]
    if not wanting:
        return "None of them wants other chunks than the best cell's by more than chance explains."
    return f"Other chunks than the best cell's are better with {', '.join(wanting[:_NAMED])}: choose chunks and search together."
