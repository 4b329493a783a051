"""Tables of HTML: which rows are their header, and what stands in each column."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from harness.chunking.html_tags import Tag, words_of
from harness.chunking.tables import Table

_SPANNING = re.compile(r"""\b(colspan|rowspan)\s*=\s*["']?\s*(\d+)""", re.IGNORECASE)
_WIDEST = 100


@dataclass
class _Cell:
    start: int
    end: int
    names: bool
    columns: int = 1
    rows: int = 1


@dataclass
class OpenTable:
    """A table while its tags are read. Cells and rows end where the next begins, as in the HTML standard."""

    start: int
    in_head: bool = False
    rows: list[tuple[int, bool, list[_Cell]]] = field(default_factory=list)

    def add(self, tag: Tag, text: str) -> None:
        """Take a tag that belongs to this table: its rows, cells and groups of rows."""
        self._close(tag.start)
        if tag.name in ("thead", "tbody", "tfoot"):
            self.in_head = tag.name == "thead" and not tag.closing
        elif tag.name == "tr" and not tag.closing:
            self.rows.append((tag.start, self.in_head, []))
        elif tag.name in ("td", "th") and not tag.closing:
            if not self.rows:
                self.rows.append((tag.start, self.in_head, []))
            spans = {name.lower(): int(number[:4]) for name, number in _SPANNING.findall(text[tag.start : tag.end])}
            columns, rows = (min(max(spans.get(name, 1), 1), _WIDEST) for name in ("colspan", "rowspan"))
            self.rows[-1][2].append(_Cell(tag.end, -1, tag.name == "th", columns, rows))

    def close(self, end: int, text: str) -> Table | None:
        """The table, its last character before `end`; None where it has no header or no row below one. The header is the rows in <thead>, else the
        first row where all its cells are <th>."""
        self._close(end)
        in_head = [head for _, head, _ in self.rows]
        first = in_head.index(False) if False in in_head else len(in_head)
        if not first and self.rows and self.rows[0][2] and all(cell.names for cell in self.rows[0][2]):
            first = 1
        if not 0 < first < len(self.rows):
            return None
        cells = [row for _, _, row in self.rows]
        names = _grid(cells[:first], text)[-1]
        starts = np.array([start for start, _, _ in self.rows[first:]], dtype=np.int64)
        return Table(self.start, end, " | ".join(filter(None, map(words_of, names))), starts, names, _grid(cells[first:], text), words_of)

    def _close(self, end: int) -> None:
        if self.rows and self.rows[-1][2] and self.rows[-1][2][-1].end < 0:
            self.rows[-1][2][-1].end = end


def _grid(rows: Sequence[Sequence[_Cell]], text: str) -> list[list[str]]:
    """The source of the cell in each column of each row: one that spans rows stands in each of them, one that spans columns in its first column,
    but as the name of a column in all. Rows hold at most `_WIDEST` columns."""
    down: dict[int, tuple[int, str]] = {}  # column: rows still to fill, source
    grid: list[list[str]] = []
    for cells in rows:
        row: list[str] = []
        for cell in cells:
            _fill_down(row, down)
            source = text[cell.start : cell.end]
            copies = [source, *[source if cell.names else ""] * (cell.columns - 1)]
            if cell.rows > 1:
                down.update({len(row) + place: (cell.rows - 1, copy) for place, copy in enumerate(copies)})
            row += copies
            if len(row) >= _WIDEST:
                break
        _fill_down(row, down)
        grid.append(row)
    return grid


def _fill_down(row: list[str], down: dict[int, tuple[int, str]]) -> None:
    while len(row) in down:
        left, source = down.pop(len(row))
        if left > 1:
            down[len(row)] = (left - 1, source)
        row.append(source)
