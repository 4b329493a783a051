"""Where else a labelled passage stands, word for word.

A reader is served as well by a copy as by the labelled place, so metrics may credit any. Only passages of at least 80 characters are searched:
shorter ones recur by chance. Places are taken from the left, none overlapping the one before it, and those that overlap the labelled place are no
other place (a run of dashes is not many copies of itself).

Time is linear in the corpus whatever the number of passages: every window of 80 characters gets a 64-bit polynomial hash (Karp and Rabin 1987)
from prefix sums modulo 2**64, in NumPy; a table of bits drops nearly all windows; what is left is compared character by character.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from harness.types import Answer, Document, Evidence, Question, Span

SHORTEST = 80
"""Characters from which on a passage has copies."""

_BLOCK = 1 << 19
_TABLE_BITS = 20
_BASE = 0x9E3779B97F4A7C15
_Hashes = npt.NDArray[np.uint64]


def with_copies(documents: Sequence[Document], questions: Sequence[Question]) -> tuple[Question, ...]:
    """The questions with `Evidence.copies` filled in, over the whole corpus, in document order."""
    spans = {evidence.span for question in questions for answer in question.answers for evidence in answer.evidence}
    copies = find_copies(documents, spans)
    return tuple(
        replace(question, answers=tuple(Answer(tuple(_copied(it, copies) for it in answer.evidence)) for answer in question.answers))
        for question in questions
    )


def _copied(evidence: Evidence, copies: Mapping[Span, tuple[Span, ...]]) -> Evidence:
    return replace(evidence, copies=copies.get(evidence.span, ()))


def find_copies(documents: Sequence[Document], spans: set[Span]) -> dict[Span, tuple[Span, ...]]:
    """The other places of every span of 80 characters or more that has any, in document order, then by start."""
    passages = {span: documents[span.doc].text[span.start : span.end] for span in sorted(spans) if span.end - span.start >= SHORTEST}
    places = _places(documents, set(passages.values()))
    others = {span: tuple(place for place in places[passage] if _apart(place, span)) for span, passage in passages.items()}
    return {span: found for span, found in others.items() if found}


def _apart(one: Span, other: Span) -> bool:
    return one.doc != other.doc or one.end <= other.start or other.end <= one.start


def _places(documents: Sequence[Document], passages: set[str]) -> dict[str, list[Span]]:
    """All places of every passage, from the left, none overlapping the one before it."""
    places: dict[str, list[Span]] = defaultdict(list)
    if not passages:
        return places
    wanted = _Wanted.of(passages)
    for number, document in enumerate(documents):
        text = document.text
        for start in _candidates(text, wanted):
            for passage in wanted.at(text, start):
                found = places[passage]
                if not found or found[-1].doc != number or found[-1].end <= start:
                    found.append(Span(number, start, start + len(passage)))
    return places


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What is searched: hashes of the passages' first 80 characters, sorted and as a table of bits, and the passages by those characters."""

    hashes: _Hashes
    table: npt.NDArray[np.bool_]
    by_head: Mapping[str, Mapping[int, set[str]]]

    @classmethod
    def of(cls, passages: set[str]) -> _Wanted:
        by_head: dict[str, dict[int, set[str]]] = {}
        for passage in passages:
            by_head.setdefault(passage[:SHORTEST], {}).setdefault(len(passage), set()).add(passage)
        hashes = np.unique(np.concatenate([_window_hashes(head) for head in by_head]))
        table = np.zeros(1 << _TABLE_BITS, dtype=bool)
        table[_slot(hashes)] = True
        return cls(hashes, table, by_head)

    def at(self, text: str, start: int) -> Iterator[str]:
        """The passages that stand at `start`: one look-up a distinct length among those that begin alike."""
        for length, passages in self.by_head.get(text[start : start + SHORTEST], {}).items():
            passage = text[start : start + length]
            if passage in passages:
                yield passage


def _candidates(text: str, wanted: _Wanted) -> Iterator[int]:
    """Starts of windows whose hash is wanted, ascending. In blocks, so that memory does not grow with the document."""
    for block in range(0, len(text) - SHORTEST + 1, _BLOCK):
        hashes = _window_hashes(text[block : block + _BLOCK + SHORTEST - 1])
        likely = np.flatnonzero(wanted.table[_slot(hashes)])
        nearest = np.searchsorted(wanted.hashes, hashes[likely]).clip(max=len(wanted.hashes) - 1)
        yield from (likely[wanted.hashes[nearest] == hashes[likely]] + block).tolist()


def _slot(hashes: _Hashes) -> npt.NDArray[np.intp]:
    # The high bits: the low ones of a product modulo a power of two depend on the low bits of the characters alone.
    return (hashes >> np.uint64(64 - _TABLE_BITS)).astype(np.intp)


def _window_hashes(text: str) -> _Hashes:
    """Hash of every window of 80 characters: sum of code x base**place modulo 2**64, the place counted from the window's start."""
    codes = np.frombuffer(text.encode("utf-32-le"), dtype="<u4").astype(np.uint64)
    sums = np.zeros(len(codes) + 1, dtype=np.uint64)
    np.cumsum(codes * _UP[: len(codes)], out=sums[1:])
    windows = sums[SHORTEST:] - sums[:-SHORTEST]
    return windows * _DOWN[: len(windows)]


def _powers(base: int) -> _Hashes:
    powers = np.full(_BLOCK + SHORTEST, base, dtype=np.uint64)
    powers[0] = 1
    return np.cumprod(powers, dtype=np.uint64)


_UP = _powers(_BASE)
_DOWN = _powers(pow(_BASE, -1, 1 << 64))
