"""What size does: answer existence, completeness at a budget, and discrimination, over size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, NullLocator

from harness.curves import Curves, Point
from harness.report.figures.style import COLOURS, FAINT, HALF, INK, MARKERS, SMALL, STYLES, canvas, headline, label_right, nothing, styled
from harness.report.tables import number

_PANELS = {"existence": "Answer existence", "complete": "Complete within 2,048 tokens", "discrimination": "Discrimination"}


def size_discrimination_table(curves: Sequence[Curves]) -> pd.DataFrame:
    """One row a curve, measure and size: value, 95% interval, n. Discrimination is on the questions that every size of the curve can answer."""
    return pd.DataFrame(
        [
            (curve.strategy, curve.overlap, curve.embedder, heading, point.size, point.value, point.low, point.high, point.n)
            for field, heading in _PANELS.items()
            for curve in curves
            for point in getattr(curve, field)
        ],
        columns=["strategy", "overlap", "embedder", "measure", "size", "value", "low", "high", "n"],
    )


@styled
def size_discrimination(curves: Sequence[Curves], title: str) -> Figure:
    """Three panels over size (log axis), each with 95% intervals.

    Colour and marker: the strategy; line: the overlap; the names stand at the right. Points of one size stand a little apart so that their intervals
    can be told apart. The region past the embedder's limit is shaded: there it reads only the head of a chunk.
    """
    if not curves:
        return nothing("No curve over size: no strategy was measured at two sizes or more.")
    height = max(4.4, 1.6 + 0.2 * len(curves))
    figure = canvas(height, 12)
    axes: Sequence[Axes] = figure.subplots(1, 3)
    common = max((point.n for curve in curves for point in curve.discrimination), default=0)
    measures = ("share of questions", "share of questions", f"d-prime, standard deviations\n(questions that every size can answer: n up to {common})")
    looks = _looks(curves)
    for panel, (field, heading), measure in zip(axes, _PANELS.items(), measures, strict=True):
        for place, look in enumerate(looks):
            _line(panel, getattr(look.curve, field), look, 2 ** (0.05 * (place - (len(curves) - 1) / 2)))
        panel.set(title=heading, ylabel=measure, xlabel="size (log axis)")
        panel.set_ylim(0, None if field == "discrimination" else 1.02)
        _size_axis(panel, curves, labelled=panel is axes[0])
    _names(axes[-1], looks, 0.19 / (height * 0.66))
    headline(figure, f"{title}: {_says(curves)}", "Bars: 95% intervals. Colour and marker tell the strategy, the line tells the overlap.")
    return figure


def _says(curves: Sequence[Curves]) -> str:
    parts = []
    for field, heading in _PANELS.items():
        ends = [(points[0].value, points[-1].value) for curve in curves if (points := [p for p in getattr(curve, field) if np.isfinite(p.value)])]
        if ends:
            first, last = np.mean(ends, axis=0)
            digits = 2 if field == "discrimination" else 3
            parts.append(f"{heading.lower()} goes from {number(first, digits)} to {number(last, digits)}")
    return f"from the smallest to the largest size {', '.join(parts)} (means of the curves)" if parts else "nothing could be scored"


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
    spread = [[max(point.value - point.low, 0) for point in drawn], [max(point.high - point.value, 0) for point in drawn]]
    panel.errorbar(
        [point.size * shift for point in drawn],
        [point.value for point in drawn],
        yerr=np.nan_to_num(spread),
        color=look.colour,
        marker=look.marker,
        linestyle=look.style,
        markersize=5,
        linewidth=1.6,
        elinewidth=0.8,
    )


def _names(panel: Axes, looks: Sequence[_Look], gap: float) -> None:
    """The curves' names in the right margin, led to where they end; what has no end in this panel is named without a leader."""
