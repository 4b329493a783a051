"""From documents to the chunk columns of a cell."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from harness.chunking.base import Chunker, CorpusChunker, Pieces
from harness.chunking.checking import check_columns, check_spans
from harness.chunking.context import Fronts, second_texts
from harness.chunking.outline import outline_of
from harness.chunking.returned import returned_spans
from harness.chunking.short import settle_short
from harness.chunking.surroundings import PLAIN, Surroundings, size_of
from harness.types import ChunkSet, Document, Ints
from harness.units.base import Ruler

_HELD = 1 << 24
"""Characters."""


def chunk_documents(chunker: Chunker, documents: Sequence[Document], rulers: Sequence[Ruler], around: Surroundings = PLAIN) -> ChunkSet:
    """The chunks of all documents, in document order, with what surrounds them; without `around` each hands itself to the reader. Notes are summed.

    Raises ImpossibleCell where `around` does not go with the chunker's size, and PartError where the chunker breaks its contract in a way that costs
    little to see: unsorted, repeated, outside the text, or blank.
    """
    around.check(chunker)
    language, size = getattr(chunker, "language", "en"), size_of(chunker)
    found = list(_split_all(chunker, documents, rulers))
    check_columns(chunker, documents, found)
    whole = _bare(found)
    check_spans(chunker, documents, whole)
    if around == PLAIN:
        return whole
    settled = (settle_short(pieces, ruler, around, size) for pieces, ruler in zip(found, rulers, strict=True))
    return _joined([_surrounded(number, documents[number], rulers[number], pieces, around, language) for number, pieces in enumerate(settled)])


def _bare(found: Sequence[Pieces]) -> ChunkSet:
    """The chunks of all documents, each handing itself to the reader."""
    counts = [len(pieces.start) for pieces in found]
    start, end = _column([pieces.start for pieces in found]), _column([pieces.end for pieces in found])
    context = _texts([(pieces.context, count) for pieces, count in zip(found, counts, strict=True)])
    return ChunkSet(np.repeat(np.arange(len(found)), counts), start, end, start, end, context, None, _summed([pieces.notes for pieces in found]))


def _summed(notes: Iterable[Mapping[str, int]]) -> dict[str, int]:
    total = Counter[str]()
    for one in notes:
        if one:
            total.update(one)
    return dict(sorted(total.items()))


def _surrounded(number: int, document: Document, ruler: Ruler, pieces: Pieces, around: Surroundings, language: str) -> ChunkSet:
    """The chunks of document `number`."""
    start, end, own = pieces.start, pieces.end, pieces.context
    outline = outline_of(document) if around.needs_outline else None
    first, last, straddling = returned_spans(around, document.text, ruler, outline, start, end, language)
    notes = {**pieces.notes, **({"straddling": straddling} if straddling else {})}
    fronts = Fronts(document, ruler, outline, start, end)
    context = tuple(fronts.contexts(around.parts, own)) if around.parts else own
    also = tuple(second_texts(around, fronts, document, start, end, own)) if around.vectors != "one" else None
    return ChunkSet(np.full(len(start), number, dtype=np.int64), start, end, first, last, context, also, notes)


def _joined(parts: Sequence[ChunkSet]) -> ChunkSet:
    start, end = _column([part.start for part in parts]), _column([part.end for part in parts])
    plain = all(part.returned_start is part.start and part.returned_end is part.end for part in parts)
    return ChunkSet(
        _column([part.doc for part in parts]),
        start,
        end,
        start if plain else _column([part.returned_start for part in parts]),
        end if plain else _column([part.returned_end for part in parts]),
        _texts([(part.context, len(part)) for part in parts]),
        _texts([(part.also, len(part)) for part in parts]),
        _summed([part.notes for part in parts]),
    )


def _column(parts: Sequence[Ints]) -> Ints:
    return np.concatenate([np.zeros(0, np.int64), *parts])


def _split_all(chunker: Chunker, documents: Sequence[Document], rulers: Sequence[Ruler]) -> Iterator[Pieces]:
    if isinstance(chunker, CorpusChunker):
        for some in _batches(documents):
            yield from chunker.split_all(documents[some], rulers[some])
        return
    for number, document in enumerate(documents):
        yield chunker.split(document.text, rulers[number])


def _batches(documents: Sequence[Document]) -> Iterator[slice]:
    """All documents at once; where they are read from disk when they are asked for, as many at a time as are held without trouble. A document's
    chunks do not depend on the others."""
    if not any(document.stored for document in documents):
        yield slice(0, len(documents))
        return
    first, held = 0, 0
    for number, document in enumerate(documents):
        if held and held + document.length > _HELD:
            yield slice(first, number)
            first, held = number, 0
        held += document.length
    yield slice(first, len(documents))


def _texts(parts: Sequence[tuple[tuple[str, ...] | None, int]]) -> tuple[str, ...] | None:
    """A column of texts from those of each document and how many chunks it has; None where all are empty."""
    if not any(texts and any(texts) for texts, _ in parts):
        return None
    return tuple(text for texts, count in parts for text in texts or ("",) * count)


def digest(chunks: ChunkSet) -> str:
    """SHA-256 over the columns and texts: equal chunk sets of different strategies have equal digests. Notes are left out."""
    total = hashlib.sha256(len(chunks).to_bytes(8, "little"))
    for column in (chunks.doc, chunks.start, chunks.end, chunks.returned_start, chunks.returned_end):
        total.update(column.astype("<i8").tobytes())
    for mark, texts in ((b"", chunks.context), (b"also", chunks.also)):
        total.update(mark if texts else b"")
        for text in texts or ():
            raw = text.encode("utf-8", "surrogatepass")
            total.update(len(raw).to_bytes(8, "little") + raw)
    return total.hexdigest()
