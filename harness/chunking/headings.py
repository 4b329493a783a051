"""Headings of Markdown, as CommonMark has them: ATX and setext, not the hash lines of code, comments and front matter."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

import numpy as np
from markdown_it import MarkdownIt
from markdown_it.token import Token

from harness.types import Ints

_LINE_END = re.compile(r"\r\n?|\n")
_CANDIDATE = re.compile(r"^ {0,3}(?:#{1,6}(?:[ \t]|$)|=+[ \t]*$|-+[ \t]*$)", re.MULTILINE)
_FRONT_MATTER = re.compile(r"\A---[ \t]*\r?\n(?=#|[A-Za-z_][\w .-]*:)(?:.*\n)*?(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)")
_WINDOW = 1 << 18
_MARKS = re.compile(r"[\\`*_\[\]<>&!]")

_parser = MarkdownIt("commonmark")
_parser.core.ruler.enableOnly(["normalize", "block"])
_with_tables = MarkdownIt("commonmark").enable("table")
_with_tables.core.ruler.enableOnly(["normalize", "block"])
_inline = MarkdownIt("commonmark")


def heading_spans(text: str) -> tuple[Ints, Ints]:
    """Where each heading that isn't nested in a list or quotation begins and ends: its lines, underline and last line end included.

    Block structure is parsed only where some line could be a heading. Parsing takes up to 40 microseconds a line.
    """
    start, end, _, _ = _found(text, _parser)
    return start, end


def headings(text: str) -> tuple[Ints, Ints, Ints, tuple[str, ...]]:
    """The headings of CommonMark with tables, with their levels, 1 to 6, and titles: (start, end, level, titles), of equal length.

    They are those of `heading_spans`, but where a line of hyphens right below a table would make its rows a heading.

    A title is plain text: the words without inline marks and closing hashes, links by their words, images by their description, white space
    collapsed; "" for a heading without words.
    """
    start, end, level, sources = _found(text, _with_tables)
    return start, end, level, tuple(map(plain_title, sources))


def plain_title(source: str) -> str:
    """Inline Markdown as plain text on one line."""
    if _MARKS.search(source):
        tokens = _inline.parseInline(source)
        source = "".join(_words(tokens[0].children or ()))
    return " ".join(source.split())


def body_start(text: str) -> int:
    """Where the text begins after a byte order mark and YAML front matter."""
    mark = 1 if text.startswith("\ufeff") else 0
    front = _FRONT_MATTER.match(text[mark:])
    return mark + front.end() if front else mark


def parse_blocks(plain: str) -> list[Token]:
    """The block tokens of CommonMark with tables; `plain` has line feeds alone. Their lines are exact, their inline text is not parsed."""
    return _with_tables.parse(plain)


def lines_of(text: str, begin: int) -> tuple[str, Ints]:
    """text[begin:] with every line end as one line feed, as markdown-it wants it, and where its lines begin in `text`, closed by len(text)."""
    body = text[begin:]
    ends = [begin + match.end() for match in _LINE_END.finditer(body)]
    return _LINE_END.sub("\n", body), np.array([begin, *ends, len(text)], dtype=np.int64)


def _parsed(parser: MarkdownIt, plain: str) -> Iterator[tuple[int, list[Token]]]:
    """The block tokens of a text, those of some hundred thousand characters at a time, and the line from which theirs count: a token is a kilobyte.

    A part ends in the middle of some block, so its last outermost block is left out, and the next part begins with it. What stands before that block
    is closed, and nothing but links looks further back.
    """
    begin, line, wide = 0, 0, _WINDOW
    while True:
        end = plain.find("\n", begin + wide) + 1
        tokens = parser.parse(plain[begin:end] if end else plain[begin:])
        if not end:
            yield line, tokens
            return
        outer = [(place, token.map[0]) for place, token in enumerate(tokens) if token.level == 0 and token.nesting >= 0 and token.map]
        last, first = outer[-1] if outer else (0, 0)
        if not first:  # one block, so far
            wide *= 2
            continue
        yield line, tokens[:last]
        begin, line, wide = _after_lines(plain, begin, first), line + first, _WINDOW


def _after_lines(plain: str, begin: int, count: int) -> int:
    for _ in range(count):
        begin = plain.index("\n", begin) + 1
    return begin


def heading_rows(tokens: Sequence[Token], line: int = 0) -> tuple[Ints, list[int], list[str]]:
    """First and end line of each outermost heading, shape (n, 2), its level, and its inline Markdown. Lines count on from `line`."""
    rows, levels, sources = [], [], []
    for token, following in pairwise(tokens):
        if token.type == "heading_open" and token.level == 0 and token.map is not None:
            rows.append(token.map)
            levels.append(int(token.tag[1]))
            sources.append(following.content)
    return np.array(rows, dtype=np.int64).reshape(len(rows), 2) + line, levels, sources


def _found(text: str, parser: MarkdownIt) -> tuple[Ints, Ints, Ints, list[str]]:
    plain, lines = lines_of(text, body_start(text))
    if not _CANDIDATE.search(plain):
        none = np.zeros(0, np.int64)
        return none, none, none, []
    found = [heading_rows(tokens, line) for line, tokens in _parsed(parser, plain)]
    rows = np.concatenate([lines for lines, _, _ in found])
    levels, sources = [level for _, some, _ in found for level in some], [source for _, _, some in found for source in some]
    last = np.minimum(rows[:, 1], len(lines) - 1)
    return lines[rows[:, 0]], lines[last], np.array(levels, dtype=np.int64), sources


def _words(tokens: Iterable[Token]) -> Iterable[str]:
    for token in tokens:
        if token.type in ("softbreak", "hardbreak"):
            yield " "
        elif token.type == "image":
            yield from _words(token.children or ())
        elif token.type != "html_inline":
            yield token.content
