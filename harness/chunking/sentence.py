"""Whole sentences, as many as fit."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from harness.chunking.base import MOST, Pieces, check_size_and_overlap, is_amount
from harness.chunking.languages import check_language, with_language
from harness.chunking.long_sentences import with_parts
from harness.chunking.sentences import Sentences
from harness.errors import ConfigError
from harness.types import Document, Ints
from harness.units.base import Ruler


@dataclass(frozen=True, slots=True)
class SentenceChunker:
    """Sentences packed greedily up to `size` units, trimmed of white space at both ends; a blank line ends a sentence too.

    A chunk begins with the longest run of whole last sentences of the one before that measures at most `overlap` and leaves room within `size`
    for a new sentence. A sentence larger than `size` is split at line ends, else words, else characters, and its parts count as sentences;
    a single character larger than `size` is kept whole and counted in the note "oversize".

    `sentences_per_chunk=n` makes chunks of n sentences instead, whatever their length: `size` and `overlap` then have no effect and are set to 0, so
    that cells that differ in them alone are equal. Every chunk is counted in the note "unbounded". `language`: see harness/chunking/languages.py.
    """

    size: int = 0
    overlap: int = 0
    sentences_per_chunk: int | None = None
    language: str = "en"

    def __post_init__(self) -> None:
        check_language(self.language)
        if self.sentences_per_chunk is None:
            check_size_and_overlap(self.size, self.overlap)
            return
        if not is_amount(self.sentences_per_chunk, 1):
            raise ConfigError(
                "strategy.sentences_per_chunk", self.sentences_per_chunk, f"a whole number, 1 or more, up to {MOST:,}, or null to pack up to size"
            )
        object.__setattr__(self, "size", 0)
        object.__setattr__(self, "overlap", 0)

    def split(self, text: str, ruler: Ruler) -> Pieces:
        """The chunks of `text`."""
        return self.split_all([Document("", text)], [ruler])[0]

    def split_all(self, documents: Sequence[Document], rulers: Sequence[Ruler]) -> Sequence[Pieces]:
        """The chunks of every document; the sentences of all of them are found together."""
        texts = [document.text for document in documents]
        sentences = Sentences.of(texts, rulers, self.language)
        if self.sentences_per_chunk is not None:
            found = [_counted(sentences.start[a:b], sentences.end[a:b], self.sentences_per_chunk) for a, b in pairwise(sentences.first)]
        else:
            found = _packed(with_parts(texts, rulers, sentences, self.size), self.size, self.overlap)
        return with_language(found, self.language)


def _counted(start: Ints, end: Ints, each: int) -> Pieces:
    """Chunks of `each` sentences."""
    first = np.arange(0, len(start), each)
    last = np.minimum(first + each, len(start)) - 1
    return Pieces(start[first], end[last], {"unbounded": len(first)} if len(first) else {})


def _packed(sentences: Sentences, size: int, overlap: int) -> list[Pieces]:
    """The chunks of each text."""
    floor, ceil = sentences.floor.tolist(), sentences.ceil.tolist()
    firsts: list[int] = []
    lasts: list[int] = []
    edges = [0]
    for first, stop in pairwise(sentences.first):
        _pack(floor, ceil, first, stop, size, overlap, firsts, lasts)
        edges.append(len(firsts))
    start, end = sentences.start[firsts], sentences.end[lasts]
    heavy = np.concatenate(([0], (sentences.ceil[lasts] - sentences.floor[firsts] > size).cumsum()))[edges]
    heavies = np.diff(heavy).tolist()
    return [Pieces(start[a:b], end[a:b], {"oversize": heavy} if heavy else {}) for (a, b), heavy in zip(pairwise(edges), heavies, strict=True)]


def _pack(floor: list[int], ceil: list[int], first: int, stop: int, size: int, overlap: int, firsts: list[int], lasts: list[int]) -> None:
    """Append the first and last sentence of each chunk of the sentences [first, stop). Both measures never fall. Two binary searches a chunk."""
    while first < stop:
        last = max(bisect_right(ceil, floor[first] + size, first, stop) - 1, first)
        firsts.append(first)
        lasts.append(last)
        if last + 1 == stop:
            return
        room = max(ceil[last] - overlap, ceil[last + 1] - size)
        first = bisect_left(floor, room, first + 1, last + 1)
