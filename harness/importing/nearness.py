"""Quotes that only nearly stand in a document: misread characters, a word more or less, ends that were cut.

Pieces of the quote's skeleton are looked for in one pass; where many of them stand in the right order and distance, the quote is aligned with the
text there (rapidfuzz). What is given are candidates with their scores; whether one is good enough, and alone, is decided by harness.importing.quotes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from harness.importing.aligning import align
from harness.importing.base import Progress, silent
from harness.importing.canon import without_markup
from harness.importing.folding import skeleton
from harness.importing.hits import Hits, Wanted, find_pieces
from harness.importing.matching import Needle
from harness.importing.scanning import Shelf
from harness.types import Document, Ints, Span

SHORTEST = 10
"""Letters and digits that a quote needs to be looked for so."""

LONGEST = 50_000
"""Characters that a quote may have to be looked for so: aligning takes the square of them."""

_PIECES = 20
_LIMIT = 128
_BATCH = 4_096
"""Quotes looked for in one pass: bounds the memory of their pieces' places."""

_CANDIDATES = 16


@dataclass(frozen=True, slots=True)
class Near:
    """A candidate: its span, its score (see harness.importing.aligning.align), and how many pieces of the quote stand there."""

    span: Span
    score: float
    pieces: int


@dataclass(frozen=True, slots=True)
class Nearest:
    """The candidates of a quote, best score first, none overlapping a better one; at most sixteen. `unseen`: a place that was not looked at may have
    up to so many pieces of the quote, so a candidate with no more than these need not be the best."""

    candidates: tuple[Near, ...] = ()
    unseen: int = 0


@dataclass(frozen=True, slots=True)
class _Spread:
    """Where the pieces of one quote begin: in its skeleton, and in the quote itself."""

    at: Ints
    place: Ints
    size: int

    @classmethod
    def of(cls, letters: int, places: Ints) -> _Spread:
        # Short pieces survive more errors, long ones are rarer: a sixth of the quote, 5 to 10 letters.
        size = min(max(letters // 6, 5), 10)
        at = np.unique(np.linspace(0, letters - size, _PIECES).astype(np.int64)) if letters >= SHORTEST else np.zeros(0, dtype=np.int64)
        return cls(at, places[at], size)


def find_near(documents: Sequence[Document], needles: Sequence[Needle], progress: Progress = silent) -> list[Nearest]:
    """The candidates of each needle. Those too short or too long (SHORTEST, LONGEST) have none."""
    shelf = Shelf.of(documents, without_markup)
    found: list[Nearest] = []
    for first in range(0, len(needles), _BATCH):
        found += _batch(shelf, needles[first : first + _BATCH], progress)
    return found


def _batch(shelf: Shelf, needles: Sequence[Needle], progress: Progress) -> list[Nearest]:
    wanted = Wanted()
    spreads: list[_Spread] = []
    for needle in needles:
        codes, places = skeleton(needle.quote)
        spread = _Spread.of(len(codes) if len(needle.quote) <= LONGEST else 0, places)
        spreads.append(spread)
        wanted.add(codes, spread.at, spread.size, needle.scope)
    hits = find_pieces(shelf, wanted, _LIMIT, "looking for near matches", progress)
    found, first = [], 0
    for number, (needle, spread) in enumerate(zip(needles, spreads, strict=True)):
        found.append(_nearest(shelf, needle.quote, spread, hits, first))
        first += len(spread.at)
        if number % 64 == 0:
            progress("comparing near matches", number, len(needles))
    return found


@dataclass(frozen=True, slots=True)
class _Cluster:
    """A stretch where pieces of the quote stand as in the quote: where on the shelf it may begin, and how many of the pieces are there."""

    doc: int
    earliest: int
    latest: int
    pieces: int


def _nearest(shelf: Shelf, quote: str, spread: _Spread, hits: Hits, first: int) -> Nearest:
    numbers = range(first, first + len(spread.at))
    clusters = _clusters(shelf, len(quote), spread, [hits.places(number) for number in numbers], hits.count[first : numbers.stop])
    looked_at = [it for it in clusters[:_CANDIDATES] if 2 * it.pieces >= clusters[0].pieces]
    found = [near for it in looked_at if (near := _aligned(shelf, quote, it)) is not None]
    kept: list[Near] = []
    for best in sorted(found, key=lambda it: (-it.score, it.span)):
        if not any(best.span.doc == it.span.doc and best.span.start < it.span.end and it.span.start < best.span.end for it in kept):
            kept.append(best)
    beyond = max((it.pieces for it in clusters[len(looked_at) : len(looked_at) + 1]), default=0)
    cut_off = int(np.count_nonzero(hits.count[first : numbers.stop] > _LIMIT))
    return Nearest(tuple(kept), max(beyond, cut_off))


def _apart(length: int) -> int:
    """How far two beginnings may differ and yet be one: by white space, marks and misreadings, but less than a quote's own length."""
    return min(16 + length // 8, max(length // 2, 4))


def _clusters(shelf: Shelf, length: int, spread: _Spread, each: Sequence[Ints], count: Ints) -> list[_Cluster]:
    """All clusters, those with most pieces first; of equals those with the rarer pieces."""
    piece = np.repeat(np.arange(len(each)), [len(places) for places in each])
    if not len(piece):
        return []
    place = np.concatenate(each)
    begin = place - spread.place[piece]
    order = np.argsort(begin, kind="stable")
    begin, piece, place = begin[order], piece[order], place[order]
    doc = np.searchsorted(shelf.base, place, side="right") - 1
    opens = np.ones(len(begin), dtype=bool)
    opens[1:] = (np.diff(begin) > _apart(length)) | (np.diff(doc) != 0)
    cluster = np.cumsum(opens) - 1
    _, once = np.unique(cluster * len(each) + piece, return_index=True)
    pieces = np.bincount(cluster[once])
    rarity = np.bincount(cluster[once], weights=1.0 / (1.0 + count[piece[once]]))
    starts = np.flatnonzero(opens)
    ends = np.append(starts[1:], len(begin)) - 1
    ranked = np.lexsort((-rarity, -pieces))[: _CANDIDATES + 1].tolist()
    return [_Cluster(int(doc[starts[it]]), int(begin[starts[it]]), int(begin[ends[it]]), int(pieces[it])) for it in ranked]


def _aligned(shelf: Shelf, quote: str, it: _Cluster) -> Near | None:
    base, text = int(shelf.base[it.doc]), shelf.documents[it.doc].text
    # Less than lies between two clusters, so that each is aligned with its own text and not with its neighbour's.
    margin = _apart(len(quote)) - 1
    low, high = max(it.earliest - base - margin, 0), min(it.latest - base + len(quote) + margin, len(text))
    found = align(without_markup(quote), shelf.read(text[low:high]))
    return Near(Span(it.doc, low + found[0], low + found[1]), found[2], it.pieces) if found is not None else None
