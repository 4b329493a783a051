"""Signs in a text of a file that was read wrongly or made elsewhere: broken encodings, control and hidden characters, line ends."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from harness.corpus.problems import excerpt
from harness.types import Document

_KINDS: dict[str, tuple[str, str]] = {
    # name: (pattern, what it means)
    "replacement": ("\ufffd", "characters that were lost when a file was decoded (U+FFFD)"),
    "misread": (
        "Ã[\u0080-\u00bf]|â€[\u0098-\u00a6™œ\u009d“”]|Â[\u00a0-\u00bf]",
        "places where UTF-8 was read as Windows-1252 (Ã© for é); import the file again",
    ),
    "control": ("[\x00-\x08\x0b\x0e-\x1f\x7f-\x9f]", "control characters"),
    "bidi": ("[\u202a-\u202e\u2066-\u2069]", "marks that turn the direction of text (bidi overrides, isolates), which can hide what it says"),
    "zero width": ("[\u200b\u2060\ufeff]", "zero-width spaces, which split words unseen"),
    "soft hyphen": ("\u00ad", "soft hyphens, which split words for most tokenizers"),
    "surrogate": ("[\ud800-\udfff]", "halves of surrogate pairs"),
}
_PATTERNS = {name: re.compile(pattern) for name, (pattern, _) in _KINDS.items()}
_LONG_LINE = 20_000
# Tried only where a line begins: tried everywhere it would read each line once for every character of it.
_LINE_OF = re.compile(rf"(?:\A|[\n\r])[^\n\r]{{{_LONG_LINE}}}")
_LONE_CR = re.compile(r"\r(?!\n)")
_LONE_LF = re.compile(r"(?<!\r)\n")


@dataclass(frozen=True, slots=True)
class Sign:
    """`count` characters (or documents, for line ends) in `documents` documents, the `first` of them, and what it means."""

    name: str
    count: int
    documents: int
    first: str
    means: str

    def line(self) -> str:
        """The sign in one line."""
        places = "1 document" if self.documents == 1 else f"{self.documents:,} documents"
        return f"{self.count:,} {self.means}: in {places} (first: {excerpt(self.first)})" if self.count else ""


def signs(documents: Sequence[Document]) -> list[Sign]:
    """What was found, in a fixed order. One pass a sign over every text, no copies of it."""
    found = [_counted(documents, name, means) for name, (_, means) in _KINDS.items()]
    return [sign for sign in found if sign.documents]


def _counted(documents: Sequence[Document], name: str, means: str) -> Sign:
    pattern, count, where = _PATTERNS[name], 0, []
    for document in documents:
        here = sum(1 for _ in pattern.finditer(document.text)) if not document.text.isascii() or name == "control" else 0
        if here:
            count += here
            where.append(document.id)
    return Sign(name, count, len(where), where[0] if where else "", means)


def line_ends(documents: Sequence[Document]) -> dict[str, list[str]]:
    """Ids of the documents by how their lines end: "CRLF", "CR", "mixed", and those with a "long line" of 20,000 characters or more."""
    kinds: dict[str, Callable[[str], bool]] = {"CRLF": _only_crlf, "CR": _only_cr, "mixed": _mixed, "long line": _has_long_line}
    return {name: [document.id for document in documents if is_so(document.text)] for name, is_so in kinds.items()}


def _only_crlf(text: str) -> bool:
    return "\r\n" in text and not _mixed(text)


def _only_cr(text: str) -> bool:
    return "\r" in text and "\n" not in text


def _mixed(text: str) -> bool:
    if "\r" not in text:
        return False
    return ("\r\n" in text) + bool(_LONE_CR.search(text)) + bool(_LONE_LF.search(text)) > 1


def _has_long_line(text: str) -> bool:
    return len(text) >= _LONG_LINE and _LINE_OF.search(text) is not None
