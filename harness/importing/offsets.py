"""Passages that come with both offsets and words: the offsets count where they agree with the words, else the words are looked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from harness.corpus.places import trimmed
from harness.corpus.problems import excerpt
from harness.corpus.questions import EvidenceLabel, QuestionLabel
from harness.importing.base import Imported, Note, Progress, Quoted, QuotedQuestion, silent
from harness.importing.placing import place
from harness.types import Document


@dataclass(frozen=True, slots=True)
class Offered:
    """A passage as its source gives it."""

    doc: str
    start: int
    end: int
    quote: str


@dataclass(frozen=True, slots=True)
class OfferedQuestion:
    """A question and the passages of its one answer, all needed together; none means unanswerable."""

    id: str
    text: str
    passages: tuple[Offered, ...]


def place_offered(
    name: str, documents: Sequence[Document], questions: Sequence[OfferedQuestion], *, notes: Sequence[Note] = (), progress: Progress = silent
) -> Imported:
    """The questions with verified offsets. Passages that are not at theirs are placed by their words and noted; a question with one that has no
    single place is left out, noted, and given in `unplaced`."""
    texts = {document.id: document.text for document in documents}
    right: dict[tuple[int, int], EvidenceLabel] = {}
    wrong: list[QuotedQuestion] = []
    keys: list[tuple[int, int]] = []
    for number, question in enumerate(questions):
        for which, offered in enumerate(question.passages):
            label = _at_its_offsets(offered, texts.get(offered.doc, ""))
            if label is not None:
                right[number, which] = label
            else:
                wrong.append(QuotedQuestion(len(keys), question.id, question.text, ((Quoted(offered.quote, offered.doc),),)))
                keys.append((number, which))
    mended = place(name, documents, wrong, progress=progress) if wrong else Imported(name, tuple(documents), ())
    found: dict[tuple[int, int], tuple[EvidenceLabel, ...]] = {key: (label,) for key, label in right.items()}
    told = [*notes, *mended.notes]
    for placed in mended.questions:
        number, which = keys[placed.line]
        found[number, which] = placed.answers[0]
        offered = questions[number].passages[which]
        told.append(
            Note("repaired", "evidence", placed.id, f"{excerpt(offered.quote)} is not at {offered.start} to {offered.end}; placed by its words")
        )
    labels = [_label(number, question, found) for number, question in enumerate(questions)]
    return replace(mended, questions=tuple(label for label in labels if label is not None), notes=tuple(told))


def _at_its_offsets(offered: Offered, text: str) -> EvidenceLabel | None:
    there = text[offered.start : offered.end] if 0 <= offered.start < offered.end <= len(text) else ""
    if not there.strip() or there.strip() != offered.quote.strip():
        return None
    span = trimmed(0, offered.start, there)
    return EvidenceLabel(offered.doc, text[span.start : span.end], span.start, span.end)


def _label(number: int, question: OfferedQuestion, found: dict[tuple[int, int], tuple[EvidenceLabel, ...]]) -> QuestionLabel | None:
    pieces = [found.get((number, which)) for which in range(len(question.passages))]
    if any(piece is None for piece in pieces):
        return None
    evidence = tuple(label for piece in pieces if piece is not None for label in piece)
    return QuestionLabel(number + 1, question.id, question.text, (evidence,) if evidence else ())
