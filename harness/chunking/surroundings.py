"""What surrounds the chunks of any strategy: the text in front of a chunk where it is embedded, what its reader gets, how short it may be, and how
many vectors lead to it. Each is an axis of its own, so that parent and child, or a sentence and its window, are no strategies but combinations.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from harness.chunking.base import MOST, Chunker, is_amount, is_whole
from harness.errors import ConfigError, ImpossibleCell
from harness.types import SURROUNDINGS, Document

_CONTEXT_PART = re.compile(r"title|heading_path|metadata:[^+]*[^+\s][^+]*|before:[1-9][0-9]{0,9}")
_RETURNED = re.compile(r"chunk|section|document|neighbours:[1-9][0-9]{0,9}|parent:[1-9][0-9]{0,9}")
_SHORT = ("merge", "drop", "keep")
_VECTORS = ("one", "heading+body", "signature+body")
_CONTEXT_EXPECTED = f"none, or one or several of title, heading_path, metadata:KEY and before:UNITS (1 to {MOST:,}), joined by + (title+heading_path)"
_RETURNED_EXPECTED = f"chunk, neighbours:N (so many chunks before and after), parent:SIZE (in units; both 1 to {MOST:,}), section or document"


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The choices as they are typed.

    `context`: none, or parts joined by "+", put before the text that is embedded in the order typed, each on a line of its own: title (that of the
    document, or else its first heading), heading_path ("A > B > C", the headings in force where the chunk begins), metadata:KEY (of the document),
    before:N (the N units of text right before the chunk). What a strategy itself puts in front stands behind them, right before the chunk. A heading
    that the chunk begins with is not repeated. Counted in what the embedder reads, but neither in `size` nor in the span.

    `returned`: what the reader gets: the chunk; neighbours:N, from the Nth chunk before to the Nth after it in its document; parent:SIZE, the chunk
    of the recursive strategy with this size and no overlap that it lies in; section, the text between two headings; document. A chunk that lies in
    several parents or sections returns from the first to the last, and is counted in the note "straddling".

    `min_size`: chunks that measure less, in units, are `short`: "merge" joins them to a neighbour, "drop" leaves them out, "keep" only counts them.

    `vectors`: one a chunk, or two that lead to it: "heading+body" has one of the title and the headings, "signature+body" one of the first line
    of code; the chunk's score is that of the better one.

    Raises ConfigError for what can't be understood. Without a min_size `short` has no effect and is set to "merge", so that cells that differ in it
    alone are equal.
    """

    context: str = SURROUNDINGS["context"]
    returned: str = SURROUNDINGS["returned"]
    min_size: int = int(SURROUNDINGS["min_size"])
    short: str = SURROUNDINGS["short"]
    vectors: str = SURROUNDINGS["vectors"]

    def __post_init__(self) -> None:
        parts = self.context.split("+") if isinstance(self.context, str) else [""]
        if self.context != "none" and (len(set(parts)) < len(parts) or not all(map(_CONTEXT_PART.fullmatch, parts))):
            raise ConfigError("context", self.context, _CONTEXT_EXPECTED)
        if not isinstance(self.returned, str) or not _RETURNED.fullmatch(self.returned):
            raise ConfigError("returned", self.returned, _RETURNED_EXPECTED)
        if self.amount > MOST:
            raise ConfigError("returned", self.returned, _RETURNED_EXPECTED)
        if any(int(part.removeprefix("before:")) > MOST for part in parts if part.startswith("before:")):
            raise ConfigError("context", self.context, _CONTEXT_EXPECTED)
        if not is_amount(self.min_size):
            raise ConfigError("min_size", self.min_size, f"a whole number of units, up to {MOST:,}; 0 for no least size")
        for key, value, choices in (("short", self.short, _SHORT), ("vectors", self.vectors, _VECTORS)):
            if value not in choices:
                raise ConfigError(key, value, f"one of {', '.join(choices)}")
        if not self.min_size:
            object.__setattr__(self, "short", SURROUNDINGS["short"])

    @property
    def parts(self) -> tuple[str, ...]:
        """The parts of the context, in order; () for none."""
        return () if self.context == "none" else tuple(self.context.split("+"))

    @property
    def way(self) -> str:
        """What is returned, without its amount: chunk, neighbours, parent, section or document."""
        return self.returned.partition(":")[0]

    @property
    def amount(self) -> int:
        """Neighbours on each side, or the size of a parent in units; 0 where neither is asked for."""
        return int(self.returned.partition(":")[2] or 0)

    @property
    def needs_outline(self) -> bool:
        """Whether headings have to be found."""
        return self.way == "section" or self.vectors == "heading+body" or not {"title", "heading_path"}.isdisjoint(self.parts)

    def check(self, chunker: Chunker) -> None:
        """Raise ImpossibleCell where these can't surround the chunks of `chunker`: a least size above its size, or a parent below it."""
        size = size_of(chunker)
        if size is None:
            return
        if self.min_size > size:
            raise ImpossibleCell("min_size", self.min_size, f"must not be larger than size={size}, or every chunk would be too short")
        if self.way == "parent" and self.amount < size:
            raise ImpossibleCell("returned", self.returned, f"a parent must not be smaller than its chunks, of size={size}")

    def check_documents(self, documents: Sequence[Document]) -> None:
        """Raise ConfigError where the context asks for metadata that no document has."""
        for key in (part.removeprefix("metadata:") for part in self.parts if part.startswith("metadata:")):
            if not any(key in document.metadata for document in documents):
                known = ", ".join(sorted({name for document in documents for name in document.metadata})) or "nothing"
                raise ConfigError("context", f"metadata:{key}", f"no document has this in its metadata, which holds: {known}")


PLAIN = Surroundings()
"""The chunk and nothing else."""


def size_of(chunker: Chunker) -> int | None:
    """The most that a chunk of `chunker` may measure, None where it does not go by size."""
    size = getattr(chunker, "size", 0)
    return size if is_whole(size) and size > 0 else None
