"""How much of the spread between cells each axis, and each interaction, is responsible for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from harness.report.figures.placing import rows
from harness.report.figures.style import BLUE, INK, ROW, SMALL, canvas, headline, nothing, styled
from harness.report.figures.words import spoken, valued
from harness.report.tables import number


class Effect(Protocol):
    """The share (0 to 1) of the spread between cells that an axis or an interaction explains, with its 95% interval."""

    @property
    def name(self) -> str:
        """An axis, or several joined by a sign, for example "size" or "strategy x size"."""

    @property
    def share(self) -> float:
        """0 to 1; NaN where it can't be told."""

    @property
    def low(self) -> float:
        """The lower end of the interval; NaN where there is none."""

    @property
    def high(self) -> float:
        """The upper end."""


def axis_effects_table(effects: Sequence[Effect]) -> pd.DataFrame:
    """One row an effect, the largest share first."""
    table = pd.DataFrame([(item.name, item.share, item.low, item.high) for item in effects], columns=["effect", "share", "low", "high"])
    return table.sort_values("share", ascending=False, kind="stable", ignore_index=True)


@styled
def axis_effects(effects: Sequence[Effect], metric: str) -> Figure:
    """A bar an effect, the largest first, with its 95% interval. Interactions (names of several words) are hatched."""
    table = axis_effects_table(effects)
    if table.empty or table["share"].isna().all():
        return nothing("No effect of an axis can be told: that takes an axis with two values, and cells that differ.")
    figure = canvas(1.6 + 1.2 * ROW * len(table), 7.5)
    panel: Axes = figure.subplots()
    rows(panel, table["effect"].tolist())
    for row, (name, share, low, high) in enumerate(table.itertuples(index=False)):
        panel.barh(row, share, height=0.62, color=BLUE, alpha=0.75, hatch="///" if len(str(name).split()) > 1 else "", edgecolor="white", linewidth=0)
        if np.isfinite(low) and np.isfinite(high):
            panel.plot([low, high], [row, row], color=INK, linewidth=1.6)
        panel.text(1.02, row, valued(share, low, high, 2), transform=panel.get_yaxis_transform(), va="center", fontsize=SMALL)
    panel.set_xlim(0, min(1.0, 1.05 * float(np.nanmax(table[["share", "high"]].to_numpy()))) or 1.0)
    panel.set_xlabel("share of the spread between cells")
    first = table.iloc[0]
    note = f"Spread of {spoken(metric)} between cells. Lines: 95% intervals. Hatched: what axes do only together."
    headline(figure, f"{first['effect']} explains {number(first['share'], 2)} of the spread between cells", note)
    return figure
