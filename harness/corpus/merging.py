"""Neighbouring evidence of one answer becomes one piece of evidence.

Merged are spans of one document *and one role* that overlap, touch, or have nothing but white space between them. Two sentences marked one after
the other are one passage, however the annotator drew the marks (spans are trimmed, so neighbours are mostly a space apart). Spans of different
roles stay apart even where they overlap: a claim directly followed by its exception is the case that the half-answer rate is there to count.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from harness.types import Document, Evidence, Span

_NOT_BLANK = re.compile(r"\S")

Marked = tuple[Span, str | None]
"""A span with its role."""


def merge(marked: Iterable[Marked], documents: Sequence[Document]) -> tuple[Evidence, ...]:
    """The evidence of one answer: merged, in order of document, start, end, role. Evidence that stands twice counts once."""
    merged: list[Marked] = []
    for span, role in sorted(marked, key=lambda it: (it[1] or "", it[1] is not None, it[0])):
        if merged and merged[-1][1] == role and _adjoin(merged[-1][0], span, documents):
            before = merged[-1][0]
            merged[-1] = (before._replace(end=max(before.end, span.end)), role)
        else:
            merged.append((span, role))
    return tuple(Evidence(span, role) for span, role in sorted(merged, key=lambda it: (it[0], it[1] or "")))


def _adjoin(before: Span, after: Span, documents: Sequence[Document]) -> bool:
    """Whether two spans, the first of which starts no later, have nothing but white space between them."""
    return before.doc == after.doc and _NOT_BLANK.search(documents[before.doc].text, before.end, after.start) is None
