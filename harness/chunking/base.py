"""The contract of a chunking strategy. tests/contracts/test_chunkers.py holds it for every YAML in conf/strategy.

A chunker is a frozen dataclass whose fields are its parameters, already resolved to whole units. `split` gives spans of one document:

- a chunk is `text[start:end]`, never a rewritten string; starts and ends never fall, no span stands twice, none is blank;
- each chunk measures at most `size` units by the ruler, or is counted in `notes` as a declared exception: "oversize" is one that nothing allowed
  could divide (with the settings of conf/strategy: a single step of the ruler), "unbounded" one of a strategy that doesn't go by size;
- notes that begin with "strategy_" are no exceptions but costs, such as "strategy_tokens", those that the strategy itself had embedded;
- together they cover every character that is not white space;
- neighbours share at most `overlap` units;
- the same input gives the same output, in another process too; an empty or blank document gives no chunk;
- time is linear in the length of the document.

A strategy that wants more than one text at a time (all sentences of a corpus in one pass of a model), or more than the text (the name of a file),
also has `split_all` (CorpusChunker); `split` stays, for a text on its own.

Other people's splitters (external.py) promise less: their chunks are slices in order, and what they leave out, change or make too large is counted.

Parameters that can't work raise ConfigError in `__post_init__`, and ImpossibleCell where only their combination can't (overlap >= size).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from harness.errors import ConfigError, ImpossibleCell
from harness.types import Document, Ints
from harness.units.base import Ruler


@dataclass(frozen=True, slots=True)
class Pieces:
    """Spans of one document: `start` and `end` (int64, equal length), and counts of declared exceptions, e.g. {"oversize": 1}.

    `context`, one a chunk, is text that the strategy itself wants in front of the chunk where it is embedded (the header of a table that was split
    between rows, the header of a method's class), "" for nothing; None where no chunk has any. It is no part of the span and not measured by `size`.
    """

    start: Ints
    end: Ints
    notes: Mapping[str, int] = field(default_factory=dict)
    context: tuple[str, ...] | None = None


class Chunker(Protocol):
    """One strategy with its parameters."""

    def split(self, text: str, ruler: Ruler) -> Pieces:
        """The chunks of `text`, measured by `ruler`."""
        ...


@runtime_checkable
class CorpusChunker(Chunker, Protocol):
    """A strategy that sees all documents of a corpus at once; the chunks of a document still depend on that document alone."""

    def split_all(self, documents: Sequence[Document], rulers: Sequence[Ruler]) -> Sequence[Pieces]:
        """The chunks of every document, in the order of the documents; `rulers` has one for each."""
        ...


def is_whole(value: object) -> bool:
    """Whether `value` is a whole number; True and False are not."""
    return isinstance(value, int) and not isinstance(value, bool)


MOST = 1_000_000_000
"""The most that any amount may be: a billion units, sentences or chunks."""


def is_amount(value: object, least: int = 0) -> bool:
    """Whether `value` is a whole number from `least` to MOST."""
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= MOST


def check_size_and_overlap(size: int, overlap: int) -> None:
    """Raise ConfigError or ImpossibleCell unless 0 <= overlap < size."""
    if not is_amount(size, 1):
        raise ConfigError("size", size, f"a whole number of units, 1 or more, up to {MOST:,}")
    if not is_amount(overlap):
        raise ConfigError("overlap", overlap, f"0 or more units, up to {MOST:,}, or a share such as 10%")
    if overlap >= size:
        raise ImpossibleCell("overlap", overlap, f"must be smaller than size={size}, or no chunk would bring anything new")
