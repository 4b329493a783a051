"""What refusing by a score floor gains and loses."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from harness.metrics.refusal import COMPLETE_AT, KEPT, floor_curve
from harness.report.figures.placing import label_right
from harness.report.figures.style import COLOURS, FAINT, HALF, INK, MARKERS, SMALL, STYLES, canvas, headline, nothing, styled
from harness.report.figures.words import shared_words, short_labels
from harness.report.tables import number
from harness.types import CellResult

MOST = 5
_POINTS = 101


def refusal_curve_table(results: Sequence[CellResult]) -> pd.DataFrame:
    """One row a cell and floor (at most 101 floors a cell, evenly picked): complete_kept and unanswerable_refused.

    Only the first 5 cells, and of those the ones that have both complete (at 5) and unanswerable questions.
    """
    parts = [_curve(result).assign(cell=result.cell.label) for result in results[:MOST]]
    columns = ["cell", "floor", "complete_kept", "unanswerable_refused"]
    return pd.concat(parts, ignore_index=True)[columns] if parts else pd.DataFrame(columns=columns)


@styled
def refusal_curve(results: Sequence[CellResult]) -> Figure:
    """The share of complete questions that are kept against the share of unanswerable ones that are refused, as the score floor rises (to the right).

    The diagonal is a floor that tells nothing. The floor that keeps 95% is marked with its score. At most 5 cells are drawn: the first ones.
    """
    table = refusal_curve_table(results)
    if table.empty:
        return nothing("No floor to draw: that takes questions that are complete at 5 and questions without an answer.")
    figure = canvas(5.2, 8)
    panel: Axes = figure.subplots()
    cells = [result for result in results[:MOST] if (table["cell"] == result.cell.label).any()]
    ends = [_line(panel, table[table["cell"] == result.cell.label], result, place) for place, result in enumerate(cells)]
    panel.plot([0, 1], [1, 0], color=INK, alpha=HALF, linewidth=0.8, linestyle=":")
    line = {"arrowstyle": "-", "color": INK, "alpha": HALF, "linewidth": 0.8, "relpos": (0.5, 1)}
    panel.annotate("a floor that tells nothing", (0.3, 0.7), xytext=(0.2, 0.4), ha="center", fontsize=SMALL, alpha=HALF, arrowprops=line)
    panel.axhline(KEPT, color=INK, alpha=HALF, linewidth=0.8)
    panel.set(xlim=(0, 1.02), ylim=(0, 1.02), xlabel="share of unanswerable questions refused", ylabel="share of complete questions kept")
    panel.grid(visible=True, color=INK, alpha=FAINT)
    labels = short_labels([result.cell.label for result in cells])
    told = [(x, y, f"{label}\n{_figures(cell)}", colour) for (x, y, colour), label, cell in zip(ends, labels, cells, strict=True)]
    label_right(panel, told, 0.15)
    left_out = f" Not drawn: {len(results) - MOST} more cells." if len(results) > MOST else ""
    note = "Marked: the highest floor (a score) that keeps at least 95% of the questions that are complete at 5. These shares have no intervals."
    headline(figure, _says(cells[0]), f"{note}{left_out} {shared_words([result.cell.label for result in cells])}")
    return figure


def _curve(result: CellResult) -> pd.DataFrame:
    table = result.questions
    needed = {"top_score", "answerable", f"complete_at_{COMPLETE_AT}"}
    if not needed <= set(table.columns):
        return floor_curve(np.empty(0), np.empty(0, dtype=bool), np.empty(0, dtype=bool))
    top = table["top_score"].fillna(-np.inf).to_numpy(np.float64)
    complete = table[f"complete_at_{COMPLETE_AT}"].fillna(0).to_numpy(np.float64) > 0
    whole = floor_curve(top, complete, table["answerable"].to_numpy(bool))
    return whole.iloc[np.unique(np.linspace(0, len(whole) - 1, _POINTS).round().astype(int))] if len(whole) > _POINTS else whole


def _line(panel: Axes, curve: pd.DataFrame, result: CellResult, place: int) -> tuple[float, float, str]:
    """Draw one cell and return the point its name is led to."""
    colour, style = COLOURS[place % len(COLOURS)], STYLES[place % len(STYLES)]
    refused, kept = [*curve["unanswerable_refused"], 1.0], [*curve["complete_kept"], 0.0]
    panel.plot(refused, kept, color=colour, linestyle=style, linewidth=1.6)
    at, floor = result.metrics.get("refused_at_95"), result.metrics.get("floor_at_95")
    if at is not None and floor is not None:
        panel.plot(at, KEPT, marker=MARKERS[place], color=colour, markersize=7, zorder=4)
    middle = len(kept) * 3 // 4
    return refused[middle], kept[middle], colour


def _figures(result: CellResult) -> str:
    floor, area = result.metrics.get("floor_at_95"), number(result.metrics.get("floor_area"), 2)
    return f"area {area}" + (f"\nkeeps 95% at floor {floor:.2f}" if floor is not None else "")


def _says(result: CellResult) -> str:
    at, floor = result.metrics.get("refused_at_95"), result.metrics.get("floor_at_95")
    if at is None or floor is None:
        return "Refusing by a score floor: what is kept and what is refused"
    return f"A floor of {floor:.2f} refuses {number(at, 2)} of the unanswerable questions and keeps 95% of the complete ones ({result.cell.label})"
