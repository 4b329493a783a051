"""A strategy with its unit, for anybody's code: text in, exact spans out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from harness.chunking.base import Chunker
from harness.units import unit_by_name
from harness.units.base import Unit


class Chunk(NamedTuple):
    """Characters `start` to `end` (exclusive) of the text that was split; `text` is exactly that slice."""

    text: str
    start: int
    end: int


@dataclass(frozen=True)
class Splitter:
    """Splits any text as the cell did that it comes from."""

    chunker: Chunker
    unit: Unit

    @classmethod
    def of(cls, chunker: Chunker, unit: str, embedder_unit: Unit) -> Splitter:
        """A splitter whose size is counted in `unit` (tokens: those of the embedder)."""
        return cls(chunker, unit_by_name(unit, embedder_unit))

    def split(self, text: str) -> list[Chunk]:
        """The chunks of `text`, in order. An empty or blank text has none."""
        pieces = self.chunker.split(text, self.unit.measure(text))
        return [Chunk(text[start:end], start, end) for start, end in zip(pieces.start.tolist(), pieces.end.tolist(), strict=True)]
