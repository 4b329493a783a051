"""How long a text is in some unit, as far as it matters: no further than the largest size that is asked about."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from harness.types import Document
from harness.units.base import Unit

_T = TypeVar("_T")
_FIRST_LOOK = 16
"""Characters a unit that are looked at first: English has about five a token."""
_WHITE = re.compile(r"\s")
_LONGEST_WORD = 200
SAMPLE = 1000
"""Documents that are measured at most; of more, so many evenly spaced ones."""


def units_up_to(unit: Unit, text: str, most: int, start: int = 0, end: int | None = None) -> int:
    """Units of text[start:end], exact up to `most`; any number above `most` means more than that.

    Where the passage begins or ends inside a word, the word's other tokens don't count. The passage is read in growing parts, so a long one costs
    no more than a few times what `most` units take. A text has at least as many units as words, which spares most tokenising.
    """
    stop = len(text) if end is None else end
    first, last = _word_start(text, start), _word_end(text, stop)
    look = _FIRST_LOOK * (most + 1)
    if len(text[start : min(stop, start + look)].split()) > most + 2:  # the first and last word may be cut
        return most + 1
    while True:
        upto = min(last, first + look)
        ruler = unit.measure(text[first:upto])
        inside = min(stop, upto)
        found = int(ruler.size(np.array([start - first]), np.array([inside - first]))[0])
        if upto >= last or found > most + 1:
            return found
        look *= 2


def _word_start(text: str, place: int) -> int:
    for at in range(place, max(place - _LONGEST_WORD, 0), -1):
        if text[at - 1].isspace():
            return at
    return max(place - _LONGEST_WORD, 0)


def _word_end(text: str, place: int) -> int:
    found = _WHITE.search(text, place, min(len(text), place + _LONGEST_WORD))
    return found.start() if found else min(len(text), place + _LONGEST_WORD)


@dataclass(frozen=True, slots=True)
class Fits:
    """`measured` of `documents` that have text were measured; `whole[size]` is the share of these that measures at most `size`: it is one chunk."""

    documents: int
    measured: int
    whole: dict[int, float]


def fits(documents: Sequence[Document], unit: Unit, sizes: Sequence[int], *, sample: int = SAMPLE) -> Fits:
    """For each size the share of the documents that it leaves whole; of more than `sample` documents, that of so many evenly spaced ones."""
    written = [document for document in documents if not document.blank]
    looked = evenly(written, sample)
    most = max(sizes)
    lengths = np.array([units_up_to(unit, document.text, most) for document in looked], dtype=np.int64)
    return Fits(len(written), len(looked), {size: float((lengths <= size).mean()) if len(lengths) else 0.0 for size in sorted(sizes)})


def evenly(items: Sequence[_T], most: int) -> list[_T]:
    """At most `most` of the items, evenly spaced, the same each time."""
    if len(items) <= most:
        return list(items)
    return [items[place * len(items) // most] for place in range(most)]
