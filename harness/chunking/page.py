"""Pages, as the document was printed or scanned."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from harness.chunking.base import Pieces, check_size_and_overlap
from harness.chunking.boundaries import NAMED_LEVELS, Boundaries
from harness.chunking.languages import check_language
from harness.chunking.layout import Layout
from harness.chunking.patterns import check_pattern, matches
from harness.chunking.section_groups import Sections
from harness.chunking.sections import Inside, Splitter
from harness.errors import ConfigError
from harness.types import Ints
from harness.units.base import Ruler


@dataclass(frozen=True, slots=True)
class PageChunker:
    """One chunk a page, trimmed of white space. A page begins behind every form feed (U+000C) and where a match of `mark` begins.

    `mark`: a regular expression for other signs of a new page, None for none (`^` and `$` match at every line): `<!-- page \\d+ -->`. The sign goes
    with the page that it opens; `(?<=\\[end of page\\])` lets it go with the page that it closes. A page without words gives no chunk.

    A page larger than `size` is divided as `recursive` does. `merge`: whether neighbouring pages share a chunk while they measure at most
    `size - overlap` together.

    With `overlap`, each chunk but the first begins earlier by at most `overlap` units, across the page break too, for sentences run on: at the
    earliest sentence within them, else word, else character, as far as its own `size` allows. A character that alone measures more than `size` is
    kept and counted in the note "oversize".
    """

    size: int
    overlap: int = 0
    mark: str | None = None
    merge: bool = False
    language: str = "en"

    def __post_init__(self) -> None:
        check_size_and_overlap(self.size, self.overlap)
        if self.mark is not None:
            check_pattern("strategy.mark", self.mark)
        if not isinstance(self.merge, bool):
            raise ConfigError("strategy.merge", self.merge, "true or false")
        check_language(self.language)

    def split(self, text: str, ruler: Ruler) -> Pieces:
        """The chunks of `text`."""
        layout = Layout.of(text)
        if not len(layout.start):
            return Pieces(layout.start, layout.end)
        pages = self._pages(text)
        sections = Sections.of(pages, np.ones(len(pages), np.int64), np.zeros(len(pages), np.bool_), layout)
        splitter = Splitter(layout, ruler, self.size, self.overlap, "any" if self.merge else "none", bridge=True)
        return splitter.split(sections, lambda: running_text(text, layout, ruler, self.language))

    def _pages(self, text: str) -> Ints:
        breaks = [found.end() for found in re.finditer("\f", text)]
        if self.mark is not None:
            breaks += [found.start() for found in matches("strategy.mark", self.mark, text)]
        return np.unique(np.array(breaks, dtype=np.int64))


def running_text(text: str, layout: Layout, ruler: Ruler, language: str) -> Inside:
    """How `recursive` divides and overlaps."""
    named = Boundaries(text, layout, ruler, language)
    return Inside(named.levels(NAMED_LEVELS), named.levels(("sentence", "word", "character")))
