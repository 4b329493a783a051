"""Where a quote lies best in a piece of text that is a little longer."""

from __future__ import annotations

from collections.abc import Iterator

from rapidfuzz import fuzz
from rapidfuzz.distance import Levenshtein

from harness.importing.canon import canonical, with_marks

_HEAD = 24
_END = 400


def align(quote: str, window: str) -> tuple[int, int, float] | None:
    """Start and end in `window`, and the share of characters, 0 to 100, that agree in canonical form, case aside (twice the common ones / all of
    both: rapidfuzz's ratio); None where they have nothing in common."""
    here, there = canonical(quote), canonical(window)
    ours, theirs = _folded(here.text), _folded(there.text)
    if not ours or not theirs:
        return None
    cuts = {_trimmed(ours, theirs, *rough) for rough in _roughly(ours, theirs)}
    if not cuts:
        return None
    score, (start, end) = max(((fuzz.ratio(ours, theirs[start:end]), (start, end)) for start, end in cuts), key=lambda it: (it[0], -it[1][0]))
    first, last = there.places[start], there.places[end - 1] + 1
    first = with_marks(window, quote[: here.places[0]], first, 0, -1)
    return first, with_marks(window, quote[here.places[-1] + 1 :], last, len(window), 1), score


def _roughly(ours: str, theirs: str) -> Iterator[tuple[int, int]]:
    """Pieces of `theirs` that are like `ours`. Sliding takes the square of the length, so of a long quote one end is slid, and the other is looked
    for where it should then be; and the other way round."""
    if len(ours) <= 2 * _END:
        yield from _slid(ours, theirs, 0, len(theirs))
        return
    slack = _END + len(ours) // 12
    for start, _ in _slid(ours[:_END], theirs, 0, len(theirs) - len(ours) + slack):
        for _, end in _slid(ours[-_END:], theirs, start + len(ours) - slack, start + len(ours) + slack):
            yield start, end
    for _, end in _slid(ours[-_END:], theirs, len(ours) - slack, len(theirs)):
        for start, _ in _slid(ours[:_END], theirs, end - len(ours) - slack, end - len(ours) + slack):
            yield start, end


def _slid(ours: str, theirs: str, low: int, high: int) -> Iterator[tuple[int, int]]:
    low, high = max(low, 0), min(max(high, 0), len(theirs))
    found = fuzz.partial_ratio_alignment(ours, theirs[low:high]) if low < high else None
    if found is not None and found.dest_end > found.dest_start:
        yield low + found.dest_start, low + found.dest_end


def _trimmed(ours: str, theirs: str, start: int, end: int) -> tuple[int, int]:
    """Both ends moved to where the ends of the quote fit best."""
    first = _edge(ours, theirs, start)
    last = len(theirs) - _edge(ours[::-1], theirs[::-1], len(theirs) - end)
    return (first, last) if first < last else (start, max(end, start + 1))


def _edge(ours: str, theirs: str, near: int) -> int:
    """The place near `near` where the beginning of `ours` fits best; of equals one that begins alike, then the nearest."""
    head = ours[:_HEAD]
    reach = 8 + min(len(ours), 2 * _END) // 25
    options = range(max(near - reach, 0), min(near + reach, len(theirs) - 1) + 1)
    return min(options, key=lambda at: (Levenshtein.distance(head, theirs[at : at + len(head)]), theirs[at] != head[0], abs(at - near)))


def _folded(text: str) -> str:
    """Case folded character by character where that keeps its length, so that places stay."""
    folded = text.casefold()
    return folded if len(folded) == len(text) else "".join(low if len(low := character.casefold()) == 1 else character for character in text)
