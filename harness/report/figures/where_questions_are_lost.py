"""The fate of every question: answered from one chunk, assembled, lost by ranking, lost by chunking."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from harness.metrics.attribution import ASSEMBLED, CHUNKING_MISS, IN_ONE, RANKING_MISS
from harness.report.figures.placing import rows, spread
from harness.report.figures.style import BLUE, HALF, INK, ORANGE, ROW, SKY, SMALL, VERMILLION, canvas, headline, nothing, on_field, styled
from harness.report.figures.words import shared_words, short_labels
from harness.report.tables import number

FATES = {IN_ONE: (BLUE, ""), ASSEMBLED: (SKY, "||"), RANKING_MISS: (ORANGE, "//"), CHUNKING_MISS: (VERMILLION, "xx")}
_PRINTED = 0.055


def where_questions_are_lost_table(questions: pd.DataFrame) -> pd.DataFrame:
    """One row a cell, in the order of `questions` (see `harness.results.question_frame`; columns `cell`, `attribution`, and for the part over several
    documents `multi_document` and `complete_at_5`).

    The share of each fate at 5 among the `n` answerable questions of one document; `multi_document_complete`: the share complete at 5 of the
    `multi_document_n` questions over several documents, which are not attributed.
    """
    if questions.empty:
        return pd.DataFrame(columns=["cell", *FATES, "n", "multi_document_complete", "multi_document_n"])
    counts = pd.crosstab(questions["cell"], questions["attribution"]).reindex(questions["cell"].unique()).reindex(columns=list(FATES), fill_value=0)
    n = counts.sum(axis=1)
    table = counts.div(n.where(n > 0), axis=0).assign(n=n, multi_document_complete=float("nan"), multi_document_n=0)
    if {"multi_document", "complete_at_5"} <= set(questions.columns):
        several = questions[questions["multi_document"].astype(bool)].groupby("cell")["complete_at_5"]
        table["multi_document_complete"] = several.mean().reindex(table.index)
        table["multi_document_n"] = several.count().reindex(table.index).fillna(0).astype(int)
    return table.reset_index().rename_axis(columns=None)


@styled
def where_questions_are_lost(questions: pd.DataFrame) -> Figure:
    """A stacked bar a cell, in the order of `questions`: shares of the answerable questions of one document by their fate at 5.

    Colour and hatch: the fate, named above the first bar. Questions over several documents stand apart, at the right.
    """
    table = where_questions_are_lost_table(questions)
    if table.empty or not table["n"].max() + table["multi_document_n"].max():
        return nothing("No answerable questions: there is nothing that could be lost.")
    apart = bool(table["multi_document_n"].any())
    figure = canvas(1.9 + ROW * len(table))
    axes = figure.subplots(1, 2, squeeze=False, sharey=True, width_ratios=[5, 1])[0] if apart else figure.subplots(1, 1, squeeze=False)[0]
    _bars(axes[0], table)
    if apart:
        _several(axes[1], table)
    note = "A chunking miss: the chunks hold no whole copy of some piece of evidence. A ranking miss: they do, but it is not all among the first 5."
    headline(figure, _says(table), f"{note} {shared_words(table['cell'].tolist())}")
    return figure


def _bars(panel: Axes, table: pd.DataFrame) -> None:
    rows(panel, short_labels(table["cell"].tolist()))
    left = table[IN_ONE] * 0
    for fate, (colour, hatch) in FATES.items():
        panel.barh(range(len(table)), table[fate], left=left, height=0.78, color=colour, hatch=hatch, edgecolor="white", linewidth=0.8)
        for row, (start, share) in enumerate(zip(left, table[fate], strict=True)):
            if share >= _PRINTED:
                plate = {"facecolor": colour, "edgecolor": "none", "pad": 1.2}
                panel.text(start + share / 2, row, number(share, 2), ha="center", va="center", fontsize=SMALL, color=on_field(colour), bbox=plate)
        left = left + table[fate]
    first = table[list(FATES)].iloc[0].fillna(0.25)
    middles = (first.cumsum() - first / 2).tolist()
    for fate, middle, place in zip(FATES, middles, spread(middles, 0.2, 0.06, 0.94), strict=True):
        line = {"arrowstyle": "-", "color": INK, "alpha": HALF, "linewidth": 0.8, "shrinkA": 0, "shrinkB": 0, "relpos": (0.5, 0)}
        panel.annotate(fate, (middle, -0.39), xytext=(place, -0.95), ha="center", va="bottom", fontsize=SMALL, arrowprops=line, annotation_clip=False)
    panel.set_xlim(0, 1)
    n = table["n"].min(), table["n"].max()
    panel.set_xlabel(f"share of answerable questions of one document, at 5 chunks (n={n[0]:,}{f' to {n[1]:,}' if n[1] > n[0] else ''})")


def _several(panel: Axes, table: pd.DataFrame) -> None:
    panel.barh(range(len(table)), table["multi_document_complete"], height=0.78, color="none", edgecolor=INK, linewidth=0.9)
    for row, share in enumerate(table["multi_document_complete"]):
        panel.text(min(share, 0.62) + 0.05, row, number(share, 2), va="center", fontsize=SMALL)
    panel.set(xlim=(0, 1), xticks=(0, 1), xlabel=f"complete at 5\n(n={table['multi_document_n'].max():,})")
    panel.set_title("over several\ndocuments", fontsize=SMALL)
    panel.tick_params(axis="y", length=0)


def _says(table: pd.DataFrame) -> str:
    first = table.iloc[0]
    if not first["n"]:
        return "Every answerable question goes over several documents, so none is attributed"
    ranking, chunking = first[RANKING_MISS], first[CHUNKING_MISS]
    if not ranking + chunking:
        return f"{first['cell']} loses no question of one document"
    lost = [number(share, 3) if share else "none" for share in (ranking, chunking)]
    return f"{first['cell']} loses {lost[0]} of the questions to ranking and {lost[1]} to chunking"
