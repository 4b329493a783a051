"""What each value of each axis does on average over all else that was swept."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from harness.curves import column
from harness.evaluation import Scoring, resampler_for
from harness.report.figures.style import BLUE, FAINT, INK, SMALL, canvas, headline, nothing, styled
from harness.report.figures.words import axis_label, digits, spoken
from harness.report.tables import number
from harness.statistics.bootstrap import interval
from harness.sweep import Summary
from harness.types import SURROUNDINGS, Cell, CellResult

AXES = ("strategy", "size", "overlap", "embedder", "retriever", "unit", *SURROUNDINGS)


def axis_levels_table(summary: Summary, scoring: Scoring) -> pd.DataFrame:
    """One row a level of every axis with two levels or more: marginal mean of the selecting metric, 95% interval, cells behind it.

    Each question's mean over the cells of the level, then the mean over questions; the interval is a bootstrap over questions. Levels that were
    measured with different values of the other axes are not made comparable by this.
    """
    results = [item.result for item in summary.standings]
    rows = []
    for axis in AXES:
        levels: dict[str, list[CellResult]] = {}
        for result in results:
            levels.setdefault(_level(result.cell, axis), []).append(result)
        if len(levels) > 1:
            rows += [(axis, name, *_mean(levels[name], summary.select.metric, scoring), len(levels[name])) for name in sorted(levels, key=_rank)]
    return pd.DataFrame(rows, columns=["axis", "level", "mean", "low", "high", "cells"])


@styled
def axis_levels(summary: Summary, scoring: Scoring) -> Figure:
    """A panel an axis on one scale: the marginal mean of each of its levels with the 95% interval."""
    table = axis_levels_table(summary, scoring)
    if table.empty:
        return nothing("No axis has two values, so there are no levels to compare.")
    axes_drawn = list(table["axis"].unique())
    counts = [int((table["axis"] == axis).sum()) for axis in axes_drawn]
    figure = canvas(4.2, max(4.5, 1.2 + sum(0.75 * count + 0.3 for count in counts)))
    panels: Sequence[Axes] = figure.subplots(1, len(counts), squeeze=False, sharey=True, width_ratios=[count + 0.4 for count in counts])[0]
    for panel, axis in zip(panels, axes_drawn, strict=True):
        _panel(panel, table[table["axis"] == axis], axis, digits(summary.select.metric))
    panels[0].set_ylabel(axis_label(summary.select.metric, "\n"))
    figure.align_xlabels()
    note = "Means over all cells of a level. Bars: 95% intervals over questions; levels share the questions, so bars that touch may still differ."
    headline(figure, _says(table, summary.select.metric), note)
    return figure


def _panel(panel: Axes, levels: pd.DataFrame, axis: str, places: int) -> None:
    at = np.arange(len(levels))
    style = "-" if axis in ("size", "overlap") else "none"
    panel.vlines(at, levels["low"], levels["high"], color=BLUE, linewidth=1.4)
    panel.plot(at, levels["mean"], marker="o", markersize=6, color=BLUE, linestyle=style, linewidth=1)
    for place, mean, top in zip(at, levels["mean"], levels["high"].fillna(levels["mean"]), strict=True):
        panel.annotate(number(mean, places), (place, top), xytext=(0, 5), textcoords="offset points", ha="center", fontsize=SMALL)
    names = [str(level) for level in levels["level"]]
    long = max(map(len, names)) > 10
    panel.set_xticks(at, names, rotation=30 if long else 0, ha="right" if long else "center")
    panel.set_xlim(-0.5, len(levels) - 0.5)
    panel.set_xlabel(axis)
    panel.grid(visible=True, axis="y", color=INK, alpha=FAINT)


def _level(cell: Cell, axis: str) -> str:
    if axis in SURROUNDINGS:
        return cell.around[axis]
    value = cell.config.get("overlap", cell.overlap) if axis == "overlap" and cell.size is not None else getattr(cell, axis)
    return "none" if value is None else str(value)


def _rank(level: str) -> tuple[bool, bool, float, str]:
    """Numbers first, then shares, each rising, then words."""
    digits_only = level.rstrip("%").replace(".", "", 1)
    return (not digits_only.isdigit(), level.endswith("%"), float(level.rstrip("%")) if digits_only.isdigit() else 0.0, level)


def _mean(results: Sequence[CellResult], metric: str, scoring: Scoring) -> tuple[float, float, float]:
    values = np.stack([column(result, metric) for result in results])
    values = values.mean(axis=0)  # a question that some cell has no value for has none here
    if np.isnan(values).all():
        return (np.nan, np.nan, np.nan)
    low, high = interval(values, resampler_for(results[0].questions, scoring))
    return (float(np.nanmean(values)), low, high)


def _says(table: pd.DataFrame, metric: str) -> str:
    reach = table.groupby("axis", sort=False)["mean"].agg(lambda means: means.max() - means.min())
    axis = str(reach.idxmax())
    levels = table[table["axis"] == axis].sort_values("mean", kind="stable")
    worst, best = levels.iloc[0], levels.iloc[-1]
    return f"{axis} moves {spoken(metric)} most: {number(worst['mean'], 3)} with {worst['level']}, {number(best['mean'], 3)} with {best['level']}"
