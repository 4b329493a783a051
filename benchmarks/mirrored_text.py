"""Texts in which every sign stands once, so that where a piece of one comes from can't be mistaken (benchmarks/external_splitters.py)."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from harness.chunking.solid import Solid, solid_text
from harness.types import Ints
from harness.units import Ruler, Unit


@cache
def _rare_signs() -> str:
    """Letters without case that decomposition leaves alone, some 110,000."""
    signs = map(chr, range(0x3400, 0x110000))
    stable = (sign for sign in signs if unicodedata.category(sign) == "Lo" and unicodedata.normalize("NFD", sign) == sign and sign.isprintable())
    return "".join(stable)


@dataclass(frozen=True)
class Mirror:
    """A text of the same length in which every sign but white space and `kept` ones (a mask) stands once."""

    text: str
    back: Mapping[int, str]
    place: Mapping[str, int]

    @classmethod
    def of(cls, text: str, kept: Sequence[bool]) -> Mirror:
        present = set(text)
        rare = iter([sign for sign in _rare_signs() if sign not in present])
        signs = [sign if stays or sign.isspace() else next(rare) for sign, stays in zip(text, kept, strict=True)]
        back = {ord(new): old for new, old in zip(signs, text, strict=True) if new != old}
        return cls("".join(signs), back, {new: row for row, (new, old) in enumerate(zip(signs, text, strict=True)) if new != old})

    def original(self, piece: str) -> str:
        return piece.translate(self.back)

    def spans(self, pieces: Sequence[str]) -> list[tuple[int, int] | None]:
        """The true span of each mirrored piece, None where it has no sign of its own."""
        solid = Solid.of(self.text)
        number = {int(place): row for row, place in enumerate(solid.at.tolist())}
        return [self._span(solid_text(piece), solid.at, number) for piece in pieces]

    def _span(self, piece: str, at: Ints, number: Mapping[int, int]) -> tuple[int, int] | None:
        known = [row for row, sign in enumerate(piece) if sign in self.place]
        if not known:
            return None
        first = number[self.place[piece[known[0]]]] - known[0]
        last = number[self.place[piece[known[-1]]]] + len(piece) - known[-1]
        return int(at[first]), int(at[last - 1]) + 1


@dataclass(frozen=True)
class MirrorUnit:
    """Measures a mirrored string as what it stands for."""

    unit: Unit
    mirror: Mirror

    @property
    def name(self) -> str:
        return self.unit.name

    @property
    def identity(self) -> str:
        return self.unit.identity

    def measure(self, text: str) -> Ruler:
        return self.unit.measure(self.mirror.original(text))
