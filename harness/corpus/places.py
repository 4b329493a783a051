"""From a label to a span: a quote is found, offsets are checked, and what does not agree is told in words that help to mend it.

A label is never bent to fit. A span is trimmed of white space at its ends, which no metric counts.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice

from harness.corpus.problems import excerpt
from harness.corpus.questions import EvidenceLabel
from harness.types import Document, Span

_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Mismatch:
    """Why a label has no span. `hint` searches for what may have been meant; dear, so it is only called for what is shown."""

    text: str
    hint: Callable[[], str] = str


class Library:
    """The documents of a corpus with a way from a label's words to a span."""

    def __init__(self, documents: Sequence[Document]) -> None:
        self.documents = documents
        self.number = {document.id: number for number, document in enumerate(documents)}

    def locate(self, label: EvidenceLabel) -> Span | Mismatch:
        """The span of `label`, trimmed, or why there is none. A quote alone costs one scan of its document."""
        doc = self.number.get(label.doc)
        if doc is None:
            return Mismatch(f"there is no document {excerpt(label.doc)}", lambda: self._near_id(label.doc))
        if label.start is None or label.end is None:
            return self._by_quote(doc, label.quote or "")
        return self._by_offsets(doc, label.start, label.end, label.quote)

    def _by_offsets(self, doc: int, start: int, end: int, quote: str | None) -> Span | Mismatch:
        document = self.documents[doc]
        name, size = excerpt(document.id), len(document.text)
        if not 0 <= start < end <= size:
            return Mismatch(f"start {start} and end {end} are no passage of {name}, which has {size} characters: 0 <= start < end <= {size}")
        found = document.text[start:end]
        if quote is not None and found.strip() != quote.strip():
            text = f"from {start} to {end} {name} has {excerpt(found)}, but the quote is {excerpt(quote)}"
            return Mismatch(text, lambda: self._near_quote(doc, quote) + _line_ends(document))
        if not found.strip():
            return Mismatch(f"from {start} to {end} {name} has only white space")
        return trimmed(doc, start, found)

    def _by_quote(self, doc: int, quote: str) -> Span | Mismatch:
        document = self.documents[doc]
        if not quote.strip():
            return Mismatch(f"the quote for {excerpt(document.id)} is blank")
        places = occurrences(document.text, quote) or occurrences(document.text, quote.strip())
        if len(places) == 1:
            return trimmed(doc, places[0], quote if document.text.startswith(quote, places[0]) else quote.strip())
        if places:
            shown = ", ".join(map(str, places[:_SHOWN])) + (" and more" if len(places) > _SHOWN else "")
            return Mismatch(f"the quote {excerpt(quote)} stands in {excerpt(document.id)} at {shown}; give start and end to say which is meant")
        missing = f"the quote {excerpt(quote)} is not in {excerpt(document.id)}"
        return Mismatch(missing, lambda: self._near_quote(doc, quote) + _line_ends(document))

    def _near_id(self, name: str) -> str:
        near = difflib.get_close_matches(name, self.number, n=1)
        return f"; the nearest is {excerpt(near[0])}" if near else f"; documents are named like {excerpt(self.documents[0].id)}"

    def _near_quote(self, doc: int, quote: str) -> str:
        words = quote.split()
        if not words:
            return ""
        document = self.documents[doc]
        at = document.text.find(quote.strip())
        if at >= 0:
            return f"; the quote stands at {at} to {at + len(quote.strip())}"
        spaced = r"\s+".join(map(re.escape, words))
        for folding, flags in (("with other white space", 0), ("with other white space or case", re.IGNORECASE)):
            match = re.search(spaced, document.text, flags)
            if match:
                return f"; it stands at {match.start()} to {match.end()} {folding}"
        others = (other.id for other in self.documents if quote.strip() in other.text)
        elsewhere = ", ".join(map(excerpt, islice(others, 2)))
        return f"; it is in {elsewhere}" if elsewhere else ""


def trimmed(doc: int, start: int, passage: str) -> Span:
    """The span of `passage`, which begins at `start`, less the white space at its ends."""
    front = len(passage) - len(passage.lstrip())
    return Span(doc, start + front, start + front + len(passage.strip()))


def occurrences(text: str, needle: str) -> list[int]:
    """The first places of `needle` in `text`, overlapping ones too; at most one more than is shown."""
    found: list[int] = []
    at = text.find(needle)
    while at >= 0 and len(found) <= _SHOWN:
        found.append(at)
        at = text.find(needle, at + 1)
    return found


def _line_ends(document: Document) -> str:
    return "; this document has CRLF line ends, and both characters count" if "\r\n" in document.text else ""
