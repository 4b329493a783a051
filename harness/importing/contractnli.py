"""ContractNLI: contracts, 17 hypotheses asked of each, and the sentences that support or contradict them.

A hypothesis that a contract does not mention has no evidence and is left out by default (it is the same text as its answerable twins). Every question
is asked of its own contract, by a filter. Spans of one answer that touch are merged: the annotators marked neighbouring sentences one by one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.corpus.merging import merge
from harness.corpus.places import trimmed
from harness.corpus.problems import excerpt
from harness.corpus.questions import EvidenceLabel, QuestionLabel
from harness.errors import DataError
from harness.importing.base import Imported, Note, Progress, silent
from harness.importing.sources import get, read_json
from harness.types import Document, Span


def read_contractnli(source: Path, *, not_mentioned: bool = False, prefix: str = "cnli", progress: Progress = silent) -> Imported:
    """The contracts of one JSON file. Ids: `prefix`-ID for documents, `prefix`-ID:HYPOTHESIS for questions.

    `not_mentioned` keeps hypotheses that a contract does not mention as unanswerable questions. A contract whose text stood before is dropped with
    its questions. Raises DataError for a file of another form.
    """
    found = read_json(source)
    hypotheses = get(found, "labels", dict, source, "the file")
    desk = _Desk(source, prefix, hypotheses, not_mentioned)
    entries = get(found, "documents", list, source, "the file")
    for number, entry in enumerate(entries):
        desk.take(entry, f"documents[{number}]")
        progress("reading contracts", number + 1, len(entries))
    return Imported(source.stem, tuple(desk.documents), tuple(desk.labels), tuple(desk.notes))


@dataclass(slots=True)
class _Desk:
    path: Path
    prefix: str
    hypotheses: Mapping[str, Any]
    not_mentioned: bool
    documents: list[Document] = field(default_factory=list)
    labels: list[QuestionLabel] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    seen: dict[str, str] = field(default_factory=dict)

    def take(self, entry: Any, where: str) -> None:
        text = get(entry, "text", str, self.path, where)
        identifier = f"{self.prefix}-{entry.get('id', len(self.documents))}"
        if identifier in self.seen.values():
            raise DataError(self.path, f"{where}: the id {excerpt(str(entry.get('id')))} stands already before it; ids must differ")
        if self.seen.setdefault(text, identifier) != identifier:
            self.notes.append(Note("dropped", "document", identifier, f"its text is that of {self.seen[text]}; its questions go with it"))
            return
        extra = {name: entry[name] for name in ("document_type", "url") if isinstance(entry.get(name), str)}
        title = str(entry.get("file_name", identifier)).rsplit(".", 1)[0]
        document = Document(identifier, text, title, extra)
        self.documents.append(document)
        sets = get(entry, "annotation_sets", list, self.path, where)
        if len(sets) != 1:
            raise DataError(self.path, f"{where}: found {len(sets)} annotation_sets; one is expected")
        annotations = get(sets[0], "annotations", dict, self.path, f"{where}.annotation_sets[0]")
        spans = get(entry, "spans", list, self.path, where)
        for name in annotations:
            self._question(document, name, get(annotations, name, dict, self.path, where), spans, f"{where}.annotations.{name}")

    def _question(self, document: Document, name: str, annotation: Mapping[str, Any], spans: list[Any], where: str) -> None:
        identifier = f"{document.id}:{name}"
        text = get(get(self.hypotheses, name, dict, self.path, "labels"), "hypothesis", str, self.path, f"labels.{name}")
        marked = get(annotation, "spans", list, self.path, where)
        if not marked:
            if not self.not_mentioned:
                self.notes.append(Note("dropped", "question", identifier, "its contract does not mention it"))
            else:
                self.labels.append(QuestionLabel(len(self.labels) + 1, identifier, text, (), {"doc": document.id}))
            return
        pieces = [piece for number in marked if (piece := self._span(document, spans, number, where, identifier)) is not None]
        evidence = merge([(piece, None) for piece in pieces], [document])
        if len(evidence) < len(marked):
            self.notes.append(Note("repaired", "evidence", identifier, f"{len(marked)} spans, of which some touch, merged to {len(evidence)}"))
        if not evidence:
            self.notes.append(Note("dropped", "question", identifier, "none of its spans holds text"))
            return
        labels = (EvidenceLabel(document.id, document.text[it.span.start : it.span.end], it.span.start, it.span.end) for it in evidence)
        self.labels.append(QuestionLabel(len(self.labels) + 1, identifier, text, (tuple(labels),), {"doc": document.id}))

    def _span(self, document: Document, spans: list[Any], number: Any, where: str, identifier: str) -> Span | None:
        if type(number) is not int or not 0 <= number < len(spans):
            raise DataError(self.path, f"{where}: span number {excerpt(str(number))}; the contract has spans 0 to {len(spans) - 1}")
        found = spans[number]
        if not (
            isinstance(found, list) and len(found) == 2 and all(type(it) is int for it in found) and 0 <= found[0] < found[1] <= len(document.text)
        ):
            raise DataError(self.path, f"{where}: span {excerpt(str(found))} is no [start, end] within its {len(document.text)} characters")
        passage = document.text[found[0] : found[1]]
        if not passage.strip():
            self.notes.append(Note("dropped", "evidence", identifier, f"characters {found[0]} to {found[1]} are white space"))
            return None
        return trimmed(0, found[0], passage)
