"""Passages that a question could be asked about: sentences of prose, with what qualifies them."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from harness.chunking.headings import headings
from harness.importing.drafting.qualifiers import opens, split
from harness.importing.sentences import sentences
from harness.types import Document, Span

_SHORTEST, _LONGEST = 40, 500
_PARAGRAPH = re.compile(r"(?:\r\n?|\n)[ \t]*(?:\r\n?|\n)\s*")
_FENCE = re.compile(r"^ {0,3}(```+|~~~+).*?(?:^ {0,3}\1[`~]*[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_LEADING = re.compile(r"[\s>*+\-=@#|•\d.)\]]*")
_PROSE = 0.7
_STOPS = re.compile(r"[.!?。！？؟…][\"”’»)\]」』）*_`]*$")
_READ = 400_000
"""Characters of a document that are looked at; of a longer one, windows of it, evenly spaced."""
_WINDOWS = 8


@dataclass(frozen=True, slots=True)
class Passage:
    """A paragraph `around` a `claim`, and the `qualifier` of it with its `role` ("exception" or "condition"); all spans of one document. `section` is
    the path of headings above."""

    claim: Span
    around: Span
    qualifier: Span | None = None
    role: str = ""
    section: str = ""


def passages(number: int, document: Document, taken: Sequence[tuple[int, int]] = (), most: int = 40) -> list[Passage]:
    """At most `most` passages of document `number`, evenly spread over it: all that have a qualifier first, then others. Left out are
    those whose words stand more than once in the document (a quote of them would have no single place), that hold control characters, or that touch
    the spans `taken`."""
    text = document.text
    found = [it for it in _candidates(number, text) if not _touches(it.around, taken)]
    qualified = [it for it in found if it.qualifier]
    plain = [it for it in found if not it.qualifier]
    chosen = sorted((*_spread(qualified, most), *_spread(plain, max(most - len(qualified), most // 4))), key=lambda it: it.claim)
    once = [it for it in chosen if all(_stands_once(text, span) for span in (it.claim, it.qualifier) if span)]
    return _with_sections(text, once)


def _candidates(number: int, text: str) -> Iterator[Passage]:
    for window_start, window_end in _windows(len(text)):
        body = text[window_start:window_end]
        hidden = [fence.span() for fence in _FENCE.finditer(body)]
        for start, end in _paragraphs(body):
            if any(first < end and start < last for first, last in hidden):
                continue
            yield from _of_paragraph(number, text, window_start + start, window_start + end)


def _windows(length: int) -> list[tuple[int, int]]:
    if length <= _READ:
        return [(0, length)]
    part = _READ // _WINDOWS
    return [(place * (length - part) // (_WINDOWS - 1), place * (length - part) // (_WINDOWS - 1) + part) for place in range(_WINDOWS)]


def _paragraphs(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    for gap in _PARAGRAPH.finditer(text):
        yield start, gap.start()
        start = gap.end()
    yield start, len(text)


def _of_paragraph(number: int, text: str, start: int, end: int) -> Iterator[Passage]:
    paragraph = text[start:end]
    if len(paragraph) > 20 * _LONGEST or paragraph.lstrip().startswith(("#", "|", "<")):
        return
    around = Span(number, start, end)
    spans = [_tidied(text, start + one, start + two) for one, two in sentences(paragraph)]
    used = -1
    for place, (first, last) in enumerate(spans):
        if place <= used or not _is_prose(text[first:last]):
            continue
        role = opens(text[slice(*spans[place + 1])]) if place + 1 < len(spans) else None
        if role and _is_prose(text[slice(*spans[place + 1])]):
            used = place + 1
            yield Passage(Span(number, first, last), around, Span(number, *spans[place + 1]), role)
            continue
        inside = split(text[first:last])
        if inside is None:
            yield Passage(Span(number, first, last), around)
            continue
        claim, qualifier = (Span(number, *_tidied(text, first + one, first + two)) for one, two in (inside.claim, inside.qualifier))
        if claim.end > claim.start and qualifier.end > qualifier.start:
            yield Passage(claim, around, qualifier, inside.role)


def _tidied(text: str, start: int, end: int) -> tuple[int, int]:
    """Without white space, list marks and numbers at its start (nor =, + or @, which a spreadsheet takes for a formula)."""
    found = _LEADING.match(text, start, end)
    start = found.end() if found else start
    return start, max(start + len(text[start:end].rstrip()), start)


def _is_prose(sentence: str) -> bool:
    """Whether it is long and short enough, ends as sentences do, and is mostly letters and spaces."""
    long_enough = len(sentence.encode("utf-8", "replace")) >= _SHORTEST
    if not long_enough or len(sentence) > _LONGEST or not _STOPS.search(sentence, max(len(sentence) - 8, 0)):
        return False
    letters = sum(character.isalpha() or character == " " for character in sentence)
    plain = all(character.isprintable() or character in "\r\n\t\u200c\u200d\u00a0\u3000" for character in sentence)
    return plain and letters >= _PROSE * len(sentence) and not sentence.lower().startswith("http")


def _stands_once(text: str, span: Span) -> bool:
    words = text[span.start : span.end]
    return text.find(words) == span.start and text.find(words, span.start + 1) < 0


def _touches(span: Span, taken: Sequence[tuple[int, int]]) -> bool:
    return any(start < span.end and span.start < end for start, end in taken)


def _spread(items: Sequence[Passage], most: int) -> list[Passage]:
    if len(items) <= most:
        return list(items)
    return [items[place * len(items) // most] for place in range(most)]


def _with_sections(text: str, found: Sequence[Passage]) -> list[Passage]:
    if not found:
        return []
    start, _, level, titles = headings(text)
    starts = start.tolist()
    return [
        Passage(it.claim, it.around, it.qualifier, it.role, _path(level.tolist(), titles, bisect_right(starts, it.claim.start) - 1)) for it in found
    ]


def _path(levels: Sequence[int], titles: Sequence[str], last: int) -> str:
    """The heading `last` and those above it, from the top; "" where there is none."""
    path: list[str] = []
    lowest = 7
    for place in range(last, -1, -1):
        if levels[place] < lowest:
            lowest = levels[place]
            path.append(titles[place])
    return " > ".join(reversed(path))
