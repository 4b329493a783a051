"""What `size` counts: a unit turns a document into a ruler, once; everything that measures or cuts text reads the ruler.

A ruler divides the *whole* text into steps. A step begins where a token begins and reaches to the next one, so what lies between tokens (white
space, and characters that a tokenizer drops) belongs to the token before it, at the very start of the text to the first token. A character
whose bytes belong to several tokens is one step that weighs several units, so a cut can never fall inside it. A step weighs at least one unit;
a text without any token is one step of one unit, an empty text has none.

A document is measured as a whole. A chunk that begins inside a word may come to slightly more tokens when it is tokenised on its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from harness.errors import PartError
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

    @property
    def nbytes(self) -> int:
        """Memory that the columns take."""
        return self.cuts.nbytes + (0 if self.before is self.cuts else self.before.nbytes)

    def floor(self, position: Ints) -> Ints:
        """Units before the step that holds each position (before the position itself where it is a cut)."""
        floor: Ints = self.before[self.cuts.searchsorted(position, side="right") - 1]
        return floor

    def ceil(self, position: Ints) -> Ints:
        """Units up to the end of the last step that begins before each position (before the position itself where it is a cut)."""
        ceil: Ints = self.before[self.cuts.searchsorted(position, side="left")]
        return ceil

    def size(self, start: Ints, end: Ints) -> Ints:
        """Units of the spans [start, end): every step that a span touches counts whole, so a part is never measured too small."""
        return np.where(end > start, self.ceil(end) - self.floor(start), 0)

    def within(self, start: int, end: int) -> Ruler:
        """The ruler of the span [start, end), not empty, by itself; a step that its edge cuts through counts whole, as in `size`."""
        first = int(self.cuts.searchsorted(start, side="right")) - 1
        last = int(self.cuts.searchsorted(end, side="left")) + 1
        cuts = self.cuts[first:last] - start
        cuts[0], cuts[-1] = 0, end - start
        return Ruler(cuts, self.before[first:last] - self.before[first])

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


def ruler_from_tokens(length: int, start: Ints, end: Ints) -> Ruler:
    """The ruler of a text of `length` characters whose tokens, in order, are the spans [start, end), weighing one unit each.

    A token that begins before the end of an earlier one (they share a character), or where that one begins, adds its unit to that step.
    """
    if length == 0:
        return Ruler(np.zeros(1, np.int64), np.zeros(1, np.int64))
    if len(start) == 0:
        return Ruler(np.array([0, length], np.int64), np.array([0, 1], np.int64))
    if int(start.min()) < 0 or int(max(start.max(), end.max())) > length:
        raise PartError(f"a tokenizer gave offsets outside the text: {int(start.min())} to {int(end.max())} in {length} characters")
    covered = np.maximum.accumulate(np.maximum(end, start + 1))
    opens = np.flatnonzero((start[1:] >= covered[:-1]) & (start[1:] < length)) + 1
    cuts = np.concatenate(([0], start[opens], [length])).astype(np.int64)
    before = np.concatenate(([0], opens, [len(start)])).astype(np.int64)
    return Ruler(cuts, before)
