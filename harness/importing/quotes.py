"""From quotes to spans: exact, then normalised, then nearly, and never silently to the wrong place.

Each quote ends as
- exact: it stands there word for word, once (white space at its ends aside);
- normalised: it does in canonical form (harness.importing.canon), once; if need be but for punctuation at its ends, or for case;
- fuzzy: one passage is like it by `threshold` of 100 or more and no other comes within two points; short quotes must agree in their numbers;
- ambiguous: several places fit equally well;
- not found: with the nearest candidate, if there is one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from harness.errors import ConfigError
from harness.importing.base import Progress, Status, silent
from harness.importing.canon import canonical, without_markup
from harness.importing.matching import LIMIT, Found, Level, Needle, find_matches
from harness.importing.nearness import LONGEST, SHORTEST, Nearest, find_near
from harness.types import Document, Span

THRESHOLD = 90.0
MARGIN = 2.0
"""Points by which a near match must beat the next."""

_SHORT = 40
# A figure with the letters beside it, as far as they are Latin: in scripts without spaces a whole clause would count as a word.
_WORD = re.compile(r"[\dA-Za-z\u00c0-\u024f.,]+")
_WHY = {
    Level.RAW: "",
    Level.EXACT: "",
    Level.CANONICAL: "",
    Level.BUT_FOR_ENDS: "but for punctuation at its ends",
    Level.CASE: "but for case",
    Level.SKELETON: "but for punctuation or accents",
}


@dataclass(frozen=True, slots=True)
class Located:
    """What became of one quote. `span` is there for exact, normalised and fuzzy; `spans` are the candidates of an ambiguous one (`count` in all, or
    more where `more`); `near` is the best candidate of one that was not found. `score` as in Near."""

    status: Status
    span: Span | None = None
    score: float = 100.0
    spans: tuple[Span, ...] = ()
    more: bool = False
    near: Span | None = None
    why: str = ""


def check_threshold(threshold: float) -> None:
    """Raise ConfigError unless a threshold makes sense."""
    if not 50 <= threshold <= 100:
        raise ConfigError("threshold", threshold, "a score from 50 to 100; 90 lets one character in ten differ")


def locate(documents: Sequence[Document], needles: Sequence[Needle], threshold: float = THRESHOLD, progress: Progress = silent) -> list[Located]:
    """What becomes of each needle, in order. Needles are looked for together: one pass over the documents for each reading that is still needed.

    Time is linear in the text and in the needles with their candidates. Raises ConfigError for a threshold outside 50 to 100.
    """
    check_threshold(threshold)
    located: list[Located | None] = [_settled(found) for found in find_matches(documents, needles, progress=progress)]
    left = [number for number, it in enumerate(located) if it is None]
    if left and any("](" in document.text or "<" in document.text or "&" in document.text for document in documents):
        bare = [replace(needles[number], quote=without_markup(needles[number].quote)) for number in left]
        for number, found in zip(left, find_matches(documents, bare, without_markup, progress), strict=True):
            located[number] = _settled(found)
        left = [number for number in left if located[number] is None]
    if left:
        asked = [needles[number] for number in left]
        for needle, number, near in zip(asked, left, find_near(documents, asked, progress), strict=True):
            located[number] = _nearly(documents, needle.quote, near, threshold)
    return [it if it is not None else Located("not found") for it in located]


def _settled(found: Found) -> Located | None:
    """What a match settles; None where it takes a closer look."""
    if not found.spans or found.level == Level.SKELETON:
        return None
    if len(found.spans) > 1 or found.more:
        return Located("ambiguous", spans=found.spans, more=found.more, why=f"stands at {len(found.spans)}{' or more' if found.more else ''} places")
    return Located("exact" if found.level <= Level.EXACT else "normalised", found.spans[0], why=_WHY[found.level])


def _nearly(documents: Sequence[Document], quote: str, nearest: Nearest, threshold: float) -> Located:
    near = nearest.candidates
    if not near:
        return Located("not found", score=0.0, why=_nothing(quote))
    best = near[0]
    passage = documents[best.span.doc].text[best.span.start : best.span.end]
    if best.score < threshold:
        return Located("not found", score=best.score, near=best.span, why=f"the nearest passage agrees by {best.score:.1f} of 100")
    if nearest.unseen >= best.pieces:
        return Located("ambiguous", score=best.score, spans=tuple(it.span for it in near), more=True, why="too many passages have its words")
    rivals = tuple(it.span for it in near if it.score > best.score - MARGIN)
    if len(rivals) > 1:
        return Located("ambiguous", score=best.score, spans=rivals, why=f"{len(rivals)} passages are nearly alike")
    ours, theirs = _figures(quote, passage)
    if not ours and not theirs:
        return Located("fuzzy", best.span, best.score)
    differ = f"numbers differ: {', '.join(ours) or 'none'} in the quote, {', '.join(theirs) or 'none'} there"
    # Where only one side has a figure, a letter was misread for it. In a short passage another figure is another passage.
    if ours and theirs and len(canonical(quote).text) < _SHORT:
        return Located("not found", score=best.score, near=best.span, why=differ)
    return Located("fuzzy", best.span, best.score, why=differ)


def _nothing(quote: str) -> str:
    """Why there is not even a candidate."""
    if not quote.strip():
        return "the quote is blank"
    letters = sum(map(str.isalnum, quote))
    if letters < SHORTEST:
        return f"it does not stand there, and {letters} letters or digits are too few to look for near matches"
    if len(quote) > LONGEST:
        return (
            f"it does not stand there word for word, and is too long to look for near matches; quote its beginning … and its end, {LONGEST} at most"
        )
    return "nothing like it"


def _figures(quote: str, passage: str) -> tuple[list[str], list[str]]:
    """The words with a digit that each has and the other lacks."""
    ours, theirs = (Counter(filter(_has_digit, (word.strip(".,") for word in _WORD.findall(without_markup(text))))) for text in (quote, passage))
    return sorted((ours - theirs).elements()), sorted((theirs - ours).elements())


def _has_digit(word: str) -> bool:
    return any(map(str.isdigit, word))


def all_places(found: Located) -> str:
    """How many places an ambiguous quote has, in words."""
    return f"{LIMIT} or more" if found.more else str(len(found.spans))
