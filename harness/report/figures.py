"""Figures, one function each; every function returns a matplotlib figure that nothing else holds on to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

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

    Colour and marker: the strategy; line: the overlap. Points of one size stand a little apart so that their intervals can be told apart.
    The region past the embedder's limit is shaded: there it reads only the head of a chunk.
    """
    figure = Figure(figsize=(12, 4.8), layout="constrained")
    axes: Sequence[Axes] = figure.subplots(1, 3)
    common = max((point.n for curve in curves for point in curve.discrimination), default=0)
    panels = (
        ("existence", "Answer existence", "share of questions"),
        ("complete", "Complete within 2,048 tokens", "share of questions"),
        ("discrimination", f"Discrimination, on questions that\nevery size can answer (n up to {common})", "d-prime, standard deviations"),
    )
    for panel, (field, heading, measure) in zip(axes, panels, strict=True):
        for place, look in enumerate(_looks(curves)):
            shift = 2 ** (0.05 * (place - (len(curves) - 1) / 2))
            _line(panel, getattr(look.curve, field), look, shift)
        panel.set(title=heading, ylabel=measure, xlabel="size (log axis)")
        panel.set_ylim(0, None if field == "discrimination" else 1.02)
        _size_axis(panel, curves, labelled=panel is axes[0])
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=min(len(labels), 4), frameon=False, fontsize=9)
    figure.suptitle(f"{title} (bars: 95% intervals)", fontsize=12)
    return figure


@dataclass(frozen=True, slots=True)
class _Look:
    curve: Curves
    colour: str
    marker: str
    style: str
    label: str


def _looks(curves: Sequence[Curves]) -> list[_Look]:
    strategies = list(dict.fromkeys(curve.strategy for curve in curves))
    overlaps = list(dict.fromkeys(curve.overlap for curve in curves))
    embedders = {curve.embedder for curve in curves}
    looks = []
    for curve in curves:
        which = strategies.index(curve.strategy)
        label = f"{curve.strategy}, overlap {curve.overlap}" + (f", {curve.embedder}" if len(embedders) > 1 else "")
        style = STYLES[overlaps.index(curve.overlap) % len(STYLES)]
        looks.append(_Look(curve, COLOURS[which % len(COLOURS)], MARKERS[which % len(MARKERS)], style, label))
    return looks


def _line(panel: Axes, points: Sequence[Point], look: _Look, shift: float) -> None:
    drawn = [point for point in points if np.isfinite(point.value)]
    if not drawn:
        return
    sizes = [point.size * shift for point in drawn]
    spread = [[max(point.value - point.low, 0) for point in drawn], [max(point.high - point.value, 0) for point in drawn]]
    panel.errorbar(
        sizes,
        [point.value for point in drawn],
        yerr=np.nan_to_num(spread),
        label=look.label,
        color=look.colour,
        marker=look.marker,
        linestyle=look.style,
        markersize=5,
        linewidth=1.6,
        elinewidth=0.8,
    )


def _size_axis(panel: Axes, curves: Sequence[Curves], *, labelled: bool) -> None:
    sizes = sorted({point.size for curve in curves for point in curve.existence})
    panel.set_xscale("log", base=2)
    panel.xaxis.set_major_locator(FixedLocator(sizes))
    panel.xaxis.set_minor_locator(NullLocator())
    panel.set_xticklabels([str(size) for size in sizes], rotation=45 if len(sizes) > 6 else 0)
    panel.grid(visible=True, alpha=0.25)
    panel.spines[["top", "right"]].set_visible(False)
    limits = {curve.limit for curve in curves if curve.limit}
    if len(limits) == 1 and sizes and (limit := limits.pop()) < sizes[-1]:
        right = sizes[-1] * 1.25
        panel.axvspan(limit, right, color="0.5", alpha=0.12, linewidth=0)
        panel.set_xlim(right=right)
        if labelled:
            panel.text(limit * 1.06, 0.02, "past the embedder's limit", transform=panel.get_xaxis_transform(), fontsize=8, rotation=90, va="bottom")
