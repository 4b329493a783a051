"""Size against overlap: one panel for each strategy, embedder and whatever else was swept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from harness.report.figures.style import INK, NORMAL, SHADES, SMALL, canvas, headline, nothing, on_field, styled
from harness.report.figures.words import axis_label, digits, short_labels
from harness.report.tables import mark, number
from harness.sweep import Standing, Summary
from harness.types import Cell

_ACROSS = 3
_Fields = Mapping[tuple[str, int], Standing]


def size_overlap_heatmap_table(summary: Summary) -> pd.DataFrame:
    """One row a field: panel, size, overlap as typed, the selecting metric with its 95% interval, and the cell's mark."""
    return pd.DataFrame(
        [
            (_panel_of(item.result.cell), item.result.cell.size, _overlap(item.result.cell), item.value, item.low, item.high, mark(item, summary))
            for item in summary.standings
            if item.result.cell.size is not None
        ],
        columns=["panel", "size", "overlap", summary.select.metric, "low", "high", "mark"],
    )


@styled
def size_overlap_heatmap(summary: Summary) -> Figure:
    """The selecting metric printed in each field, darker where it is higher, on one scale for all panels.

    The best of the sweep is outlined, "=" marks what can't be told from it. Combinations that were not measured are hatched. Cells of strategies
    without a size are not drawn, and said.
    """
    sized = [item for item in summary.standings if item.result.cell.size is not None]
    if not sized:
        return nothing("No cell has a size: there is nothing to lay out by size and overlap.")
    panels: dict[str, dict[tuple[str, int], Standing]] = {}
    for item in sized:
        panels.setdefault(_panel_of(item.result.cell), {})[(_overlap(item.result.cell), item.result.cell.size or 0)] = item
    sizes = sorted({item.result.cell.size or 0 for item in sized})
    overlaps = sorted({_overlap(item.result.cell) for item in sized}, key=_rank)
    across = min(len(panels), _ACROSS if len(sizes) <= 5 else 2 if len(sizes) <= 8 else 1)
    down = -(-len(panels) // across)
    width = max(across * (0.9 + 0.72 * len(sizes)), 5.5)
    figure = canvas(1.2 + down * (0.85 + 0.5 * len(overlaps)), width)
    axes: list[Axes] = list(figure.subplots(down, across, squeeze=False, sharey=True).ravel())
    names = sorted(panels)
    for panel, name, heading in zip(axes, names, short_labels(names), strict=False):
        _panel(panel, panels[name], sizes, overlaps, summary)
        panel.set_title(heading, loc="left")
    for panel in axes[len(panels) :]:
        panel.set_visible(False)
    figure.supylabel("overlap", fontsize=NORMAL)
    for panel in axes[:across] if down == 1 else axes[-across:]:
        panel.set_xlabel("size")
    headline(figure, _says(sized, summary), _note(summary))
    return figure


def _panel(panel: Axes, fields: _Fields, sizes: Sequence[int], overlaps: Sequence[str], summary: Summary) -> None:
    values = [item.value for item in summary.standings]
    low, high = min(values), max(values)
    for row, overlap in enumerate(overlaps):
        for column, size in enumerate(sizes):
            item = fields.get((overlap, size))
            if item is None:
                panel.add_patch(Rectangle((column - 0.5, row - 0.5), 1, 1, fill=False, edgecolor=INK, alpha=0.5, hatch="////", linewidth=0))
                continue
            colour = SHADES((item.value - low) / (high - low) if high > low else 0.5)
            panel.add_patch(Rectangle((column - 0.49, row - 0.48), 0.98, 0.96, facecolor=colour, linewidth=0))
            told = number(item.value, digits(summary.select.metric)) + ("\n" + sign if (sign := mark(item, summary)) else "")
            panel.text(column, row, told, ha="center", va="center", color=on_field(colour), fontsize=SMALL, linespacing=0.95)
            if item is summary.winner:
                panel.add_patch(Rectangle((column - 0.5, row - 0.5), 1, 1, fill=False, edgecolor=INK, linewidth=2.4, zorder=4, clip_on=False))
    panel.set(xlim=(-0.5, len(sizes) - 0.5), ylim=(len(overlaps) - 0.5, -0.5))
    panel.set_xticks(range(len(sizes)), [str(size) for size in sizes])
    panel.set_yticks(range(len(overlaps)), overlaps)
    panel.tick_params(length=0)
    panel.spines[:].set_visible(False)


def _panel_of(cell: Cell) -> str:
    return " ".join(word for word in cell.label.split() if not word.startswith(("size=", "overlap=")))


def _overlap(cell: Cell) -> str:
    return str(cell.config.get("overlap", cell.overlap))


def _rank(overlap: str) -> tuple[bool, float, str]:
    """Amounts first, then shares, each rising."""
    try:
        return (overlap.endswith("%"), float(overlap.rstrip("%")), overlap)
    except ValueError:
        return (True, float("inf"), overlap)


def _says(sized: Sequence[Standing], summary: Summary) -> str:
    best = sized[0]
    if len(sized) == 1:
        return f"One cell with a size: {best.result.cell.label}"
    tied = sum(item.tied for item in sized)
    others = f"{tied - 1} of {len(sized) - 1} other combinations" if best is summary.winner else f"{tied} of {len(sized)} combinations with a size"
    return f"Best: {best.result.cell.label}; {others} can't be told from it"


def _note(summary: Summary) -> str:
    left_out = [item.result.cell.label for item in summary.standings if item.result.cell.size is None]
    note = f"In each field: {axis_label(summary.select.metric)}. 1 (outlined): the best; =: can't be told from it; *: the cheapest of these."
    note += " Hatched: not measured."
    return note + (f" Without a size, so not drawn: {', '.join(left_out[:4])}." if left_out else "")
