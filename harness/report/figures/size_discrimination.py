"""What size does: answer existence, completeness at a budget, and discrimination, over size."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from harness.curves import Curves, Point
from harness.report.figures.placing import label_right, log_ticks
from harness.report.figures.style import COLOURS, FAINT, HALF, INK, MARKERS, SMALL, STYLES, canvas, headline, in_order, nothing, styled
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

    Colour and marker: the strategy; line: the overlap; the names stand at the right of the last panel in which every curve ends. Points of one size
    stand a little apart so that their intervals can be told apart. The region past the embedder's limit is shaded: there it reads only the head of
    a chunk.
    """
    if not curves:
        return nothing("No curve over size: no strategy was measured at two sizes or more.")
    every, curves = curves, _drawn(curves)
    height = max(4.4, 1.9 + 0.22 * len(curves))
    figure = canvas(height, 12)
    axes: Sequence[Axes] = figure.subplots(1, 3)
    common = max((point.n for curve in curves for point in curve.discrimination), default=0)
    measures = ("share of questions", "share of questions", f"d-prime, standard deviations (n up to {common})")
    looks = _looks(curves)
    for panel, field, measure in zip(axes, _PANELS, measures, strict=True):
        for place, (curve, look) in enumerate(zip(curves, looks, strict=True)):
            _line(panel, _finite(curve, field), look, _shift(place, curves))
        panel.set(title=_PANELS[field], ylabel=measure, xlabel="size (log axis)")
        panel.set_ylim(0, None if field == "discrimination" else 1.02)
        _size_axis(panel, curves, labelled=panel is axes[0])
    named = next((place for place in (2, 1, 0) if all(_finite(curve, list(_PANELS)[place]) for curve in curves)), 0)
    ends = [(_finite(curve, list(_PANELS)[named]) or [Point(1, 0, 0, 0, 0)])[-1] for curve in curves]
    names = zip(_names(curves), looks, strict=True)
    told = [(ends[place].size * _shift(place, curves), ends[place].value, name, look["color"]) for place, (name, look) in enumerate(names)]
    label_right(axes[named], told, 0.19 / (height * 0.62))
    left_out = f" Not drawn: {len(every) - len(curves)} curves that reach less." if len(curves) < len(every) else ""
    note = (
        "Bars: 95% intervals. Colour and marker: the strategy, with what else was swept; line: the overlap. "
        f"Discrimination: on the questions that every size can answer; for dense scores alone.{left_out}"
    )
    headline(figure, f"{title}{_says(curves)}", note)
    return figure


def _drawn(curves: Sequence[Curves]) -> Sequence[Curves]:
    """The curves of as many strategies as there are colours: those that reach most within 2,048 tokens."""
    reached = {curve.strategy: max((point.value for point in _finite(curve, "complete")), default=0.0) for curve in curves}
    if len(reached) <= len(COLOURS):
        return curves
    best = sorted(reached, key=lambda name: -reached[name])[: len(COLOURS)]
    return [curve for curve in curves if curve.strategy in best]


def _shift(place: int, curves: Sequence[Curves]) -> float:
    """What a curve's sizes are multiplied by, so that points of one size stand side by side."""
    return float(2 ** ((place - (len(curves) - 1) / 2) * min(0.05, 0.5 / len(curves))))


def _finite(curve: Curves, field: str) -> list[Point]:
    points: Sequence[Point] = getattr(curve, field)
    return [point for point in points if np.isfinite(point.value)]


def _says(curves: Sequence[Curves]) -> str:
    parts = []
    for field, heading in _PANELS.items():
        ends = [(points[0].value, points[-1].value) for curve in curves if (points := _finite(curve, field))]
        if ends:
            first, last = np.mean(ends, axis=0)
            digits = 2 if field == "discrimination" else 3
            parts.append(f"{heading.lower()} {number(first, digits)} → {number(last, digits)}")
    return f", smallest → largest: {', '.join(parts)} (means of the curves)" if parts else ": nothing could be scored"


def _names(curves: Sequence[Curves]) -> list[str]:
    several = len({curve.embedder for curve in curves}) > 1
    return [f"{curve.strategy}, overlap {curve.overlap}" + (f", {curve.embedder}" if several else "") for curve in curves]


def _looks(curves: Sequence[Curves]) -> list[dict[str, Any]]:
    strategies = in_order(curve.strategy for curve in curves)
    overlaps = list(dict.fromkeys(curve.overlap for curve in curves))
    places = [(strategies.index(curve.strategy), overlaps.index(curve.overlap)) for curve in curves]
    return [
        {"color": COLOURS[first % len(COLOURS)], "marker": MARKERS[first % len(MARKERS)], "linestyle": STYLES[second % len(STYLES)]}
        for first, second in places
    ]


def _line(panel: Axes, points: Sequence[Point], look: dict[str, Any], shift: float) -> None:
    if points:
        spread = [[max(point.value - point.low, 0) for point in points], [max(point.high - point.value, 0) for point in points]]
        sizes, values = [point.size * shift for point in points], [point.value for point in points]
        panel.errorbar(sizes, values, yerr=np.nan_to_num(spread), markersize=5, linewidth=1.6, elinewidth=0.8, **look)


def _size_axis(panel: Axes, curves: Sequence[Curves], *, labelled: bool) -> None:
    sizes = sorted({point.size for curve in curves for point in curve.existence})
    log_ticks(panel, sizes)
    panel.grid(visible=True, color=INK, alpha=FAINT)
    limits = {curve.limit for curve in curves if curve.limit}
    if len(limits) == 1 and sizes and (limit := limits.pop()) < sizes[-1]:
        right = sizes[-1] * 1.25
        panel.axvspan(limit, right, color=INK, alpha=FAINT / 2, linewidth=0)
        panel.set_xlim(right=right)
        if labelled:
            place: dict[str, Any] = {"transform": panel.get_xaxis_transform(), "rotation": 90, "va": "bottom"}
            panel.text(limit * 1.06, 0.02, "past the embedder's limit", fontsize=SMALL, alpha=HALF, **place)
