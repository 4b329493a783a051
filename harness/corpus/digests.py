"""Digests over content: equal digests, equal numbers. SHA-256 over one canonical JSON line a document or question, in order."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence

from harness.types import Document, Question


def documents_digest(documents: Iterable[Document]) -> str:
    """Hex digest of ids, titles, texts and metadata. The order counts too: it breaks ties."""
    return _digest([it.id, it.title, it.text, dict(it.metadata)] for it in documents)


def questions_digest(questions: Iterable[Question], documents: Sequence[Document]) -> str:
    """Hex digest of everything in a question that can move a number: id, text, kind, filter, and each answer's spans (by document id) and roles.

    The spans are those that metrics use, after trimming and merging. Copies follow from them and the documents and are not covered.
    """
    return _digest(
        [
            question.id,
            question.text,
            question.kind,
            dict(question.filter),
            [[[documents[it.span.doc].id, it.span.start, it.span.end, it.role] for it in answer.evidence] for answer in question.answers],
        ]
        for question in questions
    )


def _digest(rows: Iterable[list[object]]) -> str:
    digest = hashlib.sha256()
    for row in rows:
        digest.update(json.dumps(row, ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":")).encode("utf-8"))
        digest.update(b"\n")
    return digest.hexdigest()
