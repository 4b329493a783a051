"""The report of a sweep as one HTML file that needs nothing else: no network, no other file, no inline handler."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from harness.course import Course
from harness.report.figures.words import shared_words
from harness.report.material import Material
from harness.report.page.blocks import digest, weight
from harness.report.page.decision import Card, cards
from harness.report.page.grid import MEANINGS, SHOWN, BoardRow, board
from harness.report.page.pictures import Picture, Wardrobe, pictures
from harness.report.page.viewer import Viewer, viewer
from harness.report.verdict import Section, result_sections, sections
from harness.sweep import Summary

LIMIT = 20_000_000
"""A page stays below so many bytes; what is left out is said on it."""
_SPARE = 20_000
"""For the viewer's controls, the names of its blocks, and sentences on what is left out."""
_NO_TEXT = "Documents and questions are not shown here: their text was not given to this report."


@dataclass(frozen=True, slots=True)
class About:
    """What stands above the verdict: the corpus's name, and pairs of a word and what it says ("Command", "chunk-sweep run …")."""

    name: str
    facts: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class _Words:
    """The parts of the page that are words and tables."""

    cards: list[Card]
    verdict: list[Section]
    warnings: tuple[str, ...]
    board: list[BoardRow]
    shared: str


def render(
    summary: Summary,
    course: Course | None,
    material: Material | None,
    about: About,
    *,
    next_steps: Sequence[str] = (),
    limit: int = LIMIT,
) -> str:
    """The page. The same arguments give the same bytes.

    Without `material`, or without the corpus's text in it, nothing of documents or questions is in the page. `limit`: bytes that the page stays
    below; the viewer gets what the rest leaves.
    """
    wardrobe = Wardrobe()
    drawn = pictures(summary, wardrobe)
    words = _words(summary, course, next_steps)
    bare = _fill(summary, about, words, drawn, wardrobe, None, ())
    missing = material.missing if material else (_NO_TEXT,)
    room = limit - weight(bare) - weight(_viewer_script()) - _SPARE
    shown = viewer(summary, material, room) if material and material.corpus else None
    if shown is None and material and material.corpus:
        missing = (*missing, "There was no room, or nothing, for the boundary viewer.")
    return _fill(summary, about, words, drawn, wardrobe, shown, missing)


def _words(summary: Summary, course: Course | None, next_steps: Sequence[str]) -> _Words:
    told = sections(summary, course, next_steps) if course is not None else result_sections(summary)
    warnings = tuple(line for section in told if section.title == "Warnings" for line in section.lines)
    shared = shared_words([item.result.cell.label for item in summary.standings])
    return _Words(cards(summary), [section for section in told if section.title != "Warnings"], warnings, board(summary), shared)


@cache
def _templates() -> Environment:
    return Environment(loader=PackageLoader("harness.report.page"), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)


@cache
def _asset(name: str) -> str:
    return resources.files("harness.report.page").joinpath("assets", name).read_text(encoding="utf-8")


def _viewer_script() -> str:
    return "".join(_asset(f"{name}.js") for name in ("document", "data", "panel", "viewer"))


def _fill(
    summary: Summary,
    about: About,
    words: _Words,
    drawn: Sequence[Picture],
    wardrobe: Wardrobe,
    shown: Viewer | None,
    missing: Sequence[str],
) -> str:
    style = _asset("page.css") + _asset("viewer.css") + wardrobe.css()
    scripts = [_asset("page.js")] + ([_viewer_script()] if shown else [])
    allowed = f"style-src {digest(style)}; script-src {' '.join(map(digest, scripts))}; img-src data:"
    policy = f"default-src 'none'; {allowed}; base-uri 'none'; form-action 'none'"
    return _templates().get_template("page.html").render(
        about=about,
        metric=summary.select.metric,
        words=words,
        columns=[(column, MEANINGS[column.metric]) for column in SHOWN],
        pictures=drawn,
        viewer=shown,
        places={key: place for place, key in enumerate(shown.cells)} if shown else {},
        missing=missing,
        # Our own files: nothing in them comes from outside.
        style=Markup(style),  # noqa: S704
        scripts=[Markup(script) for script in scripts],  # noqa: S704
        policy=policy,
    )  # fmt: skip
