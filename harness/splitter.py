"""A strategy with its unit and what surrounds its chunks, for anybody's code: text in, exact spans out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from harness.chunking import chunk_documents
from harness.chunking.base import Chunker
from harness.chunking.surroundings import PLAIN, Surroundings
from harness.types import Document
from harness.units import unit_by_name
from harness.units.base import Unit


class Chunk(NamedTuple):
    """Characters `start` to `end` (exclusive) of the text that was split; `text` is exactly that slice.

    `returned_start` to `returned_end` is what to hand to the reader when the chunk is found. `context` goes in front of `text` where it is embedded,
    and `also` is a second text to embed that leads to the chunk; "" for none.
    """

    text: str
    start: int
    end: int
    returned_start: int
    returned_end: int
    context: str = ""
    also: str = ""


@dataclass(frozen=True)
class Splitter:
    """Splits any text as the cell did that it comes from."""

    chunker: Chunker
    unit: Unit
    around: Surroundings = field(default=PLAIN)

    @classmethod
    def of(cls, chunker: Chunker, unit: str, embedder_unit: Unit, around: Surroundings = PLAIN) -> Splitter:
        """A splitter whose size is counted in `unit` (tokens: those of the embedder)."""
        return cls(chunker, unit_by_name(unit, embedder_unit), around)

    def split(self, text: str, *, name: str = "text", title: str = "", metadata: Mapping[str, Any] | None = None) -> list[Chunk]:
        """The chunks of `text`, in order. An empty or blank text has none.

        `name` (a file name), `title` and `metadata` are those of the document, for strategies and contexts that look at them.
        """
        document = Document(name, text, title, metadata or {})
        chunks = chunk_documents(self.chunker, [document], [self.unit.measure(text)], self.around)
        texts = [column or ("",) * len(chunks) for column in (chunks.context, chunks.also)]
        columns = (column.tolist() for column in (chunks.start, chunks.end, chunks.returned_start, chunks.returned_end))
        return [Chunk(text[row[0] : row[1]], *row) for row in zip(*columns, *texts, strict=True)]
