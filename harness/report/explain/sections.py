"""The headings above a place of a document: a citation that people can find again."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from harness.chunking.headings import heading_spans
from harness.types import Document, Ints

_CLOSING = re.compile(r"(?:^|[ \t])#+[ \t]*$")


@dataclass(frozen=True, slots=True)
class Headings:
    """The headings of a document: where each begins (rising), its level (1 is the top), and its words."""

    start: Ints
    level: tuple[int, ...]
    title: tuple[str, ...]
    path: tuple[tuple[str, ...], ...] = field(repr=False)

    def above(self, position: int) -> tuple[str, ...]:
        """The titles of the sections that `position` lies in, outermost first; a heading lies in its own section."""
        row = int(np.searchsorted(self.start, position, side="right")) - 1
        return self.path[row] if row >= 0 else ()


def headings_of(text: str) -> Headings:
    """The headings of `text`, read as Markdown."""
    start, end = heading_spans(text)
    read = [_read(text[a:b]) for a, b in zip(start.tolist(), end.tolist(), strict=True)]
    return Headings(start, tuple(level for level, _ in read), tuple(title for _, title in read), tuple(_paths(read)))


def _read(lines: str) -> tuple[int, str]:
    """Level and title of an ATX or setext heading."""
    body = lines.strip()
    if body.startswith("#"):
        level = len(body) - len(body.lstrip("#"))
        return level, _CLOSING.sub("", body[level:].strip()).strip()
    title, _, underline = body.replace("\r\n", "\n").replace("\r", "\n").rpartition("\n")
    return (1 if underline.strip().startswith("=") else 2), " ".join(title.split())


def _paths(read: Sequence[tuple[int, str]]) -> list[tuple[str, ...]]:
    open_: list[tuple[int, str]] = []
    paths = []
    for level, title in read:
        while open_ and open_[-1][0] >= level:
            open_.pop()
        open_.append((level, title))
        paths.append(tuple(name for _, name in open_ if name))
    return paths


class Outline:
    """The headings of a corpus's documents, each document read once and only when asked for."""

    def __init__(self, documents: Sequence[Document]) -> None:
        self._documents = documents
        self._read: dict[int, Headings] = {}

    def of(self, doc: int) -> Headings:
        """The headings of document number `doc`."""
        if doc not in self._read:
            self._read[doc] = headings_of(self._documents[doc].text)
        return self._read[doc]
