"""What the reader gets when a chunk is retrieved."""

from __future__ import annotations

import numpy as np

from harness.chunking.layout import Layout
from harness.chunking.outline import Outline
from harness.chunking.recursive import RecursiveChunker
from harness.chunking.surroundings import Surroundings
from harness.types import Ints
from harness.units.base import Ruler


def returned_spans(
    around: Surroundings, text: str, ruler: Ruler, outline: Outline | None, start: Ints, end: Ints, language: str
) -> tuple[Ints, Ints, int]:
    """Start and end of what each chunk of one document returns, and how many chunks lie in several parents or sections.

    A returned span holds its chunk, but for white space at the chunk's edges: chunks of one parent return the very same span, which the reader gets
    once. Sections, parents and the document are trimmed of white space. `outline` is needed for sections; `language` for where sentences end.
    """
    if around.way == "neighbours":
        return *_neighbours(start, end, around.amount), 0
    if around.way == "chunk" or not len(start):
        return start, end, 0
    return _covering(*_covers(around, text, ruler, outline, language), start, end)


def _neighbours(start: Ints, end: Ints, amount: int) -> tuple[Ints, Ints]:
    numbers = np.arange(len(start))
    first, last = np.maximum(numbers - amount, 0), np.minimum(numbers + amount, len(start) - 1)
    return np.minimum(start, start[first]), np.maximum(end, end[last])


def _covers(around: Surroundings, text: str, ruler: Ruler, outline: Outline | None, language: str) -> tuple[Ints, Ints]:
    """Spans that hold every word of the text, in order, disjoint, and without white space at their edges."""
    if around.way == "parent":
        found = RecursiveChunker(around.amount, language=language).split(text, ruler)
        return found.start, found.end
    layout = Layout.of(text)
    if around.way == "section" and outline is not None:
        return _sections(outline, layout)
    return layout.start[:1], layout.end[-1:]


def _sections(outline: Outline, layout: Layout) -> tuple[Ints, Ints]:
    """From each heading to the next of any level; a heading with nothing under it belongs to the next one, what is before the first is a section."""
    begin = layout.to_word(outline.start)
    bare = layout.to_word(outline.end[:-1]) >= begin[1:]
    inner = begin[np.concatenate(([True], ~bare))[: len(begin)]]
    start = np.concatenate((layout.start[:1], inner[inner > layout.start[0]]))
    return start, layout.trim_end(np.append(start[1:], layout.length))


def _covering(first: Ints, last: Ints, start: Ints, end: Ints) -> tuple[Ints, Ints, int]:
    """For each chunk [start, end), not blank: from the first cover that it touches to the last. White space at its edges lies between covers, so it
    touches none."""
    low = np.minimum(last.searchsorted(start, side="right"), len(last) - 1)
    high = np.maximum(first.searchsorted(end, side="left") - 1, low)
    return first[low], last[high], int(np.count_nonzero(high > low))
