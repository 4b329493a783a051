"""The outline of a document: its headings with their levels and titles, and the sections that they open."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from harness.chunking.headings import headings
from harness.chunking.html_headings import html_headings
from harness.chunking.html_tags import is_html
from harness.types import Document, Ints


@dataclass(frozen=True, eq=False)
class Outline:
    """The headings of one document, in order. `start`, `end`, `level`, `titles` have one entry a heading; `length` is len(text).

    `start` to `end` are the heading's own lines (Markdown: underline and last line end included; HTML: both tags included), never overlapping.
    `level` is 1 (highest) to 6. `titles` are plain text on one line, "" for a heading without words.

    A heading opens two spans. Its *section* reaches to the next heading of the same or a higher level, so it holds the sections below it. Its *leaf*
    reaches to the next heading of any level: what stands right under it. Leaves tile the text from the first heading on; what is before is in none.
    """

    start: Ints
    end: Ints
    level: Ints
    titles: tuple[str, ...]
    length: int

    def __len__(self) -> int:
        return len(self.start)

    @cached_property
    def parent(self) -> Ints:
        """The number of the heading whose section each heading stands in: the last one before it of a higher level; -1 for none."""
        parents = np.full(len(self), -1, dtype=np.int64)
        open_sections: list[int] = []
        for number, level in enumerate(self.level.tolist()):
            while open_sections and self.level[open_sections[-1]] >= level:
                open_sections.pop()
            parents[number] = open_sections[-1] if open_sections else -1
            open_sections.append(number)
        return parents

    @cached_property
    def paths(self) -> tuple[tuple[str, ...], ...]:
        """Titles from the outermost heading down to each heading itself; headings without words are left out."""
        found: list[tuple[str, ...]] = []
        for title, parent in zip(self.titles, self.parent.tolist(), strict=True):
            above = found[parent] if parent >= 0 else ()
            found.append((*above, title) if title else above)
        return tuple(found)

    def section_at(self, positions: Ints) -> Ints:
        """The number of the last heading that begins at or before each position, -1 before the first: the innermost section it is in."""
        return self.start.searchsorted(positions, side="right").astype(np.int64) - 1

    def path_at(self, position: int) -> tuple[str, ...]:
        """The titles in force at a position, outermost first; () before the first heading. A heading is in force from its own first character."""
        number = int(self.start.searchsorted(position, side="right")) - 1
        return self.paths[number] if number >= 0 else ()

    @cached_property
    def sections(self) -> tuple[Ints, Ints]:
        """Start and end of every heading's section (see above), not trimmed of white space; nested or disjoint, in document order."""
        ends = np.full(len(self), self.length, dtype=np.int64)
        open_sections: list[int] = []
        for number, level in enumerate(self.level.tolist()):
            while open_sections and self.level[open_sections[-1]] >= level:
                ends[open_sections.pop()] = self.start[number]
            open_sections.append(number)
        return self.start, ends

    @cached_property
    def leaves(self) -> tuple[Ints, Ints]:
        """Start and end of every heading's leaf (see above), not trimmed of white space; disjoint, in document order."""
        return self.start, np.append(self.start[1:], self.length)[: len(self)]


def outline_of(document: Document) -> Outline:
    """The outline of a document: h1 to h6 where it is HTML (`is_html`), else the headings of Markdown outside lists and quotations."""
    found = html_headings(document.text) if is_html(document) else headings(document.text)
    return Outline(*found, length=len(document.text))
