"""A text without its white space, and folded, with the way back to the characters that it was made of."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from harness.types import Bools, Ints
from harness.units.codepoints import code_points, white_mask

BROKEN = "\ufffd"
"""What a tokenizer's decoder writes for a part of a character."""


def solid_text(text: str) -> str:
    """`text` without white space."""
    return "".join(text.split())


@lru_cache(maxsize=65_536)
def _folded_sign(sign: str) -> str:
    """Lower case without accents; nothing for what has no shape of its own (marks, joiners, controls, half characters)."""
    plain = unicodedata.normalize("NFD", sign).lower()
    kept = "".join(part for part in plain if not unicodedata.combining(part) and part.isprintable() and part != BROKEN)
    return "" if unicodedata.combining(sign) else kept


def folded_text(solid: str) -> str:
    """`solid` in lower case, without accents, invisible characters and U+FFFD: what tokenizers and Markdown splitters may change."""
    if solid.isascii() and solid.isprintable():
        return solid.lower()
    return "".join(map(_folded_sign, solid))


@dataclass(frozen=True)
class Solid:
    """The characters of `text` that aren't white space: `signs`, and at which offset of the text each stands (`at`, strictly increasing).

    `loose[i]`: whether white space, or an end of the text, lies between sign i - 1 and sign i (0 <= i <= number of signs).
    """

    signs: str
    at: Ints
    loose: Bools

    @classmethod
    def of(cls, text: str) -> Solid:
        """The solid form of `text`."""
        at = np.flatnonzero(~white_mask(code_points(text))).astype(np.int64)
        gaps = np.diff(at) > 1
        ends = np.ones(1, dtype=bool)
        return cls(solid_text(text), at, np.concatenate((ends, gaps, ends)) if len(at) else ends)

    def start(self, first: Ints) -> Ints:
        """Offsets in the text of these signs."""
        return self.at[first]

    def end(self, stop: Ints) -> Ints:
        """Offsets in the text behind the last sign before each of these (which are at least 1)."""
        return self.at[stop - 1] + 1

    @cached_property
    def folded(self) -> Folded:
        """The folded form, made when it is first asked for."""
        return Folded.of(self.signs)


@dataclass(frozen=True)
class Folded:
    """Folded signs, and which sign each comes of (`sign`, never falls)."""

    signs: str
    sign: Ints

    @classmethod
    def of(cls, signs: str) -> Folded:
        """The folded form of solid text."""
        whole = folded_text(signs)
        if len(whole) == len(signs) and signs.isascii():
            return cls(whole, np.arange(len(signs), dtype=np.int64))
        lengths = np.fromiter((len(_folded_sign(sign)) for sign in signs), dtype=np.int64, count=len(signs))
        return cls(whole, np.repeat(np.arange(len(signs), dtype=np.int64), lengths))

    def place_of(self, sign: int) -> int:
        """The first folded sign that comes of solid sign `sign` or a later one."""
        return int(self.sign.searchsorted(sign, side="left"))

    def span_of(self, start: int, stop: int) -> tuple[int, int]:
        """The solid signs, half-open, that the folded signs [start, stop) come of."""
        return int(self.sign[start]), int(self.sign[stop - 1]) + 1
