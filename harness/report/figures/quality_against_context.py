"""Quality against what the reader has to read, with the Pareto front."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from harness.report.figures.placing import label_right, log_ticks
from harness.report.figures.style import COLOURS, FAINT, HALF, INK, MARKERS, SMALL, canvas, headline, in_order, nothing, styled
from harness.report.figures.words import axis_label, shared_words, short_labels, spoken
from harness.report.tables import number
from harness.sweep import Summary

CONTEXT = "context_tokens_at_5"
_NAMED = 6


def quality_against_context_table(summary: Summary, front: Collection[str] | None = None, knee: str | None = None) -> pd.DataFrame:
    """One row a cell, best first: context tokens of 5 chunks, `value` of the selecting metric with its 95% interval, and `role`: best, named, knee.

    `front`: whether it is on the Pareto front.
    """
    on_front, at_knee = summary.front if front is None else front, knee or summary.knee
    rows = []
    for item in summary.standings:
        result, tokens = item.result, item.result.metrics.get(CONTEXT)
        if tokens:
            role = {"best": item is summary.winner, "named": item is summary.cheapest, "knee": result.key == at_knee}
            words = ", ".join(word for word, so in role.items() if so)
            rows.append((result.cell.label, result.cell.strategy, tokens, item.value, item.low, item.high, result.key in on_front, words))
    return pd.DataFrame(rows, columns=["cell", "strategy", CONTEXT, "value", "low", "high", "front", "role"])


@styled
def quality_against_context(summary: Summary, front: Collection[str] | None = None, knee: str | None = None) -> Figure:
    """The selecting metric (95% interval) over the tokens of 5 chunks (log axis).

    `front`: keys of the cells on the Pareto front, drawn filled, the others hollow; `knee`: the key of its knee (by default the summary's own). The
    line shows the best that can be had for so much context; cells of the front that lie below it are cheaper in something that is not drawn.
    Colour and marker: the strategy.
    """
    table = quality_against_context_table(summary, front, knee)
    if table.empty:
        return nothing("No cell has both a value and a number of context tokens.")
    figure = canvas(5.2)
    panel: Axes = figure.subplots()
    table["short"] = short_labels(table["cell"].tolist())
    for place, strategy in enumerate(in_order(table["strategy"])):
        cells = table[table["strategy"] == strategy]
        _points(panel, cells, COLOURS[place % len(COLOURS)], MARKERS[place % len(MARKERS)], strategy)
    _line(panel, table[table["front"]])
    panel.set(xlabel="context tokens of 5 chunks, mean over questions (log axis)", ylabel=axis_label(summary.select.metric, "\n"))
    panel.margins(x=0.06)
    log_ticks(panel)
    panel.grid(visible=True, color=INK, alpha=FAINT)
    label_right(panel, _names(table), 0.046)
    if table["strategy"].nunique() > 1:
        panel.legend(frameon=False, loc="lower left", bbox_to_anchor=(0, 1), ncols=6, fontsize=SMALL, borderaxespad=0.2)
    note = "Bars: 95% intervals. Filled: on the Pareto front of quality, context, storage and tokens to embed; line: the best for so much context."
    headline(figure, _says(table, summary.select.metric), f"{note} {shared_words(table['cell'].tolist())}")
    return figure


def _points(panel: Axes, cells: pd.DataFrame, colour: str, marker: str, name: str) -> None:
    panel.vlines(cells[CONTEXT], cells["low"], cells["high"], color=colour, alpha=0.75, linewidth=0.9)
    for face, chosen in ((colour, cells[cells["front"]]), ("none", cells[~cells["front"]])):
        panel.plot(chosen[CONTEXT], chosen["value"], marker=marker, markersize=7, color=colour, markerfacecolor=face, linestyle="none", zorder=3)
    panel.plot([], [], marker=marker, markersize=7, color=colour, linestyle="none", label=name)


def _line(panel: Axes, front: pd.DataFrame) -> None:
    ordered = front.sort_values([CONTEXT, "value"], ascending=[True, False])
    rising = ordered[ordered["value"] > ordered["value"].cummax().shift(fill_value=-np.inf)]
    if len(rising) > 1:
        panel.step(rising[CONTEXT], rising["value"], where="post", color=INK, alpha=HALF, linewidth=1.2, zorder=1)


def _names(table: pd.DataFrame) -> list[tuple[float, float, str, str]]:
    """Every cell with a role; all of the front too where that is few."""
    few = table["front"] & (table["front"].sum() <= _NAMED)
    chosen = table[(table["role"] != "") | few]
    texts = [f"{label} ({role})" if role else label for label, role in zip(chosen["short"], chosen["role"], strict=True)]
    return list(zip(chosen[CONTEXT], chosen["value"], texts, [INK] * len(texts), strict=True))


def _says(table: pd.DataFrame, metric: str) -> str:
    least, best = table.sort_values(CONTEXT, kind="stable").iloc[0], table.iloc[0]
    if len(table) == 1:
        return f"One cell: {number(best['value'], 3)} {spoken(metric)} for {best[CONTEXT]:,.0f} context tokens"
    if least["cell"] == best["cell"]:
        return f"The best cell also reads the least: {best[CONTEXT]:,.0f} tokens for 5 chunks"
    gain, times = number(best["value"] - least["value"], 3), best[CONTEXT] / least[CONTEXT]
    return f"For {times:.1f} times the context of the leanest cell the best gains {gain} ({spoken(metric)})"
