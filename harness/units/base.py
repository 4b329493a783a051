"""What `size` counts: a unit turns a document into a ruler, once; everything that measures or cuts text reads the ruler.

A ruler holds the places where the text may be cut and how many units lie before each. A character whose bytes belong to several tokens is one
step of the ruler that weighs several units, so a cut can never fall inside it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from harness.types import Ints


@dataclass(frozen=True, slots=True)
class Ruler:
    """A measured document.

    `cuts`: strictly increasing character offsets, from 0 to len(text) (just [0] for an empty text). `before`: units before each cut, of equal
    length, strictly increasing, before[0] = 0.
    """

    cuts: Ints
    before: Ints

    @property
    def total(self) -> int:
        """Units in the whole document."""
        return int(self.before[-1])

    def size(self, start: Ints, end: Ints) -> Ints:
        """Units of the spans [start, end): every step that a span touches counts whole, so a part is never measured too small."""
        first = np.searchsorted(self.cuts, start, side="right") - 1
        last = np.searchsorted(self.cuts, end, side="left")
        return np.where(end > start, self.before[last] - self.before[first], 0)

    def reach(self, start: int, budget: int) -> int:
        """The furthest cut such that [start, cut) measures at most `budget` units; the last cut <= start where not even one step fits."""
        first = int(np.searchsorted(self.cuts, start, side="right")) - 1
        last = int(np.searchsorted(self.before, self.before[first] + budget, side="right")) - 1
        return int(self.cuts[max(last, first)])


class Unit(Protocol):
    """A way to measure text. Implementations are frozen dataclasses without state beyond their tokenizer."""

    @property
    def name(self) -> str:
        """What a person types: tokens, tiktoken:cl100k_base, words, chars."""
        ...

    @property
    def identity(self) -> str:
        """Changes whenever the same text could measure otherwise (for tokenizers: a digest of the tokenizer). Part of a cell's key."""
        ...

    def measure(self, text: str) -> Ruler:
        """The ruler of `text`, in time linear in its length."""
        ...
