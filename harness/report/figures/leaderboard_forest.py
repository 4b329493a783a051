"""The leaderboard as a forest plot: every cell with its interval, best first."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from harness.report.figures.placing import rows
from harness.report.figures.style import BLUE, FAINT, HALF, INK, ROW, SMALL, canvas, headline, nothing, styled
from harness.report.figures.words import axis_label, digits, shared_words, short_labels, valued
from harness.report.tables import mark
from harness.sweep import Standing, Summary


def leaderboard_forest_table(summary: Summary) -> pd.DataFrame:
    """One row a cell, best first: its mark (1 the best, = can't be told from it, * the cheapest of these), value, 95% interval, n, how
    far it is behind the best."""
    metric = summary.select.metric
    return pd.DataFrame(
        [
            (
                mark(item, summary),
                item.result.cell.label,
                item.value,
                item.low,
                item.high,
                item.result.counts.get(metric),
                *(item.behind, item.behind_low, item.behind_high, item.p),
                _is_baseline(item, summary),
                "; ".join(item.broken),
            )
            for item in summary.standings
        ],
        columns=["mark", "cell", metric, "low", "high", "n", "behind", "behind_low", "behind_high", "p_adjusted", "baseline", "limits broken"],
    )


@styled
def leaderboard_forest(summary: Summary) -> Figure:
    """Value and 95% interval of the selecting metric, a row a cell, best first.

    Filled dots on a shaded row: the tie group; hollow ones: behind the best by more than chance explains; crosses: a limit is broken. The usual
    default is a diamond and named.
    """
    if not summary.standings:
        return nothing("No cell could be ranked.")
    items, metric = summary.standings, summary.select.metric
    figure = canvas(1.5 + ROW * len(items))
    panel: Axes = figure.subplots()
    labels = [item.result.cell.label for item in items]
    rows(panel, short_labels(labels), [mark(item, summary) for item in items])
    for row, item in enumerate(items):
        _row(panel, row, item, summary)
    panel.axvline(items[0].value, color=INK, alpha=HALF, linewidth=0.8, linestyle=":")
    panel.set_xlabel(axis_label(metric))
    note = f"Bars: 95% intervals, questions {summary.clusters}. 1: the best; = (shaded): can't be told from it; *: the cheapest of these."
    headline(figure, _says(summary), f"{note} {shared_words(labels)}")
    return figure


def _row(panel: Axes, row: int, item: Standing, summary: Summary) -> None:
    if item.tied:
        panel.axhspan(row - 0.5, row + 0.5, color=INK, alpha=FAINT / 2, linewidth=0)
    colour = BLUE if item.tied else INK
    usual = _is_baseline(item, summary)
    marker = "x" if item.broken else "D" if usual else "o"
    if np.isfinite(item.low) and np.isfinite(item.high):
        panel.plot([item.low, item.high], [row, row], color=colour, linewidth=1.4, solid_capstyle="butt")
    face = colour if item.tied or item.broken else "none"
    panel.plot([item.value], [row], marker=marker, markersize=6, color=colour, linestyle="none", markerfacecolor=face)
    told = valued(item.value, item.low, item.high, digits(summary.select.metric))
    told += "  usual default" if usual else ""
    told += "  over a limit" if item.broken else ""
    panel.text(1.02, row, told, transform=panel.get_yaxis_transform(), va="center", fontsize=SMALL)


def _is_baseline(item: Standing, summary: Summary) -> bool:
    return summary.baseline is not None and summary.baseline.result.key == item.result.key


def _says(summary: Summary) -> str:
    best = summary.winner
    if best is None:
        return "No cell keeps the limits"
    if len(summary.standings) == 1:
        return f"One cell, nothing to compare it with: {best.result.cell.label}"
    if not summary.decided:
        return "Every cell made the very same chunks: there is nothing to choose between"
    others = len(summary.tied) - 1
    rest = f"{others} of {len(summary.standings) - 1} others can't be told from it" if others else "every other cell is really behind it"
    return f"{best.result.cell.label} is best, and {rest}"
