"""How every figure looks: colours told apart with any colour vision, never colour alone, words instead of legends, one ink.

The ink is pure black, and nothing else is: `saving.svg_for_page` turns it into the colour of the page's text. What should be fainter is ink with
less opacity, never grey, so that it holds on light and dark pages.
"""

from __future__ import annotations

import textwrap
import warnings
from collections.abc import Iterable
from typing import Any

from matplotlib import rc_context
from matplotlib.colors import LinearSegmentedColormap, to_rgb
from matplotlib.figure import Figure

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
NO_GLYPH = "Glyph .* missing from"
"""What matplotlib warns of where a name is in a script that its font lacks; a page's fonts have it."""
RC: Any = {
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
    "figure.autolayout": False,  # `headline` leaves figures without an engine, whatever a person's own settings say
    "figure.constrained_layout.use": False,
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
    """What the picture says above it, and how to read it in small print below; both are wrapped to the figure's width.

    The last step of a figure: it is arranged here, once, because arranging it again at each saving would move everything a little. Without an engine
    (not even "none", which leaves a placeholder) matplotlib does not draw everything once more for it before each saving.
    """
    inches = float(figure.get_figwidth())
    figure.suptitle(textwrap.fill(says, int(inches * 11.2)), x=0.01, ha="left", fontsize=HEADING)
    if note:
        figure.supxlabel(textwrap.fill(note, int(inches * 15.5)), x=0.01, ha="left", fontsize=SMALL, alpha=HALF)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=NO_GLYPH)
        engine: Any = figure.get_layout_engine()
        engine.execute(figure)
    figure.set_layout_engine(None)


@styled
def nothing(says: str) -> Figure:
    """A figure that says why there is nothing to draw."""
    figure = canvas(1.0)
    figure.text(0.01, 0.5, textwrap.fill(says, 100), va="center", fontsize=NORMAL)
    return figure


def in_order(strategies: Iterable[str]) -> list[str]:
    """Each strategy once, in the order that gives it its colour and marker, the same in every figure of a sweep. `document` has no size and so is not
    in every figure: it stands last."""
    return sorted({str(name) for name in strategies}, key=lambda name: (name == "document", name))


def on_field(colour: Any) -> str:
    """The colour of text on a field of this colour, told by its luminance; never the ink, for the field does not change with the page."""
    red, green, blue = (((part + 0.055) / 1.055) ** 2.4 for part in to_rgb(colour))
    return "#111111" if 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.2 else "#FFFFFF"
