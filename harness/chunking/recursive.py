"""The largest natural boundary that fits: sections, then paragraphs, lines, sentences, words, characters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from harness.chunking.base import Pieces, check_size_and_overlap
from harness.chunking.boundaries import NAMED_LEVELS, Boundaries, reach_back
from harness.chunking.languages import check_language
from harness.chunking.layout import Layout
from harness.chunking.packing import pack, trimmed_ends
from harness.chunking.patterns import check_pattern
from harness.errors import ConfigError
from harness.units.base import Ruler


@dataclass(frozen=True, slots=True)
class RecursiveChunker:
    """Chunks of at most `size` units, trimmed of white space, each ended at the coarsest level of `separators` that has a boundary within reach.

    `separators`, coarse to fine, are names of levels or regular expressions (anything that isn't letters alone), which allow a cut behind each match
    (`^` and `$` match at every line): heading (before a Markdown heading outside code; a heading with nothing but white space before the next
    one stays with it), paragraph (after a blank line), line, sentence, word, character. No paragraph, line or sentence begins inside a heading or
    right behind it: a heading begins its section. The last piece before a coarser boundary takes text from the piece before rather than be under
    a quarter of the budget. Where nothing fits, the piece up to the nearest boundary is kept whole and counted in the note "oversize".

    With `overlap`, chunks are filled to `size - overlap`, then each but the first begins earlier by at most `overlap` units: at the earliest sentence
    within them, else word, else character, and never before the chunk before (its start without overlap).
    """

    size: int
    overlap: int = 0
    separators: tuple[str, ...] = NAMED_LEVELS
    language: str = "en"

    def __post_init__(self) -> None:
        check_size_and_overlap(self.size, self.overlap)
        given: object = self.separators  # from a YAML it may be anything
        if isinstance(given, str) or not isinstance(given, Sequence) or not given:
            raise ConfigError("strategy.separators", given, f"a list, coarse to fine, of {', '.join(NAMED_LEVELS)} or regular expressions")
        object.__setattr__(self, "separators", tuple(given))
        for separator in self.separators:
            _check_separator(separator)
        check_language(self.language)

    def split(self, text: str, ruler: Ruler) -> Pieces:
        """The chunks of `text`."""
        layout = Layout.of(text)
        if not len(layout.start):
            return Pieces(layout.start, layout.end)
        boundaries = Boundaries(text, layout, ruler, self.language)
        levels = boundaries.levels(self.separators)
        start = np.array(pack(levels, int(layout.start[0]), int(layout.end[-1]), self.size - self.overlap, ruler), dtype=np.int64)
        end = trimmed_ends(start, layout.length, layout)
        heavy = int(np.count_nonzero(ruler.size(start, end) > self.size))
        if self.overlap:
            start = reach_back(start, end, boundaries.levels(("sentence", "word", "character")), self.overlap, self.size, ruler)
        return Pieces(start, end, {"oversize": heavy} if heavy else {})


def _check_separator(separator: object) -> None:
    if not isinstance(separator, str) or not separator:
        raise ConfigError("strategy.separators", separator, f"one of {', '.join(NAMED_LEVELS)}, or a regular expression")
    if separator in NAMED_LEVELS:
        return
    if separator.isalpha():
        raise ConfigError("strategy.separators", separator, f"no such level; one of {', '.join(NAMED_LEVELS)}, or a regular expression such as ;\\s")
    check_pattern("strategy.separators", separator)
