"""Metadata filters of questions: a mapping from field to what it must be; all fields must agree.

A plain value means equality, a list means one of, {"gte": a, "lte": b, "gt": a, "lt": b} a range. The field "doc" is the document's id. A field
that a document lacks never matches. A document's field that is itself a list matches where any of its members does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from harness.errors import ConfigError, FilterError
from harness.types import Bools, Candidates, Document, Question

SCOPES = ("question", "corpus", "document")
"""What a question may be answered from: see `candidates_of`."""
_RANGE = {
    "gte": lambda have, want: have >= want,
    "lte": lambda have, want: have <= want,
    "gt": lambda have, want: have > want,
    "lt": lambda have, want: have < want,
}


def matches(document: Document, wanted: Mapping[str, Any]) -> bool:
    """Whether `document` passes every condition of `wanted`."""
    return all(_field_matches(_values(document, name), name, want) for name, want in wanted.items())


def _values(document: Document, name: str) -> list[Any]:
    value = document.id if name == "doc" else document.metadata.get(name)
    if value is None:
        return []
    return list(value) if isinstance(value, list | tuple) else [value]


def _field_matches(have: list[Any], name: str, want: Any) -> bool:
    if isinstance(want, Mapping):
        return any(_in_range(value, name, want) for value in have)
    options = want if isinstance(want, list | tuple) else [want]
    return any(value in options for value in have)


def _in_range(value: Any, name: str, bounds: Mapping[str, Any]) -> bool:
    unknown = sorted(set(bounds) - set(_RANGE))
    if unknown or not bounds:
        raise FilterError(f"filter on {name!r}: found {dict(bounds)}; a range has keys of {', '.join(_RANGE)}")
    try:
        return all(_RANGE[op](value, bound) for op, bound in bounds.items())
    except TypeError as error:
        raise FilterError(f"filter on {name!r}: {value!r} can't be compared with {dict(bounds)}") from error


def document_mask(documents: Sequence[Document], wanted: Mapping[str, Any]) -> Bools:
    """One bool a document: whether it passes."""
    return np.fromiter((matches(document, wanted) for document in documents), dtype=bool, count=len(documents))


def check_filter(documents: Sequence[Document], wanted: Mapping[str, Any]) -> None:
    """Raises ConfigError where a filter for the whole run asks for a field that no document has, or lets none pass: nothing could be found then."""
    known = {"doc"}.union(*(document.metadata for document in documents))
    if unknown := sorted(set(wanted) - known):
        raise ConfigError(f"filter.{unknown[0]}", wanted[unknown[0]], f"no document has this field; one of {', '.join(sorted(known))} would do")
    if wanted and not document_mask(documents, wanted).any():
        raise ConfigError("filter", dict(wanted), "lets no document pass")


def _mask(documents: Sequence[Document], numbers: Mapping[str, int], wanted: Mapping[str, Any]) -> Bools:
    named = wanted.get("doc")
    if len(wanted) == 1 and isinstance(named, str):
        out = np.zeros(len(documents), dtype=bool)
        if named in numbers:
            out[numbers[named]] = True
        return out
    return document_mask(documents, wanted)


def candidates_of(
    documents: Sequence[Document], questions: Sequence[Question], scope: str = "question", wanted: Mapping[str, Any] | None = None
) -> Candidates:
    """The candidate documents of every question; questions with equal filters share a row.

    `scope`: question (what its own filter leaves), corpus (everything), document (only those that its evidence lies in; for a question without any,
    what its own filter leaves). `wanted` is a filter that every question gets beside that. Raises ConfigError for another scope, FilterError for
    conditions that can't be compared.
    Costs distinct filters x documents comparisons; filters that name one document by its id, the usual kind, cost a look-up each.
    """
    if scope not in SCOPES:
        raise ConfigError("scope", scope, f"{', '.join(SCOPES)} would do")
    numbers = {document.id: number for number, document in enumerate(documents)}
    everywhere = document_mask(documents, wanted) if wanted else None
    rows: dict[str, int] = {}
    masks: list[Bools] = []
    group = np.empty(len(questions), dtype=np.int64)
    for place, question in enumerate(questions):
        own = _within(question, documents, scope)
        key = repr(sorted(own.items(), key=lambda item: item[0]))
        if key not in rows:
            rows[key] = len(masks)
            mask = _mask(documents, numbers, own)
            masks.append(mask if everywhere is None else mask & everywhere)
        group[place] = rows[key]
    stacked = np.stack(masks) if masks else np.zeros((0, len(documents)), dtype=bool)
    return Candidates(group, stacked)


def _within(question: Question, documents: Sequence[Document], scope: str) -> Mapping[str, Any]:
    """The filter that `scope` makes of a question."""
    if scope == "corpus":
        return {}
    held = sorted({evidence.span.doc for answer in question.answers for evidence in answer.evidence}) if scope == "document" else []
    if not held:
        return question.filter
    return {"doc": documents[held[0]].id if len(held) == 1 else [documents[number].id for number in held]}
