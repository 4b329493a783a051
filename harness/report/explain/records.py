"""What an explanation holds: frozen records, ready to be printed."""

from __future__ import annotations

from dataclasses import dataclass

from harness.types import Question


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of evidence of one answer, as labelled (`start`, `end` in the document).

    `name` is how sentences call it ("the exception", "the 2nd passage"). `chunks`: numbers of the chunks that hand the reader the whole piece, at
    its labelled place or another copy of it. `rank`: where the first of them was retrieved. `shared`: words that it has in common with the question.
    """

    name: str
    role: str | None
    doc: int
    document: str
    start: int
    end: int
    text: str
    chunks: tuple[int, ...]
    rank: int | None
    shared: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Hit:
    """A distinct returned span in its place of the ranking. `chunk` is the first chunk that returned it; `start` and `end` are what the reader gets.

    `section`: the headings above its start, outermost first. `holds`: names of the pieces of evidence that lie in it whole.
    """

    rank: int
    chunk: int
    score: float
    doc: int
    document: str
    start: int
    end: int
    section: tuple[str, ...]
    holds: tuple[str, ...]
    shared: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Lexical:
    """Where a search by words alone (BM25) puts the best chunk that holds `what`; `rank` and `chunk` are None where no chunk does.

    `found`: it is among the first 5.
    """

    what: str
    rank: int | None
    chunk: int | None

    @property
    def found(self) -> bool:
        """Whether a search by words would have handed it to the reader."""
        return self.rank is not None and self.rank <= TOP


@dataclass(frozen=True, slots=True)
class Boundary:
    """A chunk of an excerpt, by its number, with its own span in the document."""

    chunk: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Mark:
    """A piece of evidence in an excerpt: its span in the document and its label."""

    start: int
    end: int
    label: str


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A part of a document, beginning at character `start`, with the chunks that touch it and the evidence in it. `more`: the document goes on."""

    document: str
    start: int
    text: str
    more: bool
    chunks: tuple[Boundary, ...]
    marks: tuple[Mark, ...]


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why one cell answered a question, or did not.

    Chunks are numbered from 0 in the order of chunks.parquet. `attribution` is the question's fate at 5. `tokens_to_answer` is infinite where the
    answer is never complete and None where there is none to find. `words`: the question's words but the commonest English ones, folded.
    """

    question: Question
    cell: str
    attribution: str
    tokens_to_answer: float | None
    answers: tuple[tuple[Piece, ...], ...]
    hits: tuple[Hit, ...]
    words: tuple[str, ...]
    lexical: Lexical
    sentence: str
    excerpts: tuple[Excerpt, ...]


TOP = 5
"""How far down "found" goes, the k of `attribution`."""
