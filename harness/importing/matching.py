"""Quotes that stand in a document, word for word or in the same canonical form.

A quote's skeleton is looked for with one pass over all documents; each candidate is then held against the quote itself, from the strictest reading
to the loosest, and only the candidates of the strictest reading that any of them meets count.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from rapidfuzz import fuzz

from harness.importing.base import Progress, silent
from harness.importing.canon import canonical, with_marks
from harness.importing.folding import Codes, skeleton
from harness.importing.hits import Hits, Wanted, find_pieces
from harness.importing.scanning import Reading, Shelf, as_is
from harness.types import Document, Ints, Span

LIMIT = 256
"""Places looked at for one quote. More are counted, not told apart."""

_LONG, _SHORT = 32, 16
_ANCHORS = 4
_EDGE = 200
_COMPARED = 64


class Level(IntEnum):
    """How a candidate agrees with its quote, strictest first."""

    RAW = 0
    EXACT = 1
    CANONICAL = 2
    BUT_FOR_ENDS = 3
    CASE = 4
    SKELETON = 5


@dataclass(frozen=True, slots=True)
class Needle:
    """A quote that is looked for, in document number `scope` or in all (None)."""

    quote: str
    scope: int | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """The places of a quote at the strictest level that any place meets, ascending. `more`: there are places beyond those looked at."""

    level: Level = Level.SKELETON
    spans: tuple[Span, ...] = ()
    more: bool = False
    score: float = 100.0


@dataclass(slots=True)
class _Sought:
    """A needle with its skeleton and the anchors (offsets in the skeleton of pieces of `size`) by which it is looked for."""

    needle: Needle
    codes: Codes
    places: Ints
    anchors: Ints
    size: int

    @classmethod
    def of(cls, needle: Needle) -> _Sought:
        codes, places = skeleton(needle.quote)
        size = len(codes) if len(codes) < _SHORT else _SHORT if len(codes) < _LONG else _LONG
        # A whole short quote has one, a longer one several, for one of them may stand in many places.
        anchors = np.unique(np.linspace(0, len(codes) - size, _ANCHORS).astype(np.int64)) if size else np.zeros(0, dtype=np.int64)
        return cls(needle, codes, places, anchors, size)


def find_matches(documents: Sequence[Document], needles: Sequence[Needle], read: Reading = as_is, progress: Progress = silent) -> list[Found]:
    """Where each needle stands, in the order of the needles; no spans where it does not. Spans have no white space at their ends.

    With a `read` other than `as_is` documents are seen through it (it may blank characters) and nothing counts as exact.
    """
    sought = [_Sought.of(needle) for needle in needles]
    wanted = Wanted()
    for it in sought:
        wanted.add(it.codes, it.anchors, it.size, it.needle.scope)
    shelf = Shelf.of(documents, read)
    hits = find_pieces(shelf, wanted, LIMIT, "looking for quotes", progress)
    found, first = [], 0
    for number, it in enumerate(sought):
        found.append(_match(shelf, it, hits, first))
        first += len(it.anchors)
        if number % 256 == 0:
            progress("comparing quotes", number, len(sought))
    return found


def _match(shelf: Shelf, it: _Sought, hits: Hits, first: int) -> Found:
    documents, quote, scope = shelf.documents, it.needle.quote, it.needle.scope
    if not len(it.anchors):
        return _without_letters(documents, quote, scope) if shelf.read is as_is else Found()
    rarest = min(range(len(it.anchors)), key=lambda anchor: int(hits.count[first + anchor]))
    count = int(hits.count[first + rarest])
    if not count:
        return Found()
    offset = int(it.anchors[rarest])
    places = [_local(shelf, int(place)) for place in hits.places(first + rarest)]
    if shelf.read is as_is:
        # One character may fold to two (ß to ss) and so be hit twice.
        exact = _exact(documents, quote, dict.fromkeys((doc, place - int(it.places[offset])) for doc, place in places))
        if count > LIMIT and len(exact.spans) < 2:
            exact = _without_letters(documents, quote, scope)
        if exact.spans:
            return Found(exact.level, exact.spans, exact.more or count > LIMIT)
    agreed = [match for doc, place in places[:_COMPARED] if (match := _agreeing(shelf, it, doc, place, offset)) is not None]
    return _strictest(agreed, more=count > _COMPARED)


def _local(shelf: Shelf, place: int) -> tuple[int, int]:
    doc = int(np.searchsorted(shelf.base, place, side="right")) - 1
    return doc, place - int(shelf.base[doc])


def _exact(documents: Sequence[Document], quote: str, starts: Iterable[tuple[int, int]]) -> Found:
    """The starts where the quote stands word for word, or else those where it does but for white space at its ends."""
    bare = quote.strip()
    front = len(quote) - len(quote.lstrip())
    loose = []
    raw = []
    for doc, start in starts:
        text, begin = documents[doc].text, start + front
        if begin >= 0 and text.startswith(bare, begin):
            loose.append(Span(doc, begin, begin + len(bare)))
            if start >= 0 and text.startswith(quote, start):
                raw.append(loose[-1])
    return Found(Level.RAW, tuple(raw)) if raw else Found(Level.EXACT, tuple(loose))


def _without_letters(documents: Sequence[Document], quote: str, scope: int | None) -> Found:
    """Word for word by plain search: for quotes without a letter or digit, and for those whose every piece stands in too many places."""
    bare = quote.strip()
    if not bare:
        return Found()
    starts: list[tuple[int, int]] = []
    front = len(quote) - len(quote.lstrip())
    for doc in range(len(documents)) if scope is None else [scope]:
        at = documents[doc].text.find(bare)
        while at >= 0 and len(starts) <= LIMIT:
            starts.append((doc, at - front))
            at = documents[doc].text.find(bare, at + 1)
    found = _exact(documents, quote, starts[:LIMIT])
    return Found(found.level, found.spans, len(starts) > LIMIT)


@dataclass(frozen=True, slots=True)
class _Agreeing:
    level: Level
    span: Span
    score: float


def _strictest(agreed: Sequence[_Agreeing], more: bool) -> Found:
    if not agreed:
        return Found(more=more)
    level = min(it.level for it in agreed)
    kept = {it.span: it.score for it in agreed if it.level == level}
    return Found(level, tuple(sorted(kept)), more, max(kept.values()))


@dataclass(frozen=True, slots=True)
class _Cut:
    """A piece of a document as read, from `low`, where a skeleton was found: from `start` to `end`, with no other letter from `left` to `right`."""

    window: str
    low: int
    start: int
    end: int
    left: int
    right: int


def _agreeing(shelf: Shelf, it: _Sought, doc: int, place: int, offset: int) -> _Agreeing | None:
    """The candidate whose anchor (at `offset` of the skeleton) stands at `place`: its span and how it agrees; None where the skeleton differs."""
    cut = _cut(shelf, it, shelf.documents[doc].text, place, offset)
    if cut is None:
        return None
    quote = it.needle.quote
    first, last = int(it.places[0]), int(it.places[-1]) + 1
    ours, theirs = canonical(cut.window[cut.start : cut.end]).text, canonical(quote[first:last]).text
    begin, fits_left = _grown(cut.window, quote[:first], cut.start, cut.left, -1)
    finish, fits_right = _grown(cut.window, quote[last:], cut.end, cut.right, 1)
    span = Span(doc, cut.low + begin, cut.low + finish)
    if ours == theirs:
        return _Agreeing(Level.CANONICAL if fits_left and fits_right else Level.BUT_FOR_ENDS, span, 100.0)
    if ours.casefold() == theirs.casefold():
        return _Agreeing(Level.CASE, span, 100.0)
    return _Agreeing(Level.SKELETON, span, fuzz.ratio(theirs, ours))


def _cut(shelf: Shelf, it: _Sought, text: str, place: int, offset: int) -> _Cut | None:
    """The skeleton's match around `place`, or None. The window is widened until it holds the match with a letter more on each side."""
    before, size = int(it.places[offset]), len(it.codes)
    reach = 64
    while True:
        low, high = max(place - before - reach, 0), min(place + len(it.needle.quote) - before + reach, len(text))
        window = shelf.read(text[low:high])
        codes, places = skeleton(window)
        # A ligature gives several letters from one place, and the match may begin at any of them.
        near = range(*(int(np.searchsorted(places, place - low, side=side)) - offset for side in ("left", "right")))
        if (low == 0 and high == len(text)) or (near and near[0] > 0 and near[-1] + size < len(codes)):
            break
        reach *= 4
    at = next((begin for begin in near if begin >= 0 and np.array_equal(codes[begin : begin + size], it.codes)), -1)
    if at < 0:
        return None
    last = at + size - 1
    left = int(places[at - 1]) + 1 if at else 0
    right = int(places[last + 1]) if last + 1 < len(places) else len(window)
    return _Cut(window, low, int(places[at]), int(places[last]) + 1, left, right)


def _grown(text: str, edge: str, at: int, bound: int, step: int) -> tuple[int, bool]:
    """Where the candidate ends once the punctuation at the quote's edge is taken in, and whether all of it was there."""
    wanted = canonical(edge).text
    furthest = max(bound, at - _EDGE) if step < 0 else min(bound, at + _EDGE)
    best, size = at, 0
    for far in range(at + step, furthest + step, step) if wanted else ():
        grown = canonical(text[far:at] if step < 0 else text[at:far]).text
        if len(grown) > size and (wanted.endswith(grown) if step < 0 else wanted.startswith(grown)):
            best, size = far, len(grown)
        if len(grown) >= len(wanted):
            break
    return with_marks(text, edge, best, bound, step), size == len(wanted)
