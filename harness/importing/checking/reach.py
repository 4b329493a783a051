"""How far the evidence of an answer lies apart, and which sizes no chunk can hold it at.

A chunk holds an answer only where it reaches from the start of its first piece to the end of its last, in one document. So an answer whose pieces
measure more than S from first to last exists in no chunk of size S, whatever the strategy: an upper bound of `answer_existence`, before any sweep.
Copies count as the label does: the shortest stretches over any choice of copies are tried (the eight shortest by characters).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from harness.importing.checking.lengths import units_up_to
from harness.types import Answer, Corpus, Ints, Span
from harness.units.base import Unit

_TRIED = 8


@dataclass(frozen=True, slots=True)
class Reach:
    """Of the `answers`, `apart` need several documents, as do all those of `questions_apart` of the `questions`.

    `characters` are the stretches of the other answers, `gaps` the characters between the pieces of those with several (one a pair of neighbours).
    `lost` and `lost_questions`: by size, answers that no chunk can hold, and questions all of whose answers are so.
    """

    answers: int
    questions: int
    apart: int
    questions_apart: int
    characters: Ints
    gaps: Ints
    lost: dict[int, int]
    lost_questions: dict[int, int]


def reach(corpus: Corpus, unit: Unit, sizes: Sequence[int]) -> Reach:
    """Measure every answer up to the largest size. Linear in evidence and in what `units_up_to` reads."""
    most = max(sizes)
    by_question: list[list[int | None]] = []
    characters: list[int] = []
    gaps: list[int] = []
    apart = 0
    for question in corpus.questions:
        lengths: list[int | None] = []
        for answer in question.answers:
            stretches = shortest_stretches(answer)
            apart += not stretches
            gaps += _gaps(answer)
            if stretches:
                characters.append(stretches[0].end - stretches[0].start)
            lengths.append(min((units_up_to(unit, corpus.documents[it.doc].text, most, it.start, it.end) for it in stretches), default=None))
        if lengths:
            by_question.append(lengths)
    lost = {size: sum(_too_long(it, size) for lengths in by_question for it in lengths) for size in sizes}
    lost_questions = {size: sum(all(_too_long(it, size) for it in lengths) for lengths in by_question) for size in sizes}
    total, all_apart = sum(map(len, by_question)), sum(all(it is None for it in lengths) for lengths in by_question)
    return Reach(total, len(by_question), apart, all_apart, np.array(characters, np.int64), np.array(gaps, np.int64), lost, lost_questions)


def _too_long(length: int | None, size: int) -> bool:
    return length is None or length > size


def shortest_stretches(answer: Answer) -> list[Span]:
    """The shortest stretches of one document that hold a place of every piece, shortest first, eight at most; none where no document has all."""
    places = [sorted({it.span, *it.copies}) for it in answer.evidence]
    common = set.intersection(*({place.doc for place in found} for found in places))
    found = [stretch for doc in common for stretch in _stretches([[it for it in options if it.doc == doc] for options in places])]
    return sorted(found, key=lambda it: (it.end - it.start, it))[:_TRIED]


def _stretches(places: list[list[Span]]) -> Iterator[Span]:
    """For each place that a stretch may begin at, the one that takes the next place of every piece. Places of a piece don't overlap."""
    starts = [[place.start for place in options] for options in places]
    for first in sorted({place for options in places for place in options}):
        chosen = [options[at] for options, begins in zip(places, starts, strict=True) if (at := bisect_left(begins, first.start)) < len(options)]
        if len(chosen) == len(places):
            yield Span(first.doc, first.start, max(place.end for place in chosen))


def _gaps(answer: Answer) -> list[int]:
    """Characters between neighbouring pieces in one document; 0 where they touch or overlap."""
    spans = sorted(it.span for it in answer.evidence)
    return [max(two.start - one.end, 0) for one, two in pairwise(spans) if one.doc == two.doc]
