"""Whole sentences, as many as fit."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from harness.chunking.base import Pieces, check_size_and_overlap, is_whole
from harness.chunking.layout import Layout, Level
from harness.chunking.packing import pack, trimmed_ends
from harness.chunking.sentences import sentence_starts
from harness.errors import ConfigError
from harness.types import Ints
from harness.units.base import Ruler


@dataclass(frozen=True, slots=True)
class SentenceChunker:
    """Sentences packed greedily up to `size` units, trimmed of white space at both ends; a blank line ends a sentence too.

    A chunk begins with the longest run of whole last sentences of the one before that measures at most `overlap` and leaves room within `size`
    for a new sentence. A sentence larger than `size` is split at line ends, else words, else characters, and its parts count as sentences;
    a single character larger than `size` is kept whole and counted in the note "oversize".

    `sentences_per_chunk=n` makes chunks of n sentences instead, whatever their length: `size` and `overlap` then have no effect and are set to 0, so
    that cells that differ in them alone are equal. Every chunk is counted in the note "unbounded". `language` is an ISO 639-1 code for the segmenter.
    """

    size: int = 0
    overlap: int = 0
    sentences_per_chunk: int | None = None
    language: str = "en"

    def __post_init__(self) -> None:
        if not isinstance(self.language, str) or not self.language:
            raise ConfigError("strategy.language", self.language, "an ISO 639-1 code such as en, ar or ja")
        if self.sentences_per_chunk is None:
            check_size_and_overlap(self.size, self.overlap)
            return
        if not is_whole(self.sentences_per_chunk) or self.sentences_per_chunk < 1:
            raise ConfigError("strategy.sentences_per_chunk", self.sentences_per_chunk, "a whole number, 1 or more, or null to pack up to size")
        object.__setattr__(self, "size", 0)
        object.__setattr__(self, "overlap", 0)

    def split(self, text: str, ruler: Ruler) -> Pieces:
        """The chunks of `text`."""
        layout = Layout.of(text)
        if not len(layout.start):
            return Pieces(layout.start, layout.end)
        inner = Level.of(sentence_starts(text, self.language), layout, ruler).position
        start = np.concatenate((layout.start[:1], inner))
        end = trimmed_ends(start, layout.length, layout)
        if self.sentences_per_chunk is not None:
            first = np.arange(0, len(start), self.sentences_per_chunk)
            last = np.minimum(first + self.sentences_per_chunk, len(start)) - 1
            return Pieces(start[first], end[last], {"unbounded": len(first)})
        start, end = self._split_long(start, end, layout, ruler)
        first, last = _packed(ruler.floor(start), ruler.ceil(end), self.size, self.overlap)
        heavy = int(np.count_nonzero(ruler.size(start[first], end[last]) > self.size))
        return Pieces(start[first], end[last], {"oversize": heavy} if heavy else {})

    def _split_long(self, start: Ints, end: Ints, layout: Layout, ruler: Ruler) -> tuple[Ints, Ints]:
        """The sentences with each one larger than `size` replaced by its parts."""
        long = np.flatnonzero(ruler.size(start, end) > self.size)
        if not len(long):
            return start, end
        places = (layout.start[layout.line_ends > 0], layout.start, ruler.cuts)
        levels = [Level.of(position, layout, ruler) for position in places]
        parts = [pack(levels, int(start[row]), int(end[row]), self.size, ruler) for row in long]
        starts = np.union1d(start, np.concatenate(parts)).astype(np.int64)
        return starts, trimmed_ends(starts, layout.length, layout)


def _packed(floor: Ints, ceil: Ints, size: int, overlap: int) -> tuple[Ints, Ints]:
    """First and last sentence of each chunk. A run from a to b measures ceil[b] - floor[a]; both columns never fall."""
    pairs: list[tuple[int, int]] = []
    first = 0
    while True:
        last = max(int(ceil.searchsorted(floor[first] + size, side="right")) - 1, first)
        pairs.append((first, last))
        if last + 1 == len(floor):
            break
        room = max(int(ceil[last]) - overlap, int(ceil[last + 1]) - size)
        first = min(max(int(floor.searchsorted(room, side="left")), first + 1), last + 1)
    rows = np.array(pairs, dtype=np.int64)
    return rows[:, 0], rows[:, 1]
