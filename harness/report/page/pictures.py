"""The page's pictures: each an SVG without styles of its own, with the table of what it draws."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd
from markupsafe import Markup
from matplotlib.figure import Figure

from harness.report import figures
from harness.report.page.grid import Grid, grid
from harness.results.frames import question_frame
from harness.sweep import Summary

_STYLE_ELEMENT = re.compile(r"<style\b[^>]*>.*?</style>", re.DOTALL)
_SHORT = {
    "curves": "Size",
    "heat": "Size and overlap",
    "context": "Quality and context",
    "lost": "Lost questions",
    "effects": "Axes",
    "cost": "Cost",
}
_TAG = re.compile(r"<[a-zA-Z][^<>]*>")
"""The names that are drawn stand between tags, where they may look like an attribute; matplotlib escapes < and > in them."""
_STYLE_ATTRIBUTE = re.compile(r' style="([^"]*)"')


@dataclass(frozen=True, slots=True)
class Picture:
    """A part of the page: `anchor` is its id, `short` its name in the contents, `says` one sentence on how to read it, `svgs` what is drawn, `table`
    its numbers."""

    anchor: str
    short: str
    heading: str
    says: str
    svgs: tuple[Markup, ...]
    table: Grid


class Wardrobe:
    """Turns the style attributes of drawings into classes, because the page's content security policy allows no inline styles."""

    def __init__(self) -> None:
        self._classes: dict[str, str] = {}

    def dressed(self, svg: str) -> Markup:
        """The drawing with classes in place of its style attributes and elements."""
        plain = _STYLE_ELEMENT.sub("", svg).replace("<defs></defs>", "")
        return Markup(_TAG.sub(lambda tag: _STYLE_ATTRIBUTE.sub(self._class, tag[0]), plain))  # noqa: S704  matplotlib escapes the texts that it draws

    def _class(self, match: re.Match[str]) -> str:
        style = html.unescape(match[1]).strip()
        return f' class="{self._classes.setdefault(style, f"v{len(self._classes)}")}"'

    def css(self) -> str:
        """The rules of all classes given out so far."""
        kept = {name: re.sub(r"[{}<>@]|url\((?!#)", "", style) for style, name in self._classes.items()}
        return "".join(f".{name}{{{style}}}\n" for name, style in kept.items())


def pictures(summary: Summary, wardrobe: Wardrobe) -> list[Picture]:
    """The pictures in the order of the page. Those that this sweep has nothing for are left out."""
    results = [item.result for item in summary.standings]
    questions = question_frame(results)
    found = [
        _curves(summary, wardrobe),
        _picture(
            "heat", "Size and overlap", "Every cell that has a size, by size and overlap.",
            [figures.size_overlap_heatmap(summary)], figures.size_overlap_heatmap_table(summary), wardrobe,
        ),
        _picture(
            "context", "Quality against context tokens",
            "Up is better, left is cheaper to read. The line joins the cells that no other beats in both.",
            [figures.quality_against_context(summary)], figures.quality_against_context_table(summary), wardrobe,
        ),
        _picture(
            "lost", "Where questions are lost",
            "At 5. A chunking miss: no chunk holds some needed passage whole, so no search can find it. "
            "A ranking miss: it stands whole in the chunks, but others were ranked above it.",
            [figures.where_questions_are_lost(questions)], figures.where_questions_are_lost_table(questions), wardrobe,
        ),
        _effects(summary, wardrobe),
        _picture(
            "cost", "Cost", "What each cell stores and embeds, and how its chunks are sized.",
            [figures.cost(summary), figures.chunk_sizes(results)], figures.cost_table(summary), wardrobe,
        ),
    ]  # fmt: skip
    return [picture for picture in found if picture is not None]


def _curves(summary: Summary, wardrobe: Wardrobe) -> Picture | None:
    if not summary.curves:
        return None
    says = "Larger chunks hold more answers whole, and tell them apart less well. The best size is where the middle panel is highest."
    drawn = figures.size_discrimination(summary.curves, "What size does")
    return _picture("curves", "Size and discrimination", says, [drawn], figures.size_discrimination_table(summary.curves), wardrobe)


def _effects(summary: Summary, wardrobe: Wardrobe) -> Picture | None:
    if summary.effects is None or not summary.effects.terms:
        return None
    drawn = figures.axis_effects(summary.effects.terms, summary.select.metric)
    says = "How much of the spread between cells is due to each axis, and to two axes together beyond their sum."
    return _picture("effects", "What each axis does", says, [drawn], figures.axis_effects_table(summary.effects.terms), wardrobe)


def _picture(anchor: str, heading: str, says: str, drawn: Sequence[Figure], table: pd.DataFrame, wardrobe: Wardrobe) -> Picture:
    svgs = [wardrobe.dressed(figures.svg_for_page(figure, f"{anchor}{place}")) for place, figure in enumerate(drawn)]
    return Picture(anchor, _SHORT[anchor], heading, says, tuple(svgs), grid(table))
