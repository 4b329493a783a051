"""What is put in front of a chunk before it is embedded, and the second text that may lead to it."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from harness.chunking.layout import Layout
from harness.chunking.outline import Outline
from harness.chunking.surroundings import Surroundings
from harness.types import Document, Ints
from harness.units.base import Ruler

PATH = " > "
_NO_SIGNATURE = re.compile(r"\s*(?:@|//|/\*|\*|#|--|;|\"\"\"|'''|$)")
_LONGEST_SIGNATURE = 5
_OPENING, _CLOSING = frozenset("([{"), frozenset(")]}")


class Fronts:
    """The chunks of one document among its headings. `start` and `end` are columns of chunks, `outline` is None where headings are not asked for."""

    def __init__(self, document: Document, ruler: Ruler, outline: Outline | None, start: Ints, end: Ints) -> None:
        self._document, self._ruler, self._outline = document, ruler, outline
        self._start, self._end = start, end
        titles = outline.titles if outline is not None else ()
        self._title = _line(document.title) or next(filter(None, titles), "")
        self._own, self._deepest, self._first = self._headings()

    def contexts(self, parts: Sequence[str], strategy: Sequence[str] | None) -> list[str]:
        """The text in front of each chunk: the `parts`, each on a line of its own, then what the strategy itself wants there; "" for nothing.

        A heading that the chunk itself begins with is not repeated, nor is a title that heads the path as well.
        """
        own = strategy or ("",) * len(self._start)
        before = {part: self._before(int(part.removeprefix("before:"))) for part in parts if part.startswith("before:")}
        found = []
        for number, text in enumerate(own):
            lines = [before[part][number] if part in before else self._part(part, number, parts) for part in parts]
            found.append("".join(f"{line}\n" for line in lines if line) + text)
        return found

    def heading_texts(self) -> list[str]:
        """The title and the headings of each chunk, those that it begins with included, on one line; "" where there are none."""
        paths = self._outline.paths if self._outline is not None else ()
        found = []
        for heading in self._deepest.tolist():
            path = paths[heading] if heading >= 0 else ()
            found.append(PATH.join(path if path[:1] == (self._title,) or not self._title else (self._title, *path)))
        return found

    def _headings(self) -> tuple[Ints, Ints, list[str]]:
        """For each chunk: the heading in force that is not in the chunk, the deepest of those that it begins with (or else the one in force), both -1
        for none; and the title of the heading that it begins with."""
        none = np.full(len(self._start), -1, dtype=np.int64)
        if self._outline is None or not len(self._outline) or not len(self._start):
            return none, none, [""] * len(self._start)
        outline, layout = self._outline, Layout.of(self._document.text)
        heads, chunk = layout.to_word(outline.start), layout.to_word(self._start)
        within = heads.searchsorted(chunk, side="right") - 1
        begins = (within >= 0) & (heads[within] == chunk)
        own = np.where(begins, outline.parent[within], within)
        follows = np.append(layout.to_word(outline.end[:-1]) >= heads[1:], False)  # nothing but white space up to the next heading
        stop = np.flatnonzero(~follows)
        deepest = np.minimum(stop[stop.searchsorted(np.maximum(within, 0))], heads.searchsorted(self._end) - 1)
        titles = [outline.titles[heading] if starts else "" for heading, starts in zip(within.tolist(), begins.tolist(), strict=True)]
        return own, np.where(begins, deepest, within), titles

    def _part(self, part: str, number: int, parts: Sequence[str]) -> str:
        if part == "title":
            return "" if self._first[number] == self._title else self._title
        if part == "heading_path":
            heading = int(self._own[number])
            path = self._outline.paths[heading] if self._outline is not None and heading >= 0 else ()
            return PATH.join(path[1:] if "title" in parts and path[:1] == (self._title,) else path)
        return _line(self._document.metadata.get(part.removeprefix("metadata:")))

    def _before(self, units: int) -> list[str]:
        """The `units` units of text right before each chunk, less white space at the ends."""
        ruler, text = self._ruler, self._document.text
        first = ruler.before.searchsorted(ruler.floor(self._start) - units, side="left")
        return [text[begin:end].strip() for begin, end in zip(ruler.cuts[first].tolist(), self._start.tolist(), strict=True)]


def _line(value: object) -> str:
    """Any value on one line; lists with commas, None as nothing."""
    if value is None:
        return ""
    plain = ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
    return " ".join(plain.split())


def signature(text: str) -> str:
    """The first line of code that is neither blank nor a comment or decorator, and the lines after it until its brackets are closed (five in all at
    most); of a text without such a line the first line that is not blank."""
    lines = text.splitlines()
    first = next((number for number, line in enumerate(lines) if not _NO_SIGNATURE.match(line)), None)
    if first is None:
        return next((line.strip() for line in lines if line.strip()), "")
    taken: list[str] = []
    depth = 0
    for line in lines[first : first + _LONGEST_SIGNATURE]:
        taken.append(line.strip())
        body = line.rstrip().removesuffix("{")  # what opens the block is no bracket of the signature
        depth += sum((sign in _OPENING) - (sign in _CLOSING) for sign in body)
        if depth <= 0:
            break
    return "\n".join(taken)


def second_texts(around: Surroundings, fronts: Fronts, document: Document, start: Ints, end: Ints, strategy: Sequence[str] | None) -> list[str]:
    """The second text that leads to each chunk of a document, "" for none."""
    if around.vectors == "heading+body":
        return fronts.heading_texts()
    own = strategy or ("",) * len(start)
    slices = (document.text[first:last] for first, last in zip(start.tolist(), end.tolist(), strict=True))
    return ["" if (found := signature(text)) == text.strip() else front + found for front, text in zip(own, slices, strict=True)]
