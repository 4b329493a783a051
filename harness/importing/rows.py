"""Labels and documents as rows of the native format (docs/labelled-corpora.md)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from harness.corpus.questions import EvidenceLabel, QuestionLabel
from harness.errors import DataError
from harness.types import Document


def document_row(document: Document) -> dict[str, Any]:
    """A line of corpus.jsonl."""
    return {"id": document.id, "title": document.title, "text": document.text, "metadata": dict(document.metadata)}


def question_row(label: QuestionLabel) -> dict[str, Any]:
    """A line of questions.jsonl; what is not given is left out."""
    row: dict[str, Any] = {"id": label.id, "question": label.text}
    row["answers"] = [{"evidence": [evidence_row(evidence) for evidence in answer]} for answer in label.answers]
    if label.filter:
        row["filter"] = dict(label.filter)
    if label.kind is not None:
        row["kind"] = label.kind
    return row


def evidence_row(evidence: EvidenceLabel) -> dict[str, Any]:
    """One piece of evidence."""
    values = {"doc": evidence.doc, "start": evidence.start, "end": evidence.end, "quote": evidence.quote, "role": evidence.role}
    return {name: value for name, value in values.items() if value is not None}


def json_line(row: Mapping[str, Any], path: Path) -> bytes:
    """A row as one UTF-8 line. Raises DataError for what JSON or UTF-8 can't hold, naming the row's id."""
    try:
        return json.dumps(dict(row), ensure_ascii=False, allow_nan=False).encode("utf-8") + b"\n"
    except (TypeError, ValueError) as error:
        reason = "it holds half of a surrogate pair, which no file can hold" if isinstance(error, UnicodeEncodeError) else str(error)
        raise DataError(path, f"{row.get('id')!r} can't be written: {reason}") from error
