"""The tags of an HTML text and where they stand, by a scanner of one regular expression.

Why not a parser: html.parser (3.11) takes quadratic time on unclosed comments and tags, raises on "<![<", and gives no ends of end tags.
tree-sitter-html takes "<3" in running text for a tag, loses the headings behind it, and is quadratic on unclosed comments. Parsers that build the
browser's tree (html5lib, lxml) don't keep exact places. Nothing more than places is needed here, so the scanner follows the tokenizer of the HTML
standard (https://html.spec.whatwg.org/multipage/parsing.html#tokenization) in what is a tag, a comment or raw text. It works on the text itself, so
offsets are characters; it never fails; and it is linear, for every match consumes what it has read. Two departures, both kinder to broken files:
a quotation mark that is never closed opens no value, and a raw-text element that closes itself (<script/>, XHTML) is empty.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from typing import NamedTuple

from harness.types import Document

_ATTRIBUTES = r"""(?:[\s/](?:[^>=]++|=\s*+(?:"[^"]*+"|'[^']*+')?+)*+)?+"""
_RAW = "script|style|textarea|title|xmp|iframe|noembed|noframes"
_MARKUP = re.compile(
    rf"""
    <!--(?:-?>|.*?(?:--!?>|\Z))                                                    # a comment
  | <!\[CDATA\[.*?(?:\]\]>|\Z)
  | <(?P<raw>{_RAW}){_ATTRIBUTES}(?:(?<=/)>|>.*?(?=</(?P=raw)[\s/>]|\Z)|\Z)         # an element whose content is no markup
  | <(?P<name>[a-z][^\s/>]*+){_ATTRIBUTES}>
  | </(?P<closed>[a-z][^\s/>]*+){_ATTRIBUTES}>
  | <[!?/][^>]*+(?:>|\Z)                                                           # a doctype, a processing instruction, a bogus comment
  | <[a-z].*\Z                                                                    # a tag that the text ends in
    """,
    re.VERBOSE | re.IGNORECASE | re.DOTALL,
)
_IS_HTML = re.compile(r"\ufeff?\s*(?:<!doctype html|<html)", re.IGNORECASE)


_BLOCK_NAMES = """
    address article aside blockquote body caption center dd details dialog dir div dl dt fieldset figcaption figure footer form
    h1 h2 h3 h4 h5 h6 head header hgroup hr html legend li main menu nav ol option p pre search section summary
    table tbody td tfoot th thead tr ul
"""
BLOCKS = frozenset(_BLOCK_NAMES.split())
"""Elements that begin on a line of their own."""


RAW = frozenset(_RAW.split("|"))
"""Elements whose content is no markup."""
VOID = frozenset("area base br col embed hr img input link meta param source track wbr".split())  # noqa: SIM905
"""Elements that have no content and no end tag."""


class Tag(NamedTuple):
    """A tag at text[start:end]; `name` in lower case, `closing` for </name>. An element of RAW is one tag up to its end tag. In `markup`, comments
    and the like are tags without a name."""

    name: str
    closing: bool
    start: int
    end: int


def is_html(document: Document) -> bool:
    """Whether `document` is read as HTML: its id ends with .html, .htm or .xhtml, or its text begins with a doctype of HTML or <html."""
    return document.id.lower().endswith((".html", ".htm", ".xhtml")) or looks_like_html(document.text)


def looks_like_html(text: str) -> bool:
    """Whether `text` begins with a doctype of HTML or <html; white space and a byte order mark may stand before it."""
    return _IS_HTML.match(text) is not None


def markup(text: str) -> Iterator[Tag]:
    """All that is no text: tags, comments, doctypes, in order."""
    for found in _MARKUP.finditer(text):
        kind = found.lastgroup
        yield Tag(found[kind].lower() if kind else "", kind == "closed", found.start(), found.end())


def tags(text: str) -> Iterator[Tag]:
    """Every tag, in order. What stands in comments and inside raw-text elements is none."""
    return (tag for tag in markup(text) if tag.name)


def words_of(source: str) -> str:
    """The text of a stretch of HTML on one line: markup dropped, character references resolved, white space collapsed."""
    return " ".join(html.unescape(_MARKUP.sub(_gap, source)).split())


def _gap(found: re.Match[str]) -> str:
    name = found["name"] or found["closed"]
    return " " if name and (name.lower() == "br" or name.lower() in BLOCKS) else ""
