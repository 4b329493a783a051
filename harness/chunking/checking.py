"""What of a chunker's contract costs little to see, checked over all documents at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from harness.chunking.base import Chunker, Pieces
from harness.errors import PartError
from harness.slices import Slices
from harness.types import Bools, ChunkSet, Document


def check_columns(chunker: Chunker, documents: Sequence[Document], found: Sequence[Pieces]) -> None:
    """Raise PartError where starts, ends and contexts of a document are not columns of one length."""
    for document, pieces in zip(documents, found, strict=True):
        start, end = pieces.start, pieces.end
        if start.shape != end.shape or start.ndim != 1 or start.dtype != np.int64 or end.dtype != np.int64:
            raise _broken(chunker, document, "starts and ends are not two int64 columns of one length")
        if pieces.context is not None and len(pieces.context) != len(start):
            raise _broken(chunker, document, f"{len(pieces.context)} contexts for {len(start)} chunks")


def check_spans(chunker: Chunker, documents: Sequence[Document], chunks: ChunkSet) -> None:
    """Raise PartError where spans leave their text, are out of order, stand twice or hold nothing but white space. Linear in the chunks' text."""
    doc, start, end = chunks.doc, chunks.start, chunks.end
    if not len(chunks):
        return
    length = np.array([document.length for document in documents], dtype=np.int64)[doc]
    outside = (start < 0) | (end > length)
    if outside.any():
        number = int(doc[outside.argmax()])
        own = doc == number
        problem = f"spans from {start[own].min()} to {end[own].max()} in a text of {documents[number].length} characters"
        raise _broken(chunker, documents[number], problem)
    same, step = doc[1:] == doc[:-1], start[1:] - start[:-1]
    wrong = same & ((step < 0) | ((step == 0) & (end[1:] == end[:-1])))
    _refuse(chunker, documents, chunks, wrong, "starts fall or a span stands twice")
    _refuse(chunker, documents, chunks, (start >= end) | _blank(documents, chunks), "a chunk is empty or only white space")


def _blank(documents: Sequence[Document], chunks: ChunkSet) -> Bools:
    blank = (text[:1].isspace() and text.isspace() for text in Slices(documents, chunks.doc, chunks.start, chunks.end))
    return np.fromiter(blank, dtype=np.bool_, count=len(chunks))


def _refuse(chunker: Chunker, documents: Sequence[Document], chunks: ChunkSet, wrong: Bools, problem: str) -> None:
    if wrong.any():
        raise _broken(chunker, documents[int(chunks.doc[wrong.argmax()])], problem)


def _broken(chunker: Chunker, document: Document, problem: str) -> PartError:
    return PartError(f"{chunker} on document {document.id!r}: {problem}")
