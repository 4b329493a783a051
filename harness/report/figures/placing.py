"""Where words stand in a figure: labels that keep apart, rows of text, ticks on a log axis."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, NullLocator
from scipy.optimize import isotonic_regression

from harness.report.figures.style import FAINT, INK, SMALL

_LONGEST = 84
"""Characters of a line of a label."""


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


def clipped(text: str) -> str:
    """Each line with its middle left out where it is so long that no room would be left for the panel."""
    return "\n".join(line if len(line) <= _LONGEST else f"{line[: _LONGEST // 2]} … {line[-_LONGEST // 2 + 3 :]}" for line in text.split("\n"))


def label_right(panel: Axes, ends: Sequence[tuple[float, float, str, str]], gap: float) -> None:
    """Words in the right margin for points (x, y in data, text, colour of the leading line), `gap` (a share of the panel's height) apart at least."""
    panel.get_ylim(), panel.get_xlim()  # settles the limits that the transformation depends on
    to_panel = panel.transData + panel.transAxes.inverted()
    heights = [float(to_panel.transform((x, y))[1]) for x, y, _, _ in ends]
    for (x, y, text, colour), height in zip(ends, spread(heights, gap), strict=True):
        leader = {"arrowstyle": "-", "color": colour, "linewidth": 0.9, "linestyle": ":", "shrinkA": 1, "shrinkB": 3, "relpos": (0, 0.5)}
        panel.annotate(clipped(text), (x, y), xytext=(1.06, height), textcoords="axes fraction", va="center", fontsize=SMALL, arrowprops=leader)


def rows(panel: Axes, labels: Sequence[str], marks: Sequence[str] = ()) -> None:
    """One row a label from the top down at y = 0, 1, …, with its mark (such as "1" or "=") between label and panel."""
    panel.set_yticks(range(len(labels)), [clipped(label) for label in labels])
    for row, sign in enumerate(marks):
        panel.text(-0.014, row, sign, transform=panel.get_yaxis_transform(), ha="right", va="center", fontsize=SMALL)
    panel.set_ylim(len(labels) - 0.4, -0.6)
    panel.tick_params(axis="y", length=0, pad=22 if marks else 5)
    panel.grid(visible=True, axis="x", color=INK, alpha=FAINT, linewidth=0.8)
    panel.set_axisbelow(True)


def log_ticks(panel: Axes, at: Sequence[float] = ()) -> None:
    """A log x axis with whole numbers at `at`, or else at powers of two, and between them where the range is short."""
    panel.set_xscale("log", base=2)
    low, high = panel.get_xlim()
    parts = 1 if high / low > 6 else 2 if high / low > 2.5 else 4 if high / low > 1.5 else 16
    ticks = list(at) or [tick for power in range(31) for part in range(parts) if low <= (tick := 2.0**power * (1 + part / parts)) <= high]
    panel.xaxis.set_major_locator(FixedLocator(ticks))
    panel.xaxis.set_minor_locator(NullLocator())
    panel.set_xticklabels([f"{tick:,.0f}" for tick in ticks], rotation=45 if len(ticks) > 8 else 0)
