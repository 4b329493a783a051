"""A corpus's labels as columns: answers of questions, evidence of answers, places of evidence."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from harness.types import Answer, Bools, Corpus, Document, Evidence, Ints, Span

Copies = Literal["any", "labelled"]


@dataclass(frozen=True, slots=True)
class Labels:
    """Columns of three lengths: A answers, E pieces of evidence, P places (P >= E; a place is where a piece of evidence stands).

    `doc`, `start`, `end` are the labelled positions, as they are. A place is trimmed of white space at either end (kept whole if it is nothing
    else); the labelled place is always one, the copies of a passage are others.
    """

    questions: int
    answer_question: Ints
    evidence_answer: Ints
    evidence_question: Ints
    doc: Ints
    start: Ints
    end: Ints
    claim: Bools
    exception: Bools
    place_evidence: Ints
    place_doc: Ints
    place_start: Ints
    place_end: Ints

    @property
    def answers(self) -> int:
        """A, the number of answers."""
        return len(self.answer_question)

    @property
    def evidence(self) -> int:
        """E, the number of pieces of evidence."""
        return len(self.evidence_answer)

    @property
    def evidence_count(self) -> Ints:
        """Pieces of evidence of every answer, shape (A,)."""
        return np.bincount(self.evidence_answer, minlength=self.answers)

    @property
    def answerable(self) -> Bools:
        """Whether a question has an answer, shape (questions,)."""
        return np.bincount(self.answer_question, minlength=self.questions) > 0

    @property
    def multi_document(self) -> Bools:
        """Questions with answers, all of which have evidence in more than one document; no single chunk can hold such an answer."""
        low = np.full(self.answers, np.iinfo(np.int64).max)
        high = np.full(self.answers, -1)
        np.minimum.at(low, self.evidence_answer, self.doc)
        np.maximum.at(high, self.evidence_answer, self.doc)
        return self.answerable & self.every_answer(low < high)

    @property
    def several(self) -> Bools:
        """Questions with answers, all of which need several pieces of evidence."""
        return self.answerable & self.every_answer(self.evidence_count > 1)

    def every_answer(self, holds: Bools) -> Bools:
        """Whether `holds` (A,) is true of all answers of a question (vacuously for those without)."""
        out = np.ones(self.questions, dtype=bool)
        np.logical_and.at(out, self.answer_question, holds)
        return out


def labels_of(corpus: Corpus, copies: Copies = "any") -> Labels:
    """The labels of `corpus`. An answer without evidence needs nothing and so answers nothing: it is left out, never counted as complete.

    The last ones are kept: all cells of a sweep have the same, and each asks several times.
    """
    if not (_last and _last[0][0] is corpus and _last[0][1] == copies):
        _last[:] = [(corpus, copies, _labels_of(corpus, copies))]
    return _last[0][2]


_last: list[tuple[Corpus, Copies, Labels]] = []


def _labels_of(corpus: Corpus, copies: Copies) -> Labels:
    answers = list(_answers(corpus))
    evidence = [(number, piece) for number, (_, answer) in enumerate(answers) for piece in answer.evidence]
    places = [(number, place) for number, (_, piece) in enumerate(evidence) for place in _places(piece, copies)]
    answer_question = np.array([question for question, _ in answers], dtype=np.int64)
    evidence_answer = np.array([answer for answer, _ in evidence], dtype=np.int64)
    trimmed = [_trimmed(corpus.documents[place.doc], place) for _, place in places]
    doc, start, end = _columns([piece.span for _, piece in evidence])
    return Labels(
        questions=len(corpus.questions),
        answer_question=answer_question,
        evidence_answer=evidence_answer,
        evidence_question=answer_question[evidence_answer],
        doc=doc,
        start=start,
        end=end,
        claim=np.array([piece.role == "claim" for _, piece in evidence], dtype=bool),
        exception=np.array([piece.role == "exception" for _, piece in evidence], dtype=bool),
        place_evidence=np.array([number for number, _ in places], dtype=np.int64),
        **dict(zip(("place_doc", "place_start", "place_end"), _columns(trimmed), strict=True)),
    )


def _answers(corpus: Corpus) -> Iterator[tuple[int, Answer]]:
    for number, question in enumerate(corpus.questions):
        yield from ((number, answer) for answer in question.answers if answer.evidence)


def _places(piece: Evidence, copies: Copies) -> tuple[Span, ...]:
    return (piece.span, *piece.copies) if copies == "any" else (piece.span,)


def _trimmed(document: Document, span: Span) -> Span:
    text = document.text[span.start : span.end]
    kept = len(text.strip())
    if not kept:
        return span
    start = span.start + len(text) - len(text.lstrip())
    return Span(span.doc, start, start + kept)


def _columns(spans: list[Span]) -> tuple[Ints, Ints, Ints]:
    table = np.array(spans, dtype=np.int64).reshape(-1, 3)
    return table[:, 0].copy(), table[:, 1].copy(), table[:, 2].copy()
