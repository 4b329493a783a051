"""The headings above a place of a document: a citation that people can find again."""

from __future__ import annotations

from collections.abc import Sequence

from harness.chunking.outline import Outline, outline_of
from harness.types import Document


class Outlines:
    """The outlines of a corpus's documents, each document read once and only when asked for."""

    def __init__(self, documents: Sequence[Document]) -> None:
        self._documents = documents
        self._read: dict[int, Outline] = {}

    def of(self, doc: int) -> Outline:
        """The outline of document number `doc`."""
        if doc not in self._read:
            self._read[doc] = outline_of(self._documents[doc])
        return self._read[doc]
