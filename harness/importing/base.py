"""What an importer gives: documents, labelled questions, and a note on everything that it dropped, repaired or wants to be known.

An importer is a function from a source to an `Imported`. It reads; it writes nothing (harness.importing.writing does). Formats that name passages by
their words alone give `QuotedQuestion`s, and harness.importing.placing turns them into labels with offsets.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from harness.corpus.questions import QuestionLabel
from harness.types import Document

Fate = Literal["dropped", "repaired", "noted"]
Status = Literal["exact", "normalised", "fuzzy", "ambiguous", "not found"]
STATUSES: tuple[Status, ...] = ("exact", "normalised", "fuzzy", "ambiguous", "not found")
PLACED: tuple[Status, ...] = ("exact", "normalised", "fuzzy")

Progress = Callable[[str, int, int], None]
"""Told what is being done, how much of it is done, and of how much (0 where that is not known)."""


def silent(what: str, done: int, total: int) -> None:
    """A `Progress` that tells nobody."""


@dataclass(frozen=True, slots=True)
class Note:
    """What became of one item. `what` names its kind ("question", "document", "evidence", "row"), `id` the item, `why` is one plain line."""

    fate: Fate
    what: str
    id: str
    why: str

    def line(self) -> str:
        """The note in one line."""
        return f"{self.fate} {self.what} {self.id}: {self.why}"


@dataclass(frozen=True, slots=True)
class Place:
    """Characters `start` to `end` (half-open) of the document called `doc`."""

    doc: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Placement:
    """How one quote became a place. A quote with an ellipsis has one placement a piece.

    `status` is one of STATUSES; `place` is there for the first three. `score` is 0 to 100: the share of characters that agree, 100 for exact and
    normalised. `places` holds the candidates of an ambiguous quote (the first few) and `count` how many there are. `nearest` is the best candidate of
    a quote that was not found, and `diff` shows where a fuzzy or missing quote and the text there part.
    """

    question: str
    quote: str
    status: Status
    place: Place | None = None
    score: float = 100.0
    count: int = 1
    places: tuple[Place, ...] = ()
    nearest: Place | None = None
    diff: str = ""
    why: str = ""


@dataclass(frozen=True, slots=True)
class Quoted:
    """A passage named by its words. `doc` None: whichever document holds it."""

    quote: str
    doc: str | None = None
    role: str | None = None


@dataclass(frozen=True, slots=True)
class QuotedQuestion:
    """A question whose evidence is quoted. `line` is where it stands in its file (row or line, counted from 1); answers as in QuestionLabel."""

    line: int
    id: str
    text: str
    answers: tuple[tuple[Quoted, ...], ...] = ()
    filter: Mapping[str, Any] = field(default_factory=dict)
    kind: str | None = None


@dataclass(frozen=True, slots=True)
class Imported:
    """What was read. Every evidence of `questions` has doc, start, end and quote, and `text[start:end] == quote`.

    `placements` tell how quotes became spans (empty for formats that give offsets). `unplaced` are questions that could not be kept because a quote
    has no single place, as rows of the native format, for a person to mend.
    """

    name: str
    documents: tuple[Document, ...]
    questions: tuple[QuestionLabel, ...]
    notes: tuple[Note, ...] = ()
    placements: tuple[Placement, ...] = ()
    unplaced: tuple[Mapping[str, Any], ...] = ()
