"""Sentences, by the segmenter sentencex.

Only places are taken from it, and they serve to cut the original text, so offsets are exact whatever it does. Its time grows with the square of the
length for some scripts (and for single quotes), so it is given a few thousand characters at a time, always from the start of a sentence.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise

import numpy as np
from sentencex import get_sentence_boundaries, segment

from harness.types import Ints
from harness.units.base import Ruler
from harness.units.codepoints import well_formed

_WINDOW, _ASCII_WINDOW = 4_000, 16_000
_MARGIN = 400  # a boundary this near to the end of a window could be another one if the text went on


def sentence_starts(text: str, language: str) -> Ints:
    """Where sentences (and paragraphs) begin, the first left out; strictly increasing."""
    parts = _segments(text, language)
    return _lengths(parts, len(parts)).cumsum()[:-1]


@dataclass(frozen=True, slots=True)
class Sentences:
    """The sentences of several texts as columns: those of text number n are the rows from `first[n]` up to `first[n + 1]`.

    `start` and `end`: offsets in their own text, trimmed of white space; blank sentences are left out. `floor` and `ceil`: units before the start and
    up to the end, in their own text, so that a run from row a to row b measures ceil[b] - floor[a].
    """

    start: Ints
    end: Ints
    floor: Ints
    ceil: Ints
    first: list[int]

    @classmethod
    def of(cls, texts: Sequence[str], rulers: Sequence[Ruler], language: str) -> Sentences:
        """All texts are gone through at once: most of what a short one costs would be calls."""
        parts = list(chain.from_iterable(_segments(text, language) for text in texts))
        stop = _lengths(parts, len(parts)).cumsum()
        begin = stop - _lengths(map(str.lstrip, parts), len(parts))
        size = _lengths(map(str.strip, parts), len(parts))
        begin, size = begin[size > 0], size[size > 0]
        base = np.concatenate(([0], _lengths(texts, len(texts)).cumsum()))
        first = begin.searchsorted(base)
        start = begin - np.repeat(base[:-1], np.diff(first))
        end = start + size
        floor, ceil = np.empty_like(start), np.empty_like(end)
        for ruler, (a, b) in zip(rulers, pairwise(first.tolist()), strict=True):
            floor[a:b], ceil[a:b] = ruler.floor(start[a:b]), ruler.ceil(end[a:b])
        return cls(start, end, floor, ceil, first.tolist())

    def each(self) -> Iterator[Sentences]:
        """Those of each text by themselves."""
        for a, b in pairwise(self.first):
            yield Sentences(self.start[a:b], self.end[a:b], self.floor[a:b], self.ceil[a:b], [0, b - a])


def _lengths(texts: Iterable[str], count: int) -> Ints:
    return np.fromiter(map(len, texts), dtype=np.int64, count=count)


def _segments(text: str, language: str) -> list[str]:
    """The text (half surrogate pairs replaced) in pieces that begin where sentences do; none is left out."""
    clean = well_formed(text)
    wide = _ASCII_WINDOW if clean.isascii() else _WINDOW
    found: list[str] = []
    unfinished: list[str] = []  # windows without any sure boundary: what a long sentence has so far
    place = 0
    while place < len(clean):
        window = clean[place : place + wide]
        parts, end = _cut(window, language), len(window)
        if place + wide < len(clean):
            parts, end = _sure(parts, end, end - _MARGIN)
        if parts:
            parts[0] = "".join([*unfinished, parts[0]])
            unfinished = []
            found += parts
        else:
            end = wide - _MARGIN
            unfinished.append(window[:end])
        place += end
    return found


def _cut(window: str, language: str) -> list[str]:
    parts: list[str] = segment(language, window)
    if "".join(parts) == window:
        return parts
    starts = [int(boundary["start_index"]) for boundary in get_sentence_boundaries(language, window)]  # it may pass over white space
    edges = sorted({0, *starts, len(window)})
    return [window[begin:end] for begin, end in pairwise(edges)]


def _sure(parts: list[str], end: int, limit: int) -> tuple[list[str], int]:
    """The sentences of a window of length `end` that stop at or before `limit`, and where the last of them does."""
    kept = len(parts)
    while kept and end > limit:
        kept -= 1
        end -= len(parts[kept])
    return parts[:kept], end
