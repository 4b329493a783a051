"""From quoted questions to labels with offsets. What can't be placed is kept for a person to mend, with what was found instead."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

from harness.corpus.questions import EvidenceLabel, QuestionLabel
from harness.importing.base import PLACED, Imported, Note, Place, Placement, Progress, Quoted, QuotedQuestion, silent
from harness.importing.differing import inline_diff
from harness.importing.matching import Needle
from harness.importing.naming import Names
from harness.importing.quotes import THRESHOLD, Located, all_places, locate
from harness.importing.rows import evidence_row
from harness.types import Document, Span

# Of four dots the first ends a sentence.
_DOTS = r"\.(?:\s?\.){2}(?!\s?\.)|…+"
_ELLIPSIS = re.compile(rf"(?:\[\s*(?:{_DOTS})\s*\]|\(\s*(?:{_DOTS})\s*\)|{_DOTS})")
_SHOWN = 10


def place(
    name: str,
    documents: Sequence[Document],
    questions: Sequence[QuotedQuestion],
    *,
    threshold: float = THRESHOLD,
    notes: Sequence[Note] = (),
    progress: Progress = silent,
) -> Imported:
    """The questions with every quote turned into offsets.

    A quote with an ellipsis inside, which does not stand in the text itself, becomes several pieces of evidence of its answer: in one document and
    in order. A question whose quotes do not all have a single place is left out of `questions`, noted, and given in `unplaced`. Raises ConfigError
    for a threshold outside 50 to 100.
    """
    desk = _Desk(documents, Names(documents), list(notes))
    sought = [desk.seek(question.id, quoted) for question in questions for answer in question.answers for quoted in answer]
    needles = [needle for it in sought for needle in it.needles]
    located = iter(locate(documents, needles, threshold, progress))
    for it in sought:
        it.settle([next(located) for _ in it.needles])
    _look_elsewhere(documents, [it for it in sought if it.lost], threshold, progress)
    for it in sought:
        desk.tell(it)
    return desk.imported(name, questions, iter(sought))


@dataclass(slots=True)
class _Sought:
    """One quote: what is looked for (the whole, then its pieces) and what came of it."""

    question: str
    quoted: Quoted
    scope: int | None
    unknown: str = ""
    pieces: tuple[str, ...] = ()
    chosen: list[tuple[str, Located]] = field(default_factory=list)

    @property
    def needles(self) -> list[Needle]:
        """The whole quote, then its pieces."""
        return [Needle(quote, self.scope) for quote in (self.quoted.quote, *self.pieces)]

    def settle(self, located: Sequence[Located]) -> None:
        """Choose between the whole and its pieces."""
        whole, parts = located[0], _in_order(located[1:])
        in_pieces = bool(parts) and whole.status not in ("exact", "normalised", "ambiguous")
        if in_pieces and (whole.span is None or all(part.status in ("exact", "normalised") for part in parts)):
            self.chosen = list(zip(self.pieces, parts, strict=True))
        else:
            self.chosen = [(self.quoted.quote, whole)]
        if self.unknown:
            self.chosen = [(quote, _refused(it, self.unknown)) for quote, it in self.chosen]

    @property
    def lost(self) -> bool:
        """Whether it was looked for in one document and is not there."""
        return self.scope is not None and any(it.status == "not found" for _, it in self.chosen)


def _refused(found: Located, why: str) -> Located:
    """A quote whose document is not there; where it stands is only told."""
    seen = found.span or (found.spans[0] if found.spans else found.near)
    return Located("not found", score=found.score, near=seen, why=why)


def _in_order(located: Sequence[Located]) -> list[Located]:
    """Pieces of one quote: of the candidates of each only those that have the others around them, in one document and in order."""
    options = [[it.span] if it.span is not None else [] if it.more else list(it.spans) for it in located]
    for before, after in pairwise(options):
        after[:] = [span for span in after if not before or any(it.doc == span.doc and it.end <= span.start for it in before)]
    for after, before in pairwise(options[::-1]):
        before[:] = [span for span in before if not after or any(it.doc == span.doc and span.end <= it.start for it in after)]
    return [_among(it, spans) for it, spans in zip(located, options, strict=True)]


def _among(found: Located, spans: Sequence[Span]) -> Located:
    if found.status == "ambiguous" and len(spans) == 1:
        return Located("normalised", spans[0], why="of several places the one beside the other pieces of the quote")
    if found.span is not None and not spans:
        return Located("not found", score=found.score, near=found.span, why="it does not follow the other pieces of the quote")
    return found


def _look_elsewhere(documents: Sequence[Document], lost: Sequence[_Sought], threshold: float, progress: Progress) -> None:
    """Say of quotes that are not in the document named where else they stand."""
    asked = [(it, number) for it in lost for number, (_, found) in enumerate(it.chosen) if found.status == "not found"]
    found = locate(documents, [Needle(it.chosen[number][0]) for it, number in asked], threshold, progress)
    for (it, number), elsewhere in zip(asked, found, strict=True):
        span = elsewhere.span or (elsewhere.spans[0] if elsewhere.spans else None)
        if span is not None and elsewhere.status != "fuzzy":
            quote, here = it.chosen[number]
            it.chosen[number] = (
                quote,
                replace(here, near=span, score=100.0, why=f"it is not in the document named, but in {documents[span.doc].id!r}"),
            )


class _Desk:
    """Collects notes and placements, and turns what was found into labels."""

    def __init__(self, documents: Sequence[Document], names: Names, notes: list[Note]) -> None:
        self._documents, self._names, self._notes = documents, names, notes
        self._placements: list[Placement] = []
        self._renamed: set[str] = set()

    def seek(self, question: str, quoted: Quoted) -> _Sought:
        """What to look for, and where."""
        scope, unknown = None, ""
        if quoted.doc is not None:
            scope = self._names.find(quoted.doc)
            if scope is None:
                unknown = self._names.missing(quoted.doc)
            elif self._documents[scope].id != quoted.doc and quoted.doc not in self._renamed:
                self._renamed.add(quoted.doc)
                self._notes.append(Note("repaired", "document name", quoted.doc, f"taken for {self._documents[scope].id!r}"))
        parts = [part.strip() for part in _ELLIPSIS.split(quoted.quote) if any(map(str.isalnum, part))]
        pieces = tuple(parts) if _ELLIPSIS.search(quoted.quote) and parts else ()
        return _Sought(question, quoted, scope, unknown, pieces)

    def tell(self, it: _Sought) -> None:
        """Note what came of one quote."""
        for quote, found in it.chosen:
            placement = self._placement(it.question, quote, found)
            self._placements.append(placement)
            if found.status == "fuzzy":
                self._notes.append(
                    Note(
                        "repaired",
                        "quote",
                        it.question,
                        f"{found.score:.0f} of 100 alike: {placement.diff}" + (f" ({found.why})" if found.why else ""),
                    )
                )
        if len(it.chosen) > 1:
            self._notes.append(Note("noted", "quote", it.question, f"an ellipsis makes it {len(it.chosen)} pieces of evidence"))

    def _placement(self, question: str, quote: str, found: Located) -> Placement:
        seen = found.span or found.near
        differs = found.status in ("fuzzy", "not found") and seen is not None
        return Placement(
            question,
            quote,
            found.status,
            self._place(found.span) if found.span else None,
            found.score,
            max(len(found.spans), 1 if found.span else 0),
            tuple(self._place(span) for span in found.spans[:_SHOWN]),
            self._place(found.near) if found.near else None,
            inline_diff(quote, self._text(seen)) if differs and seen is not None else "",
            found.why,
        )

    def _place(self, span: Span) -> Place:
        return Place(self._documents[span.doc].id, span.start, span.end)

    def _text(self, span: Span) -> str:
        return self._documents[span.doc].text[span.start : span.end]

    def imported(self, name: str, questions: Sequence[QuotedQuestion], sought: Any) -> Imported:
        """Labels of the questions whose quotes all have a place, and rows for the rest."""
        labels: list[QuestionLabel] = []
        unplaced: list[dict[str, Any]] = []
        for question in questions:
            answers = [[next(sought) for _ in answer] for answer in question.answers]
            open_ones = [found for answer in answers for it in answer for _, found in it.chosen if found.status not in PLACED]
            if open_ones:
                unplaced.append(self._row(question, answers))
                why = "; ".join(dict.fromkeys(f"{it.status}: {self._where(it)}" for it in open_ones))
                self._notes.append(Note("dropped", "question", question.id, why))
                continue
            evidence = tuple(tuple(label for it in answer for label in self._labels(it)) for answer in answers)
            labels.append(QuestionLabel(question.line, question.id, question.text, evidence, question.filter, question.kind))
        return Imported(name, tuple(self._documents), tuple(labels), tuple(self._notes), tuple(self._placements), tuple(unplaced))

    def _labels(self, it: _Sought) -> list[EvidenceLabel]:
        spans = [found.span for _, found in it.chosen if found.span is not None]
        return [EvidenceLabel(self._documents[span.doc].id, self._text(span), span.start, span.end, it.quoted.role) for span in spans]

    def _where(self, found: Located) -> str:
        if found.status != "ambiguous":
            return found.why
        shown = ", ".join(f"{place.doc} {place.start}-{place.end}" for place in map(self._place, found.spans[:3]))
        return f"{all_places(found)} places ({shown}{', …' if len(found.spans) > 3 else ''})"

    def _row(self, question: QuotedQuestion, answers: Sequence[Sequence[_Sought]]) -> dict[str, Any]:
        row: dict[str, Any] = {"id": question.id, "question": question.text}
        row["answers"] = [{"evidence": [entry for it in answer for entry in self._entries(it)]} for answer in answers]
        extra = {"filter": dict(question.filter) or None, "kind": question.kind}
        return row | {name: value for name, value in extra.items() if value is not None}

    def _entries(self, it: _Sought) -> list[dict[str, Any]]:
        entries: list[dict[str, Any]] = []
        for quote, found in it.chosen:
            if found.span is not None:
                entries += [evidence_row(label) for label in self._labels(replace(it, chosen=[(quote, found)]))]
            else:
                entry = {"doc": it.quoted.doc or "", "quote": quote, "note": f"{found.status}: {self._where(found)}"}
                entries.append(entry | ({"role": it.quoted.role} if it.quoted.role else {}))
        return entries
