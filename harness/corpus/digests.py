"""Digests over content: equal digests, equal numbers. SHA-256 over one canonical JSON line a document or question, in order."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence

from harness.types import Document, Question

_AT_ONCE = 1 << 18


def documents_digest(documents: Iterable[Document]) -> str:
    """Hex digest of ids, titles, texts and metadata. The order counts too: it breaks ties."""
    digest = hashlib.sha256()
    for it in documents:
        digest.update(f"[{_json(it.id)},{_json(it.title)},".encode())
        for piece in _pieces(it.text):
            digest.update(piece)
        digest.update(f",{_json(dict(it.metadata))}]\n".encode())
    return digest.hexdigest()


def _pieces(text: str) -> Iterator[bytes]:
    """The JSON of a text, some hundred thousand characters at a time: each is escaped by itself."""
    yield b'"'
    for start in range(0, len(text), _AT_ONCE):
        yield _json(text[start : start + _AT_ONCE])[1:-1].encode()
    yield b'"'


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
        digest.update(f"{_json(row)}\n".encode())
    return digest.hexdigest()


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":"))
