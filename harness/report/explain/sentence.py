"""One sentence a question and cell: what went wrong or right, exact in characters and ranks.

Rank counts distinct returned spans; a chunk "holds" what lies wholly in the text that it returns; characters of evidence are counted without white
space at its ends.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from harness.metrics.attribution import ASSEMBLED, IN_ONE, MULTI_DOCUMENT, UNANSWERABLE
from harness.report.explain.reader import CellReader, PieceView, QuestionView, ordinal
from harness.report.explain.records import TOP
from harness.report.tables import number
from harness.types import Span


def sentence(reader: CellReader, question: int, view: QuestionView) -> str:
    """What became of the question, in words that end with a full stop."""
    return _Teller(reader, question, view).told()


class _Teller:
    def __init__(self, reader: CellReader, question: int, view: QuestionView) -> None:
        self.reader, self.question, self.view = reader, question, view

    def told(self) -> str:
        fate = self.reader.attributions[self.question]
        if fate == UNANSWERABLE or not self.view.answers:
            return self._unanswerable()
        if fate == IN_ONE:
            return f"{self._chunk(self.view.whole[0]).capitalize()} holds {self._all()} and is ranked {self._place(self.view.whole[0])}."
        answer = nearest(self.view)
        complete = all(piece.rank is not None and piece.rank <= TOP for piece in answer)
        if fate == ASSEMBLED or (fate == MULTI_DOCUMENT and complete):
            return self._assembled(answer)
        lacking = [piece for piece in answer if not piece.held]
        if lacking:
            return self._cut(answer, lacking)
        return self._ranked_low() if self.view.whole else self._apart(answer)

    def _unanswerable(self) -> str:
        if not self.view.ranked:
            return "Unanswerable, and nothing was retrieved."
        top, tops = self.view.score[0], self.reader.top_scores
        told = f"Unanswerable: the top score is {number(top, 3)} ({self._chunk(self.view.ranked[0])} of {self._document(self.view.ranked[0])})"
        if not len(tops):
            return f"{told}."
        return f"{told}, above the top score of {np.searchsorted(tops, top) / len(tops):.0%} of the answerable questions."

    def _assembled(self, answer: Sequence[PieceView]) -> str:
        across = len({piece.span.doc for piece in answer}) > 1
        by_span: dict[int, list[str]] = {}
        for piece in answer:
            by_span.setdefault(piece.held[0], []).append(_bare(piece))
        parts = [
            f"{self._chunk(span)}{f' of {self._document(span)}' if across else ''} ({_listed(names)}, ranked {self._place(span)})"
            for span, names in by_span.items()
        ]
        if across:
            return f"Assembled from {_listed(parts)}."
        if not self.view.whole:
            return f"Assembled from {_listed(parts)}; no single chunk holds {self._all()}."
        best = self.view.whole[0]
        return f"Assembled from {_listed(parts)}; {self._chunk(best)}, which holds {self._all()}, is {self._standing(best)}."

    def _ranked_low(self) -> str:
        best = self.view.whole[0]
        rank = self.view.rank.get(best)
        held = f"{self._chunk(best).capitalize()} holds {self._all()} but is"
        if rank:
            return f"{held} ranked {ordinal(rank)}, behind {self._behind(best, rank)}."
        above = f": {self.view.above:,} of {self.view.candidates:,} chunks score higher" if self.view.above is not None else ""
        return f"{held} not among the {len(self.view.ranked)} retrieved{above}."

    def _behind(self, span: int, rank: int) -> str:
        above = [self.reader.bounds(other).doc for other in self.view.ranked[: rank - 1]]
        doc, most = Counter(above).most_common(1)[0]
        where = "the same document" if doc == self.reader.bounds(span).doc else self.reader.corpus.documents[doc].id
        if most == len(above):
            return f"{_chunks(most)} of {where}"
        return f"{_chunks(len(above))}, {most} of them of {where}" if most > 1 else f"{_chunks(len(above))} of {len(above)} documents"

    def _apart(self, answer: Sequence[PieceView]) -> str:
        """Every piece is whole somewhere, but not all were retrieved."""
        found = [piece for piece in answer if piece.rank is not None and piece.rank <= TOP]
        late = [piece for piece in answer if piece not in found]
        if not found:
            each = [f"{piece.name} is in {self._chunk(piece.held[0])}, {self._standing(piece.held[0])}" for piece in late]
            return f"{_capital('; '.join(each))}: none of it is among the first {TOP}."
        anchor = min(found, key=lambda piece: piece.rank or 0)
        told = f"{_capital(self._holder(anchor, found))}; "
        return told + "; ".join(self._distance(piece, anchor) for piece in late) + "."

    def _holder(self, anchor: PieceView, found: Sequence[PieceView]) -> str:
        span = anchor.held[0]
        names = [piece.name for piece in found if span in piece.held]
        return f"{self._chunk(span)}, which holds {_listed(names)}, is ranked {self._place(span)}"

    def _distance(self, piece: PieceView, anchor: PieceView) -> str:
        """How far a piece lies from the chunk that holds the anchor, and where it was found instead."""
        near, there = self.reader.bounds(anchor.held[0]), piece.held[0]
        whole = f"{self._chunk(there)}, {self._standing(there)}"
        if self.reader.bounds(there).doc != near.doc:
            return f"{piece.name}, in {self._document(there)}, is in {whole}"
        return f"{piece.name} {_offset(piece.span, near)}, in {whole}" if piece.span.doc == near.doc else f"{piece.name} is in {whole}"

    def _cut(self, answer: Sequence[PieceView], lacking: Sequence[PieceView]) -> str:
        piece = lacking[0]
        whole = f"{piece.name} whole" if len(lacking) == 1 else f"{_listed([item.name for item in lacking])} whole"
        cut = f"No chunk holds {whole}: {self._how_cut(piece, several=len(lacking) > 1)}"
        held = [item for item in answer if item.held]
        if not held:
            return f"{cut}."
        anchor = min(held, key=lambda item: item.rank or len(self.view.rank) + 1)
        names = [item.name for item in held if anchor.held[0] in item.held]
        return f"{cut}; {self._chunk(anchor.held[0])}, which holds {_listed(names)}, is {self._standing(anchor.held[0])}."

    def _how_cut(self, piece: PieceView, *, several: bool) -> str:
        place = piece.span
        length, touching = place.end - place.start, self.reader.touching(place, self.question)
        it = piece.name if several else "it"
        its = f"{length:,} characters" if several else f"its {length:,} characters"
        if not touching:
            return f"no chunk that may be returned has any of {it}"
        bounds = [self.reader.bounds(span) for span in touching]
        shares = [min(bound.end, place.end) - max(bound.start, place.start) for bound in bounds]
        if len(touching) == 1:
            return f"{self._chunk(touching[0])} has {shares[0]:,} of {its}"
        if len(touching) > 2:
            most = int(np.argmax(shares))
            names = f"{len(touching)} chunks, {self._number(touching[0])} to {self._number(touching[-1])}"
            return f"{it} lies across {names}; {self._chunk(touching[most])} has the most, {shares[most]:,} of {length:,} characters"
        first, second = bounds
        one, two = self._number(touching[0]), self._number(touching[1])
        if second.start >= first.end:
            return f"the boundary between chunks {one} and {two} cuts {it} after {first.end - place.start:,} of {length:,} characters"
        ends, begins = first.end - place.start, second.start - place.start
        return f"chunk {one} ends after {ends:,} of {its}, and chunk {two} begins {begins:,} characters into {it}"

    def _all(self) -> str:
        """What a chunk of R(q) holds: the whole answer, by its pieces' roles where there are two."""
        answer = self._whole_answer()
        roles = [piece.evidence.role for piece in answer]
        if len(answer) == 2 and all(roles) and roles[0] != roles[1]:
            return f"both {roles[0]} and {roles[1]}"
        return "the whole answer" if len(answer) == 1 else f"{'both' if len(answer) == 2 else f'all {len(answer)}'} pieces of the answer"

    def _whole_answer(self) -> Sequence[PieceView]:
        held = [answer for answer in self.view.answers if self.view.whole and all(self.view.whole[0] in piece.held for piece in answer)]
        return held[0] if held else nearest(self.view)

    def _number(self, span: int) -> int:
        return self.reader.chunk_of(span, self.view)

    def _chunk(self, span: int) -> str:
        return f"chunk {self._number(span)}"

    def _place(self, span: int) -> str:
        return ordinal(self.view.rank[span])

    def _standing(self, span: int) -> str:
        return f"ranked {self._place(span)}" if span in self.view.rank else f"not among the {len(self.view.ranked)} retrieved"

    def _document(self, span: int) -> str:
        return self.reader.corpus.documents[self.reader.bounds(span).doc].id


def nearest(view: QuestionView) -> Sequence[PieceView]:
    """Of a question's answers the one that came closest: complete soonest, then with fewest pieces cut, then with fewest not retrieved."""
    late = len(view.rank) + 1

    def order(answer: Sequence[PieceView]) -> tuple[int, int, int, int]:
        ranks = [piece.rank or late for piece in answer]
        cut = sum(not piece.held for piece in answer)
        return (max(ranks) if max(ranks) < late else late, cut, sum(rank == late for rank in ranks), min(ranks))

    return min(view.answers, key=order)


def _offset(place: Span, chunk: Span) -> str:
    if place.start >= chunk.end:
        gap = place.start - chunk.end
        return f"starts {_characters(gap)} after it ends" if gap else "starts right where it ends"
    if place.end <= chunk.start:
        gap = chunk.start - place.end
        return f"ends {_characters(gap)} before it begins" if gap else "ends right where it begins"
    if place.end > chunk.end:
        return f"runs {_characters(place.end - chunk.end)} past its end"
    return f"begins {_characters(chunk.start - place.start)} before it"


def _characters(count: int) -> str:
    return f"{count:,} character{'' if count == 1 else 's'}"


def _chunks(count: int) -> str:
    return f"{count} chunk{'' if count == 1 else 's'}"


def _bare(piece: PieceView) -> str:
    return piece.name.removeprefix("the ")


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _listed(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
