"""From documents to the chunk columns of a cell."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

from harness.chunking.base import Chunker, CorpusChunker, Pieces
from harness.chunking.layout import Layout
from harness.errors import PartError
from harness.types import ChunkSet, Document
from harness.units.base import Ruler


def chunk_documents(chunker: Chunker, documents: Sequence[Document], rulers: Sequence[Ruler]) -> ChunkSet:
    """The chunks of all documents, in document order; each hands itself to the reader. Notes are summed.

    Raises PartError where the chunker breaks its contract in a way that costs little to see: unsorted, repeated, outside the text, or blank.
    """
    pieces: list[Pieces] = []
    notes: Counter[str] = Counter()
    for document, found in zip(documents, _split_all(chunker, documents, rulers), strict=True):
        _check(chunker, document, found)
        pieces.append(found)
        notes.update(found.notes)
    none = [np.zeros(0, np.int64)]
    start = np.concatenate(none + [found.start for found in pieces])
    end = np.concatenate(none + [found.end for found in pieces])
    doc = np.repeat(np.arange(len(pieces), dtype=np.int64), [len(found.start) for found in pieces])
    return ChunkSet(doc, start, end, start, end, context=_contexts(pieces), notes=dict(sorted(notes.items())))


def _split_all(chunker: Chunker, documents: Sequence[Document], rulers: Sequence[Ruler]) -> Iterable[Pieces]:
    if isinstance(chunker, CorpusChunker):
        return chunker.split_all(documents, rulers)
    return (chunker.split(document.text, ruler) for document, ruler in zip(documents, rulers, strict=True))


def _contexts(pieces: Sequence[Pieces]) -> tuple[str, ...] | None:
    if not any(found.context and any(found.context) for found in pieces):
        return None
    return tuple(text for found in pieces for text in found.context or ("",) * len(found.start))


def _check(chunker: Chunker, document: Document, pieces: Pieces) -> None:
    start, end = pieces.start, pieces.end
    problem = ""
    if start.shape != end.shape or start.ndim != 1 or start.dtype != np.int64 or end.dtype != np.int64:
        problem = "starts and ends are not two int64 columns of one length"
    elif len(start) == 0:
        return
    elif pieces.context is not None and len(pieces.context) != len(start):
        problem = f"{len(pieces.context)} contexts for {len(start)} chunks"
    elif start[0] < 0 or end.max() > len(document.text):
        problem = f"spans from {start[0]} to {end.max()} in a text of {len(document.text)} characters"
    elif (np.diff(start) < 0).any() or ((np.diff(start) == 0) & (np.diff(end) == 0)).any():
        problem = "starts fall or a span stands twice"
    elif (Layout.of(document.text).to_word(start) >= end).any():
        problem = "a chunk is empty or only white space"
    if problem:
        raise PartError(f"{chunker} on document {document.id!r}: {problem}")


def digest(chunks: ChunkSet) -> str:
    """SHA-256 over the columns and contexts: equal chunk sets of different strategies have equal digests. Notes are left out."""
    total = hashlib.sha256(len(chunks).to_bytes(8, "little"))
    for column in (chunks.doc, chunks.start, chunks.end, chunks.returned_start, chunks.returned_end):
        total.update(column.astype("<i8").tobytes())
    for context in chunks.context or ():
        raw = context.encode("utf-8", "surrogatepass")
        total.update(len(raw).to_bytes(8, "little") + raw)
    return total.hexdigest()
