"""Figures, one function each; every function returns a matplotlib figure that nothing else holds on to."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, NullLocator

from harness.curves import Curves, Point

# Okabe and Ito's palette: told apart with any colour vision (jfly.uni-koeln.de/color).
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
STYLES = ("-", "--", ":", "-.")


def size_discrimination(curves: Sequence[Curves], title: str) -> Figure:
    """Three panels over size (log axis): answer existence, complete within 2048 tokens, discrimination, each with 95% intervals.

    Colour and marker: the strategy; line: the overlap. The region past the embedder's limit is shaded: there it reads only the head of a chunk.
    """
    figure = Figure(figsize=(11, 4.4), layout="constrained")
    axes: Sequence[Axes] = figure.subplots(1, 3)
    panels = (
        ("existence", "Answer existence", "share of questions", (0, 1.02)),
        ("complete", "Complete within 2,048 tokens", "share of questions", (0, 1.02)),
        ("discrimination", "Discrimination (d-prime)", "standard deviations", None),
    )
    strategies = list(dict.fromkeys(curve.strategy for curve in curves))
    overlaps = list(dict.fromkeys(curve.overlap for curve in curves))
    embedders = {curve.embedder for curve in curves}
    for panel, (field, heading, unit, limits) in zip(axes, panels, strict=True):
        for curve in curves:
            look = strategies.index(curve.strategy) % len(COLOURS)
            label = f"{curve.strategy}, overlap {curve.overlap}" + (f", {curve.embedder}" if len(embedders) > 1 else "")
            _line(panel, getattr(curve, field), COLOURS[look], MARKERS[look], STYLES[overlaps.index(curve.overlap) % len(STYLES)], label)
        panel.set(title=heading, ylabel=unit, xlabel="size (units of the sweep, log axis)")
        if limits:
            panel.set_ylim(*limits)
        _size_axis(panel, curves)
    common = max((point.n for curve in curves for point in curve.discrimination), default=0)
    axes[2].set_xlabel(f"size (log axis); same questions at every size, n up to {common}")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=min(len(labels), 4), frameon=False, fontsize=9)
    figure.suptitle(title, fontsize=12)
    return figure


def _line(panel: Axes, points: Sequence[Point], colour: str, marker: str, style: str, label: str) -> None:
    drawn = [point for point in points if np.isfinite(point.value)]
    if not drawn:
        return
    sizes = [point.size for point in drawn]
    panel.plot(sizes, [point.value for point in drawn], color=colour, marker=marker, linestyle=style, label=label, markersize=5, linewidth=1.6)
    panel.fill_between(sizes, [point.low for point in drawn], [point.high for point in drawn], color=colour, alpha=0.10, linewidth=0)


def _size_axis(panel: Axes, curves: Sequence[Curves]) -> None:
    sizes = sorted({point.size for curve in curves for point in curve.existence})
    panel.set_xscale("log", base=2)
    panel.xaxis.set_major_locator(FixedLocator(sizes))
    panel.xaxis.set_minor_locator(NullLocator())
    panel.set_xticklabels([str(size) for size in sizes], rotation=45 if len(sizes) > 6 else 0)
    panel.grid(visible=True, alpha=0.25)
    panel.spines[["top", "right"]].set_visible(False)
    limits = {curve.limit for curve in curves if curve.limit}
    if len(limits) == 1 and sizes and (limit := limits.pop()) < sizes[-1]:
        panel.axvspan(limit, sizes[-1] * 1.12, color="0.5", alpha=0.15, linewidth=0)
        panel.set_xlim(right=sizes[-1] * 1.12)
        panel.text(limit * 1.04, 0.02, "past the embedder's limit", transform=panel.get_xaxis_transform(), fontsize=8, rotation=90, va="bottom")
