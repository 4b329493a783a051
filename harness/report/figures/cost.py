"""What each cell costs: storage, tokens to embed, chunks."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from harness.report.figures.placing import rows
from harness.report.figures.style import BLUE, FAINT, INK, ROW, SMALL, canvas, headline, nothing, styled
from harness.report.figures.words import shared_words, short_labels
from harness.report.tables import mark, number
from harness.sweep import Summary

_PANELS = (
    ("storage_ratio", "stored text, times the corpus", 2),
    ("embedding_tokens", "tokens to embed", 0),
    ("chunks", "chunks", 0),
)


def cost_table(summary: Summary) -> pd.DataFrame:
    """One row a cell, best first: storage_ratio with its theory size / (size - overlap), embedding_tokens, chunks; null where it was not measured."""
    names = ["storage_ratio", "storage_ratio_theory", "embedding_tokens", "chunks"]
    found = [(mark(item, summary), item.result.cell.label, *(item.result.metrics.get(name) for name in names)) for item in summary.standings]
    return pd.DataFrame(found, columns=["mark", "cell", *names]).astype(dict.fromkeys(names, float))


@styled
def cost(summary: Summary) -> Figure:
    """A row a cell, best first, and a panel each for stored text (times the corpus; the theory as a tick), tokens to embed once, and chunks."""
    table = cost_table(summary)
    if table.empty:
        return nothing("No cell could be ranked, so there is no cost to compare.")
    figure = canvas(1.6 + ROW * len(table), 10)
    axes: list[Axes] = list(figure.subplots(1, len(_PANELS), sharey=True))
    for panel, (metric, heading, places) in zip(axes, _PANELS, strict=True):
        rows(panel, short_labels(table["cell"].tolist()), table["mark"].tolist() if panel is axes[0] else ())
        _bars(panel, table[metric], table["mark"], places)
        panel.set_xlabel(heading)
    axes[0].plot(table["storage_ratio_theory"], range(len(table)), marker="|", markersize=13, markeredgewidth=1.5, color=INK, linestyle="none")
    note = "Best cell first. 1: the best; =: can't be told from it (filled); *: the cheapest of these. Ticks: the theory, size / (size - overlap)."
    headline(figure, _says(table), f"{note} Cost has no intervals. {shared_words(table['cell'].tolist())}")
    return figure


def _bars(panel: Axes, values: pd.Series[float], marks: pd.Series[str], places: int) -> None:
    for row, (value, sign) in enumerate(zip(values, marks, strict=True)):
        if np.isfinite(value):
            panel.barh(row, value, height=0.66, color=BLUE if sign else "none", edgecolor=BLUE, linewidth=0.9)
        told = number(value, places) if places else f"{value:,.0f}" if np.isfinite(value) else "not measured"
        panel.annotate(told, (value if np.isfinite(value) else 0, row), xytext=(9, 0), textcoords="offset points", va="center", fontsize=SMALL)
    top = float(np.nanmax(values)) if values.notna().any() else 1.0
    panel.set_xlim(0, 1.32 * top or 1.0)
    panel.locator_params(axis="x", nbins=4)
    panel.grid(visible=True, axis="x", color=INK, alpha=FAINT)


def _says(table: pd.DataFrame) -> str:
    chosen = table[table["mark"].str.contains("*", regex=False)]
    named, best = (chosen if len(chosen) else table).iloc[0], table.iloc[0]
    told = f"{named['cell']} stores {number(named['storage_ratio'], 2)} times the corpus in {named['chunks']:,.0f} chunks"
    return told if named["cell"] == best["cell"] else f"{told}, the best cell {number(best['storage_ratio'], 2)} times in {best['chunks']:,.0f}"
