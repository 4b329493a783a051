"""How every figure looks: colours told apart with any colour vision, never colour alone, words instead of legends, one ink.

The ink is pure black, and nothing else is: `saving.svg_for_page` turns it into the colour of the page's text. What should be fainter is ink with
less opacity, never grey, so that it holds on light and dark pages.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, to_rgb
from matplotlib.figure import Figure
from scipy.optimize import isotonic_regression

# Okabe and Ito's palette (jfly.uni-koeln.de/color).
BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY, INK = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"
COLOURS = (BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY, INK)
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
STYLES = ("-", "--", ":", "-.")
FAINT, HALF = 0.12, 0.62
SMALL, NORMAL, HEADING = 8.5, 9.5, 11.5
WIDTH = 9.0
ROW = 0.27
"""Inches: the width of a figure, the height of a row of text with air around it."""
SHADES = LinearSegmentedColormap.from_list("shades", ["#EDF4FA", SKY, BLUE, "#00304D"])
RC: dict[str, Any] = {
    "font.family": ["DejaVu Sans"],
    "font.size": NORMAL,
    "axes.titlesize": NORMAL,
    "axes.labelsize": NORMAL,
    "xtick.labelsize": SMALL,
    "ytick.labelsize": SMALL,
    "axes.facecolor": "none",
    "axes.edgecolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "hatch.linewidth": 0.7,
    "text.parse_math": False,  # a dollar in a name is a dollar
    "svg.fonttype": "none",
    "pdf.fonttype": 42,
}
styled = rc_context(RC)
"""Decorates a function that draws; matplotlib's own settings are as before when it returns."""


def canvas(height: float, width: float = WIDTH) -> Figure:
    """An empty figure (inches) that arranges itself."""
    figure = Figure(figsize=(width, height), layout="constrained")
    engine: Any = figure.get_layout_engine()
    engine.set(w_pad=0.08, h_pad=0.06)
    return figure


def headline(figure: Figure, says: str, note: str = "") -> None:
    """What the picture says above it, and how to read it in small print below; both are wrapped to the figure's width."""
    inches = float(figure.get_figwidth())
    figure.suptitle(textwrap.fill(says, int(inches * 11.2)), x=0.01, ha="left", fontsize=HEADING)
    if note:
        figure.supxlabel(textwrap.fill(note, int(inches * 15.5)), x=0.01, ha="left", fontsize=SMALL, alpha=HALF)


@styled
def nothing(says: str) -> Figure:
    """A figure that says why there is nothing to draw."""
    figure = canvas(1.0)
    figure.text(0.01, 0.5, textwrap.fill(says, 100), va="center", fontsize=NORMAL)
    return figure


def on_field(colour: Any) -> str:
    """The colour of text on a field of this colour, told by its luminance; never the ink, for the field does not change with the page."""
    red, green, blue = (((part + 0.055) / 1.055) ** 2.4 for part in to_rgb(colour))
    return "#111111" if 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.2 else "#FFFFFF"


def spread(places: Sequence[float], gap: float, low: float = 0.0, high: float = 1.0) -> list[float]:
    """The places (rising or not), moved as little as needed to stand `gap` apart between `low` and `high`; closer together where there is no room."""
    if not places:
        return []
    gap = min(gap, (high - low) / max(len(places) - 1, 1))
    order = np.argsort(places, kind="stable")
    steps = np.arange(len(places)) * gap
    wanted = np.clip(np.asarray(places, dtype=np.float64)[order], low, high) - steps
    fitted = isotonic_regression(wanted).x  # rising: the least squared move that keeps the order
    out = np.empty(len(places))
    out[order] = np.clip(fitted, low, high - steps[-1]) + steps
    return [float(place) for place in out]


def label_right(panel: Axes, ends: Sequence[tuple[float, float, str, str]], gap: float) -> None:
    """Words in the right margin for points (x, y in data, text, colour of the leading line), `gap` (a share of the panel's height) apart at least."""
    to_panel = panel.transData + panel.transAxes.inverted()
    heights = [float(to_panel.transform((x, y))[1]) for x, y, _, _ in ends]
    for (x, y, text, colour), height in zip(ends, spread(heights, gap), strict=True):
        leader = {"arrowstyle": "-", "color": colour, "linewidth": 0.9, "shrinkA": 1, "shrinkB": 3, "relpos": (0, 0.5)}
        panel.annotate(text, (x, y), xytext=(1.06, height), textcoords="axes fraction", va="center", fontsize=SMALL, arrowprops=leader)


def rows(panel: Axes, labels: Sequence[str]) -> None:
    """One row a label from the top down at y = 0, 1, …; the tick marks of the rows are left out."""
    panel.set_yticks(range(len(labels)), labels)
    panel.set_ylim(len(labels) - 0.4, -0.6)
    panel.tick_params(axis="y", length=0)
    panel.grid(visible=True, axis="x", color=INK, alpha=FAINT, linewidth=0.8)
    panel.set_axisbelow(True)
