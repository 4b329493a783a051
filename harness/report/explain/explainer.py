"""From a question and a cell to an explanation."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cached_property

import numpy as np

from harness.report.explain.reader import CellReader, PieceView, QuestionView
from harness.report.explain.records import Boundary, Excerpt, Explanation, Hit, Lexical, Mark, Piece
from harness.report.explain.sections import Outlines
from harness.report.explain.sentence import nearest, sentence
from harness.report.explain.words import Vocabulary, shared, telling
from harness.report.material import CellMaterial, Material
from harness.types import Candidates, Span

SHOWN = 10
"""How many retrieved spans an explanation shows."""
_AROUND = 200
"""Characters shown before and after the evidence."""


class Explainer:
    """Explains questions of a sweep; what cells share (words, headings) is read once. Raises StoreError where the corpus's text is not at hand."""

    def __init__(self, material: Material) -> None:
        self.corpus, self._material = material.text(), material
        self.outlines = Outlines(self.corpus.documents)
        self._readers: dict[str, CellReader] = {}
        self._searched: dict[str, Candidates] = {}

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The words of the corpus."""
        return Vocabulary(self.corpus.documents)

    def reader(self, cell: CellMaterial) -> CellReader:
        """The cell's reader, made once."""
        if cell.result.key not in self._readers:
            self._readers[cell.result.key] = CellReader(self.corpus, self._candidates(cell), cell, self.vocabulary)
        return self._readers[cell.result.key]

    def _candidates(self, cell: CellMaterial) -> Candidates:
        """Of this cell; cells that search the same documents share them."""
        searched = json.dumps([cell.result.cell.config.get(name) for name in ("scope", "filter")], sort_keys=True)
        if searched not in self._searched:
            self._searched[searched] = self._material.candidates(cell)
        return self._searched[searched]

    def forget(self, cell: CellMaterial) -> None:
        """Free what was read of a cell."""
        self._readers.pop(cell.result.key, None)

    def explain(self, cell: CellMaterial, question: int) -> Explanation:
        """Why this cell answered the question with this number, or did not."""
        reader = self.reader(cell)
        view, asked = reader.view(question), self.corpus.questions[question]
        asking = telling(asked.text)
        tokens = float(cell.result.questions["tokens_to_answer"].iloc[question])
        return Explanation(
            question=asked,
            cell=cell.result.cell.label,
            attribution=reader.attributions[question],
            tokens_to_answer=None if np.isnan(tokens) else tokens,
            answers=tuple(tuple(self._piece(reader, view, piece, asking) for piece in answer) for answer in view.answers),
            hits=tuple(self._hit(reader, view, rank, asking) for rank in range(1, min(SHOWN, len(view.ranked)) + 1)),
            words=asking,
            lexical=lexical(reader, question, view),
            sentence=sentence(reader, question, view),
            excerpts=tuple(self._excerpts(reader, view)),
        )

    def _piece(self, reader: CellReader, view: QuestionView, piece: PieceView, asking: Sequence[str]) -> Piece:
        span, document = piece.evidence.span, self.corpus.documents[piece.evidence.span.doc]
        text = document.text[span.start : span.end]
        held = tuple(reader.chunk_of(span, view) for span in piece.held)
        return Piece(
            piece.name, piece.evidence.role, span.doc, document.id, span.start, span.end, text, held, piece.rank, shared(asking, text)
        )  # fmt: skip

    def _hit(self, reader: CellReader, view: QuestionView, rank: int, asking: Sequence[str]) -> Hit:
        span = view.ranked[rank - 1]
        doc, start, end = reader.bounds(span)
        document = self.corpus.documents[doc]
        holds = tuple(dict.fromkeys(piece.name for answer in view.answers for piece in answer if span in piece.held))
        section, common = self.outlines.of(doc).path_at(start), shared(asking, document.text[start:end])
        return Hit(rank, view.chunk[rank - 1], view.score[rank - 1], doc, document.id, start, end, section, holds, common)

    def _excerpts(self, reader: CellReader, view: QuestionView) -> list[Excerpt]:
        """The text around the evidence of the nearest answer; for a question without an answer the best retrieved span."""
        pieces = nearest(view) if view.answers else ()
        wanted = [piece.span for piece in pieces] or [reader.bounds(span) for span in view.ranked[:1]]
        return [self._excerpt(reader, place, pieces) for place in _merged(wanted)]

    def _excerpt(self, reader: CellReader, place: Span, pieces: Sequence[PieceView]) -> Excerpt:
        document, chunks = self.corpus.documents[place.doc], reader.cell.chunks
        start, end = max(0, place.start - _AROUND), min(len(document.text), place.end + _AROUND)
        inside = np.flatnonzero((chunks.doc == place.doc) & (chunks.start < end) & (chunks.end > start))
        bounds = tuple(Boundary(int(row), int(chunks.start[row]), int(chunks.end[row])) for row in inside)
        marks = [Mark(piece.span.start, piece.span.end, piece.name.removeprefix("the ")) for piece in pieces if _within(piece.span, place)]
        marks.sort(key=lambda mark: mark.start)
        return Excerpt(document.id, start, document.text[start:end], end < len(document.text), bounds, tuple(marks))


def lexical(reader: CellReader, question: int, view: QuestionView) -> Lexical:
    """Where BM25 puts the best returned span with the whole answer; where none has that, the best with the piece that this cell ranked lowest.

    Ranks are over distinct returned spans of the candidates, each scored as its best chunk; equal scores keep their order.
    """
    what, wanted = "the whole answer", view.whole
    if not wanted:
        held = [piece for piece in (nearest(view) if view.answers else ()) if piece.held]
        if not held:
            return Lexical("the answer" if view.answers else "", None, None)
        lowest = max(held, key=lambda piece: piece.rank or len(view.ranked) + 1)
        what, wanted = lowest.name, lowest.held
    returned = reader.relevance.returned
    scores = reader.search.scores(reader.corpus.questions[question].text)
    if not returned.distinct:
        by_span = np.full(len(returned), -np.inf)
        np.maximum.at(by_span, returned.of_chunk, scores)
        scores = by_span
    allowed = reader.candidates.documents[reader.candidates.group[question]][returned.doc]
    top = min(wanted, key=lambda row: (-scores[row], row))
    ahead = scores > scores[top]
    ahead[:top] |= scores[:top] == scores[top]
    return Lexical(what, int(np.count_nonzero(ahead & allowed)) + 1, reader.chunk_of(top, view))


def _merged(places: Sequence[Span]) -> list[Span]:
    """Spans of one document whose surroundings meet become one."""
    out: list[Span] = []
    for place in sorted(places):
        if out and out[-1].doc == place.doc and place.start - out[-1].end <= 2 * _AROUND:
            out[-1] = Span(place.doc, out[-1].start, max(out[-1].end, place.end))
        else:
            out.append(place)
    return out


def _within(inner: Span, outer: Span) -> bool:
    return inner.doc == outer.doc and outer.start <= inner.start and inner.end <= outer.end
