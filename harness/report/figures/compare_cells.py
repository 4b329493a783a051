"""Two cells, question by question: what flips either way, and the difference with its interval."""

from __future__ import annotations

import textwrap

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from harness.report.figures.placing import spread
from harness.report.figures.style import BLUE, HALF, INK, SKY, SMALL, VERMILLION, canvas, headline, nothing, styled
from harness.report.figures.words import short_labels, spoken, valued
from harness.report.tables import number, p_value
from harness.statistics.paired import Paired
from harness.types import CellResult

KINDS = ("both the same, above 0", "first better", "second better", "both 0")


def compare_cells_table(first: CellResult, second: CellResult, gap: Paired, metric: str) -> pd.DataFrame:
    """One row a kind of question (KINDS) with its number and share of the questions where both are defined, then `first - second`: the mean
    difference with its 95% interval and p. Questions are paired by their id.
    """
    columns = [result.questions.set_index("id")[metric].astype(float) for result in (first, second)]
    pairs = pd.concat(columns, axis=1, join="inner").dropna().to_numpy()
    ours, theirs = pairs[:, 0], pairs[:, 1]
    kinds = ((ours == theirs) & (ours > 0), ours > theirs, ours < theirs, (ours == theirs) & (ours <= 0))
    counts = [int(kind.sum()) for kind in kinds]
    rows = [(name, count, count / max(len(pairs), 1), np.nan, np.nan, np.nan) for name, count in zip(KINDS, counts, strict=True)]
    rows.append(("first - second", gap.n, gap.difference, gap.low, gap.high, gap.p))
    return pd.DataFrame(rows, columns=["what", "questions", "value", "low", "high", "p"])


@styled
def compare_cells(first: CellResult, second: CellResult, gap: Paired, metric: str) -> Figure:
    """Above: the questions by which cell does better (colour, hatch and words); below: the paired difference with its 95% interval against 0.

    `gap` is `first` minus `second` of `metric`, as harness.statistics.paired finds it.
    """
    table = compare_cells_table(first, second, gap, metric).set_index("what")
    if not gap.n or not table.loc[list(KINDS), "questions"].sum():
        return nothing(f"No question has a value of {spoken(metric)} in both cells.")
    figure = canvas(4.0)
    bar, difference = figure.subplots(2, 1, height_ratios=[1, 0.8])
    names = short_labels([first.cell.label, second.cell.label])
    _flips(bar, table, names)
    _difference(difference, gap, names)
    real = "a real difference" if gap.p < 0.05 else "chance could explain it"
    ahead, behind = (first, second) if gap.difference >= 0 else (second, first)
    lead = f"{ahead.cell.label} is {number(abs(gap.difference), 3)} ahead of {behind.cell.label}, {real} ({p_value(gap.p)})"
    same = f"{first.cell.label} and {second.cell.label} do equally well"
    note = f"{spoken(metric).capitalize()}, {gap.n:,} questions, paired. Line: 95% interval of the difference."
    headline(figure, lead if gap.difference else same, note)
    return figure


def _flips(panel: Axes, table: pd.DataFrame, names: list[str]) -> None:
    words = {KINDS[0]: "both alike", KINDS[1]: f"{names[0]} better", KINDS[2]: f"{names[1]} better", KINDS[3]: "neither"}
    looks = {KINDS[0]: (SKY, ""), KINDS[1]: (BLUE, "//"), KINDS[2]: (VERMILLION, "\\\\"), KINDS[3]: ("none", "")}
    counts = table.loc[list(KINDS), "questions"]
    starts, total = counts.cumsum() - counts, counts.sum()
    middles = ((starts + counts / 2) / total).tolist()
    for kind, middle, place in zip(KINDS, middles, spread(middles, 0.26, 0.1, 0.9), strict=True):
        colour, hatch = looks[kind]
        panel.barh(0, counts[kind], left=starts[kind], height=0.8, color=colour, hatch=hatch, edgecolor="white" if hatch else INK, linewidth=0.8)
        line = {"arrowstyle": "-", "color": INK, "alpha": HALF, "linewidth": 0.8, "shrinkA": 0, "shrinkB": 0, "relpos": (0.5, 0)}
        told = f"{textwrap.fill(words[kind], 26)}\n{counts[kind]:.0f}"
        panel.annotate(told, (middle * total, 0.41), xytext=(place * total, 0.6), ha="center", va="bottom", fontsize=SMALL, arrowprops=line)
    panel.set(xlim=(0, total), ylim=(-0.45, 1.5), yticks=(), xlabel="questions")
    panel.spines["left"].set_visible(False)


def _difference(panel: Axes, gap: Paired, names: list[str]) -> None:
    panel.axvline(0, color=INK, linewidth=1)
    if np.isfinite(gap.low) and np.isfinite(gap.high):
        panel.plot([gap.low, gap.high], [0, 0], color=BLUE, linewidth=2)
    panel.plot(gap.difference, 0, marker="o", markersize=7, color=BLUE)
    told = valued(gap.difference, gap.low, gap.high)
    panel.annotate(told, (gap.difference, 0), xytext=(0, 9), textcoords="offset points", ha="center", fontsize=SMALL)
    told_apart = textwrap.fill(f"difference of the means: below 0 {names[1]} is better, above 0 {names[0]}", 100)
    reach = 1.25 * float(np.nanmax(np.abs([gap.difference, gap.low, gap.high, 0.01])))
    panel.set(xlim=(-reach, reach), ylim=(-1, 1.4), yticks=(), xlabel=told_apart)
    panel.spines["left"].set_visible(False)
