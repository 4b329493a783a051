"""From documents and labels to a corpus: labels are located, merged, given their copies and digested. Every loader ends here."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from harness.corpus.copies import with_copies
from harness.corpus.digests import documents_digest, questions_digest
from harness.corpus.merging import Marked, merge
from harness.corpus.places import Library, Mismatch
from harness.corpus.problems import Problems, excerpt
from harness.corpus.questions import EvidenceLabel, QuestionLabel
from harness.errors import ConfigError, DataError, FilterError, LabelError
from harness.filters import document_mask
from harness.types import Answer, Bools, Corpus, Document, Question

OnLabelProblem = Literal["error", "warn"]


def assemble(
    name: str,
    documents: Sequence[Document],
    labels: Sequence[QuestionLabel],
    path: Path,
    warnings: Sequence[str] = (),
    on_label_problem: OnLabelProblem = "error",
) -> Corpus:
    """The corpus of `documents` and `labels`; `path` is the file of labels that messages name.

    A label that does not agree with the documents (no such document, quote not found or found several times, offsets out of range or not at the
    quote, a filter that lets nothing or not its own evidence pass) raises LabelError naming ten at most; with `on_label_problem="warn"` its whole
    question is left out, counted and told in `Corpus.warnings`. Where no label names any document of the corpus, that is always an error.
    """
    if on_label_problem not in ("error", "warn"):
        raise ConfigError("on_label_problem", on_label_problem, "error (refuse the file) or warn (leave such questions out and count them)")
    library = Library(documents)
    if len(library.number) < len(documents):
        raise DataError(path, "ids of documents must differ")
    _refuse_strangers(labels, library, path)
    desk = _Desk(library, Problems(path, LabelError))
    questions = [question for label in labels if (question := desk.resolve(label)) is not None]
    left_out = len(labels) - len(questions)
    if on_label_problem == "error":
        desk.problems.refuse()
    notes = [*warnings, *_left_out(path, left_out, len(labels), desk.problems), *_merged(path, desk)]
    copied = with_copies(documents, questions)
    return Corpus(name, tuple(documents), copied, documents_digest(documents), questions_digest(copied, documents), tuple(notes))


def _refuse_strangers(labels: Sequence[QuestionLabel], library: Library, path: Path) -> None:
    named = {evidence.doc: None for label in labels for answer in label.answers for evidence in answer}
    if named and not any(name in library.number for name in named):
        theirs = ", ".join(excerpt(name) for name in list(named)[:3])
        ours = ", ".join(excerpt(document.id) for document in library.documents[:3])
        raise LabelError(path, f"none of the {len(named)} documents that evidence names is in the corpus: it names {theirs}; the corpus has {ours}")


@dataclass(slots=True)
class _Desk:
    """Resolves labels one by one, noting problems and how many pieces of evidence were labelled and are kept in the questions resolved."""

    library: Library
    problems: Problems
    labelled: int = 0
    kept: int = 0
    _masks: dict[str, Bools | Mismatch] = field(default_factory=dict)

    def resolve(self, label: QuestionLabel) -> Question | None:
        """The question, or None with its problems noted."""
        before = self.problems.count
        allowed = self._allowed(label.filter)
        if isinstance(allowed, Mismatch):
            self._note(label, allowed)
            return None
        answers = tuple(self._answer(label, answer, allowed) for answer in label.answers)
        if self.problems.count > before:
            return None
        self.labelled += sum(map(len, label.answers))
        self.kept += sum(len(answer.evidence) for answer in answers)
        # Equal answers are one alternative; order is kept.
        return Question(label.id, label.text, tuple(dict.fromkeys(answers)), label.filter, label.kind)

    def _answer(self, label: QuestionLabel, answer: Sequence[EvidenceLabel], allowed: Bools | None) -> Answer:
        return Answer(merge(self._located(label, answer, allowed), self.library.documents))

    def _located(self, label: QuestionLabel, answer: Sequence[EvidenceLabel], allowed: Bools | None) -> Iterator[Marked]:
        for evidence in answer:
            span = self.library.locate(evidence)
            if isinstance(span, Mismatch):
                self._note(label, span)
            elif allowed is not None and not allowed[span.doc]:
                self._note(label, Mismatch(f"its filter {excerpt(_canonical(label.filter))} excludes {excerpt(evidence.doc)}, where its evidence is"))
            else:
                yield span, evidence.role

    def _note(self, label: QuestionLabel, mismatch: Mismatch) -> None:
        self.problems.add(label.line, f"question {excerpt(label.id)}: {mismatch.text}", mismatch.hint)

    def _allowed(self, wanted: Mapping[str, Any]) -> Bools | Mismatch | None:
        """Which documents a filter lets pass; None without a filter. Equal filters are worked out once."""
        if not wanted:
            return None
        key = _canonical(wanted)
        if key not in self._masks:
            self._masks[key] = self._mask(wanted)
        return self._masks[key]

    def _mask(self, wanted: Mapping[str, Any]) -> Bools | Mismatch:
        known = {"doc"}.union(*(document.metadata for document in self.library.documents))
        unknown = [name for name in wanted if name not in known]
        if unknown:
            return Mismatch(f"its filter asks for the field {excerpt(unknown[0])}, which no document has; fields are {', '.join(sorted(known))}")
        try:
            mask = document_mask(self.library.documents, wanted)
        except FilterError as error:
            return Mismatch(str(error))
        return mask if mask.any() else Mismatch(f"its filter {excerpt(_canonical(wanted))} lets no document pass")


def _canonical(wanted: Mapping[str, Any]) -> str:
    return json.dumps(dict(wanted), ensure_ascii=False, sort_keys=True)


def _left_out(path: Path, left_out: int, total: int, problems: Problems) -> list[str]:
    if not left_out:
        return []
    more = [f"{path.name}: and {problems.count - len(problems.shown)} more problems"] if problems.count > len(problems.shown) else []
    summary = f"{path.name}: left out {left_out} of {total} questions, whose labels do not agree with the documents"
    return [summary, *(f"{path.name}, {line}" for line in problems.lines()), *more]


def _merged(path: Path, desk: _Desk) -> list[str]:
    gone = desk.labelled - desk.kept
    return [f"{path.name}: merged {desk.labelled} pieces of evidence into {desk.kept} (neighbours and repeats in one answer)"] if gone else []
