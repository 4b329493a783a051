"""Mends the labels of a folder in the native format: quotes that stand in their document but for typography get its offsets and words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.corpus.documents import read_documents
from harness.corpus.jsonl import Record, read_records
from harness.corpus.places import Library, Mismatch
from harness.corpus.questions import EvidenceLabel, read_questions
from harness.corpus.reading import read_bytes
from harness.importing.base import Progress, silent
from harness.importing.differing import inline_diff
from harness.importing.matching import Needle
from harness.importing.naming import Names
from harness.importing.quotes import THRESHOLD, Located, all_places, locate
from harness.importing.rows import json_line
from harness.tracking.files import write_bytes
from harness.types import Document

KEPT = "questions.jsonl.orig"


@dataclass(frozen=True, slots=True)
class Fix:
    """What became of one label that did not agree with its document. `mended`: it was written back."""

    question: str
    line: int
    status: str
    mended: bool
    text: str


@dataclass(slots=True)
class _Broken:
    """A piece of evidence (the object of its line, to be changed in place) whose label has no span."""

    question: str
    line: int
    values: dict[str, Any]
    doc: int | None


def fix_folder(folder: Path, *, fuzzy: bool = False, threshold: float = THRESHOLD, progress: Progress = silent) -> list[Fix]:
    """Mend what can be mended in `folder`/questions.jsonl and say what became of every label that did not agree; labels that agree stay as they are.

    Written back are quotes found exactly or normalised in the document named (by its id, file name or title), once; with `fuzzy` also near ones. The
    file as it was is kept as questions.jsonl.orig, unless that is there already; nothing is written where nothing was mended. Raises DataError for
    files that can't be read, StoreError where the disk refuses.
    """
    documents, _ = read_documents(folder)
    path = folder / "questions.jsonl"
    read_questions(path)  # the shape of every line is right, or this says which is not
    records = read_records(path)
    broken = list(_broken(records, documents))
    quoted = [it for it in broken if it.values.get("quote") and it.doc is not None]
    found = iter(locate(documents, [Needle(it.values["quote"], it.doc) for it in quoted], threshold, progress))
    wanted = {"exact", "normalised"} | ({"fuzzy"} if fuzzy else set())
    located = {id(it): next(found) for it in quoted}
    fixes = [_fixed(it, located.get(id(it)), documents, wanted) for it in broken]
    if any(fix.mended for fix in fixes):
        _write(path, records)
    return fixes


def _broken(records: Sequence[Record], documents: Sequence[Document]) -> Iterator[_Broken]:
    library, names = Library(documents), Names(documents)
    for record in records:
        for evidence in _evidence(record.values):
            label = EvidenceLabel(evidence["doc"], evidence.get("quote"), evidence.get("start"), evidence.get("end"))
            if isinstance(library.locate(label), Mismatch):
                yield _Broken(record.values["id"], record.line, evidence, names.find(label.doc))


def _evidence(question: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for answer in question.get("answers") or []:
        yield from answer["evidence"]


def _fixed(it: _Broken, found: Located | None, documents: Sequence[Document], wanted: set[str]) -> Fix:
    if found is None:
        why = f"there is no document {it.values['doc']!r}" if it.doc is None else "it has no quote to look for"
        return Fix(it.question, it.line, "not found", False, why)
    if found.span is None:
        where = f"{all_places(found)} places" if found.status == "ambiguous" else found.why
        return Fix(it.question, it.line, found.status, False, where)
    document = documents[found.span.doc]
    text = document.text[found.span.start : found.span.end]
    diff = inline_diff(it.values["quote"], text)
    mended = found.status in wanted
    if mended:
        it.values.update({"doc": document.id, "start": found.span.start, "end": found.span.end, "quote": text})
    return Fix(it.question, it.line, found.status, mended, f"{document.id} {found.span.start}-{found.span.end}, {found.score:.0f} of 100: {diff}")


def _write(path: Path, records: Sequence[Record]) -> None:
    kept, mended = path.with_name(KEPT), b"".join(json_line(record.values, path) for record in records)
    if not kept.exists():
        write_bytes(kept, read_bytes(path))
    write_bytes(path, mended)


def fix_lines(fixes: Sequence[Fix]) -> list[str]:
    """What was done, a line a label, with a summary first."""
    mended = sum(fix.mended for fix in fixes)
    left = len(fixes) - mended
    if not fixes:
        return ["every label agrees; nothing to mend"]
    head = f"mended {mended} labels, {left} are left" + (f"; the file as it was: {KEPT}" if mended else "")
    return [head, *(f"  {'mended' if it.mended else 'left'} line {it.line}, question {it.question!r}: {it.status}, {it.text}" for it in fixes)]
