"""The blocks of Markdown: CommonMark with tables, as markdown-it reads it, with the place of each."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from markdown_it.token import Token

from harness.chunking.headings import body_start, heading_rows, lines_of, parse_blocks, plain_title
from harness.chunking.layout import Layout
from harness.chunking.section_groups import Sections
from harness.chunking.structural import Structure
from harness.chunking.tables import Table
from harness.types import Ints

_CODE = ("fence", "code_block", "html_block")
_WHOLE = (*_CODE, "table_open", "bullet_list_open", "ordered_list_open")


def markdown_structure(text: str, layout: Layout) -> Structure:
    """Sections by the headings that stand outside lists and quotations. Blocks that can be cut into: items of lists, what is inside items and
    quotations, the rows of a table below its first, the lines of code between its fences. Front matter is code."""
    begin = body_start(text)
    plain, lines = lines_of(text, begin)
    tokens = parse_blocks(plain)
    found = _Blocks(text, lines)
    found.add_front_matter(begin)
    for token in tokens:
        found.add(token)
    cut, rank = found.cuts()
    sections = _sections(text, layout, tokens, found)
    return Structure(sections, found.spans("heading"), cut, rank, found.spans("solid"), found.spans("whole"), tables=tuple(found.tables))


def _sections(text: str, layout: Layout, tokens: Sequence[Token], found: _Blocks) -> Sections:
    rows, level, _ = heading_rows(tokens)
    start, end = found.line(rows[:, 0]), found.line(rows[:, 1])
    empty = np.append(layout.to_word(end[:-1]) >= layout.to_word(start[1:]), False)[: len(start)]
    lead = len(start) > 0 and not text[: start[0]].strip("\ufeff \t\r\n")
    return Sections.of(start, np.array(level, dtype=np.int64), empty, layout, empty_lead=lead)


class _Blocks:
    """What the tokens of one text say of its blocks, collected token by token. `lines`: where each line begins, closed by the length of the text."""

    def __init__(self, text: str, lines: Ints) -> None:
        self.text, self.lines = text, lines
        self.tables: list[Table] = []
        self._cuts: list[tuple[int, int]] = []
        self._front: list[int] = []
        self._front_span: list[tuple[int, int]] = []
        self._spans: dict[str, list[Sequence[int]]] = {"heading": [], "solid": [], "whole": []}
        self._table: tuple[int, int] = (0, 0)
        self._rows: list[tuple[int, list[str]]] = []

    def line(self, number: Ints) -> Ints:
        """Where lines begin; the end of the text for numbers past the last."""
        return self.lines[np.minimum(number, len(self.lines) - 1)]

    def spans(self, kind: str) -> tuple[Ints, Ints]:
        """Starts and ends of all headings, of solid blocks (tables and code), or of the outermost lists, tables and code ("whole")."""
        rows = np.array(self._spans[kind], dtype=np.int64).reshape(len(self._spans[kind]), 2)
        front = np.array([] if kind == "heading" else self._front_span, dtype=np.int64).reshape(-1, 2)
        return np.concatenate((front[:, 0], self.line(rows[:, 0]))), np.concatenate((front[:, 1], self.line(rows[:, 1])))

    def cuts(self) -> tuple[Ints, Ints]:
        """Where blocks begin, in order, and their ranks. A byte order mark goes with what follows it."""
        rows = np.array(self._cuts, dtype=np.int64).reshape(len(self._cuts), 2)
        cut = np.concatenate((np.array(self._front, dtype=np.int64), self.line(rows[:, 0])))
        rank = np.concatenate((np.ones(len(self._front), dtype=np.int64), rows[:, 1]))
        order = np.argsort(cut, kind="stable")
        order = order[cut[order] > int(self.text.startswith("\ufeff"))]
        return cut[order], rank[order]

    def add_front_matter(self, end: int) -> None:
        """What stands before `end`: code between two fences (or only a byte order mark)."""
        if end > 1:
            _, lines = lines_of(self.text[:end], 0)
            self._front = lines[2:-2].tolist()
            self._front_span = [(0, end)]

    def add(self, token: Token) -> None:
        """Take the next token."""
        if token.type == "inline":
            if self._rows:
                self._rows[-1][1].append(token.content)
        elif token.type == "table_close":
            self._end_table()
        elif token.map is not None:
            self._add_placed(token, token.map[0], token.map[1])

    def _add_placed(self, token: Token, first: int, last: int) -> None:
        match token.type:
            case "heading_open":
                self._spans["heading"].append((first, last))
            case "table_open":
                self._table, self._rows = (first, last), []
            case "tr_open":
                self._rows.append((first, []))
                if len(self._rows) > 2:
                    self._cuts.append((first, token.level))
                return
            case "thead_open" | "tbody_open":
                return
            case "fence" | "code_block" | "html_block":
                self._cuts.extend((line, token.level + 1) for line in self._inner_lines(token, first, last))
        if token.type in _CODE or token.type == "table_open":
            self._spans["solid"].append((first, last))
        if token.type in _WHOLE and token.level == 0:
            self._spans["whole"].append((first, last))
            self._cuts.append((last, 0))  # where a link definition follows, no token says so
        self._cuts.append((first, token.level))

    def _inner_lines(self, token: Token, first: int, last: int) -> range:
        """The lines of code before which it may be cut: no fence is left alone."""
        if token.type != "fence":
            return range(first + 1, last)
        start, end = self.lines[last - 1], self.lines[min(last, len(self.lines) - 1)]
        closed = last - 1 > first and self.text[start:end].rstrip().endswith(token.markup)
        return range(first + 2, last - 1 if closed else last)

    def _end_table(self) -> None:
        rows, self._rows = self._rows, []
        if len(rows) > 1:
            first, last = self._table
            starts = self.lines[[line for line, _ in rows[1:]]]
            header = self.text[self.lines[first] : self.lines[first + 1]].strip()
            end = int(self.lines[min(last, len(self.lines) - 1)])
            cells = [row for _, row in rows[1:]]
            self.tables.append(Table(int(self.lines[first]), end, header, starts, rows[0][1], cells, plain_title))
