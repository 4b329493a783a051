"""The blocks of HTML and where they stand: a walk over its tags with a stack of the elements that nest."""

from __future__ import annotations

import re
from collections import Counter
from typing import NamedTuple

import numpy as np

from harness.chunking.html_headings import headings_among
from harness.chunking.html_tables import OpenTable
from harness.chunking.html_tags import BLOCKS, RAW, Tag, markup
from harness.chunking.layout import Layout
from harness.chunking.section_groups import Sections
from harness.chunking.structural import Structure
from harness.chunking.tables import Table
from harness.types import Ints

_LISTS = frozenset({"ul", "ol", "menu", "dir", "dl"})
_NESTING = _LISTS | {"li", "dd", "dt", "blockquote", "table", "tr", "td", "th", "pre"}
_WHOLE = _LISTS | {"table", "pre"}
_IMPLIED = {  # what a start tag closes where it stands on top of the stack, end tags being optional
    "li": {"li"},
    "dd": {"dd", "dt"},
    "dt": {"dd", "dt"},
    "td": {"td", "th"},
    "th": {"td", "th"},
    "tr": {"td", "th", "tr"},
    "thead": {"td", "th", "tr"},
    "tbody": {"td", "th", "tr"},
    "tfoot": {"td", "th", "tr"},
}
_ROWS = frozenset({"thead", "tbody", "tfoot", "tr", "td", "th"})
_DEEP_TABLES = 8  # tables nested deeper give no context: their text would be read once for each table around them
_LINE_START = re.compile(r"(?:\r\n?|\n)[ \t]*+(?=\S)")


def html_structure(text: str, layout: Layout) -> Structure | None:
    """Sections by h1 to h6 wherever they stand; None where the text has no markup at all.

    Blocks begin at the start tags of block elements (of a run of them, at the first) and behind their end tags (of a run, behind the last). Only
    lists, tables, quotations and <pre> nest; other elements around blocks are layout. No finer cut is made inside a tag or right before an end tag.
    """
    found = list(markup(text))
    if not found:
        return None
    walk = _Walk(text)
    for tag in found:
        walk.add(tag)
    walk.finish()
    start, end, level, _ = headings_among((tag for tag in found if tag.name), text)
    sections, glued = _sections(walk, start, end, level, layout)
    spans = np.array([(tag.start - tag.closing, tag.end) for tag in found if tag.name not in RAW], dtype=np.int64).reshape(-1, 2)
    cuts = np.array(walk.cuts, dtype=np.int64).reshape(len(walk.cuts), 2)
    cuts = cuts[np.argsort(cuts[:, 0], kind="stable")]
    return Structure(
        sections, glued, cuts[:, 0], cuts[:, 1], _columns(walk.solid), _columns(walk.wholes), (spans[:, 0], spans[:, 1]), tuple(walk.tables)
    )


def _sections(walk: _Walk, start: Ints, end: Ints, level: Ints, layout: Layout) -> tuple[Sections, tuple[Ints, Ints]]:
    """The sections, and the spans right behind which nothing is cut: headings with the tags behind them, headers of tables."""
    words = np.append(np.array(walk.words, dtype=np.int64), layout.length)
    reach = words[words.searchsorted(end, side="left")]
    empty = np.append(reach[:-1] >= start[1:], False)[: len(start)]
    lead = len(start) > 0 and bool(words[0] >= start[0])
    sections = Sections.of(start, level, empty, layout, empty_lead=lead)
    headers = [(table.start, int(table.rows[0])) for table in walk.tables]
    glued = _columns(sorted([*zip(start.tolist(), reach.tolist(), strict=True), *headers]))
    return sections, glued


def _columns(spans: list[tuple[int, int]]) -> tuple[Ints, Ints]:
    rows = np.array(sorted(spans), dtype=np.int64).reshape(len(spans), 2)
    return rows[:, 0], rows[:, 1]


class _Open(NamedTuple):
    name: str
    start: int


class _Walk:
    """What one pass over the markup finds. `cuts`: (position, rank), not in order. `words`: where text that is no markup begins, after every tag."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.cuts: list[tuple[int, int]] = []
        self.words: list[int] = []
        self.solid: list[tuple[int, int]] = []
        self.wholes: list[tuple[int, int]] = []
        self.tables: list[Table] = []
        self._stack: list[_Open] = []
        self._open: Counter[str] = Counter()
        self._wholes_open = 0
        self._open_tables: list[OpenTable] = []
        self._last = 0  # the end of the tag before
        self._run = ""  # "open" or "close": the block tag before, where no text stands between
        self._behind: tuple[int, int] | None = None  # a cut behind an end tag, unless another end tag follows

    def add(self, tag: Tag) -> None:
        """Take the next tag."""
        self._gap(tag.start)
        if tag.name in RAW:
            self.words.append(tag.start)
            self._add_single(tag)
            self.solid.append((tag.start, tag.end))
            self._cut_lines(tag.start, tag.end)
        elif tag.name == "hr":
            self._add_single(tag)
        elif tag.name == "br":
            self.cuts.append((tag.end, len(self._stack) + 1))
        elif tag.name in BLOCKS:
            (self._close if tag.closing else self._begin)(tag)
        self._last = tag.end

    def finish(self) -> None:
        """The end of the text: what is open ends here."""
        self._gap(len(self.text))
        while self._stack:
            self._pop(len(self.text))
        self.tables.sort(key=lambda table: table.start)

    def _gap(self, end: int) -> None:
        between = self.text[self._last : end]
        written = between.lstrip()
        if written:
            self.words.append(end - len(written))
            self._run = ""
            self._put_behind()

    def _put_behind(self) -> None:
        if self._behind is not None:
            self.cuts.append(self._behind)
            self._behind = None

    def _add_single(self, tag: Tag) -> None:
        self._put_behind()
        self.cuts.append((tag.start, len(self._stack)))
        self._behind, self._run = (tag.end, len(self._stack)), ""

    def _begin(self, tag: Tag) -> None:
        self._put_behind()
        while self._stack and self._stack[-1].name in _IMPLIED.get(tag.name, ()):
            self._pop(tag.start)
        if self._run != "open":
            self.cuts.append((tag.start, len(self._stack)))
        self._run = "open"
        if tag.name == "table":
            self._open_tables.append(OpenTable(tag.start))
        elif tag.name in _ROWS and self._open_tables:
            self._open_tables[-1].add(tag, self.text)
        if tag.name in _NESTING:
            self._stack.append(_Open(tag.name, tag.start))
            self._open[tag.name] += 1
            self._wholes_open += tag.name in _WHOLE

    def _close(self, tag: Tag) -> None:
        if self._open[tag.name]:
            while self._stack[-1].name != tag.name:
                self._pop(tag.start)
            self._pop(tag.end)
        if tag.name in _ROWS and self._open_tables:
            self._open_tables[-1].add(tag, self.text)
        self._behind, self._run = (tag.end, len(self._stack)), "close"

    def _pop(self, end: int) -> None:
        name, start = self._stack.pop()
        self._open[name] -= 1
        if name == "table":
            table = self._open_tables.pop().close(end, self.text)
            if table is not None and len(self._open_tables) < _DEEP_TABLES:
                self.tables.append(table)
        if name in ("table", "pre"):
            self.solid.append((start, end))
        if name == "pre" and not self._open["pre"]:
            self._cut_lines(start, end)
        self._wholes_open -= name in _WHOLE
        if name in _WHOLE and not self._wholes_open:
            self.wholes.append((start, end))

    def _cut_lines(self, start: int, end: int) -> None:
        """Cuts at the lines of code, but for the last one where only an end tag stands on it."""
        rank = len(self._stack) + 1
        for found in _LINE_START.finditer(self.text, start, end):
            if not self.text.startswith("</", found.end()):
                self.cuts.append((found.end(), rank))
