"""Letters and words as they come out of a PDF: ligatures, letters without meaning, and words that a line end cut in two."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harness.importing.extract.pdf_blocks import Block

_LIGATURES = {0xFB00: "ff", 0xFB01: "fi", 0xFB02: "fl", 0xFB03: "ffi", 0xFB04: "ffl", 0xFB05: "st", 0xFB06: "st"}
_DROPPED = dict.fromkeys([*range(0x09), 0x0B, *range(0x0E, 0x20), 0x7F])
_SPACES = {0x0C: " ", 0xA0: " "}
_TABLE = {**_DROPPED, **_SPACES, **_LIGATURES}
_UNMAPPED = re.compile(r"\(cid:\d+\)")
_UNUSED = "(cid:127)"
"""An unused code of WinAnsiEncoding, which stands for a bullet (ISO 32000-1, annex D, note 3)."""
_CUT = re.compile(r"([^\W\d_]+(?:-[^\W\d_]+)*)[-\u2010\u00ad]$")
_START = re.compile(r"[^\W\d_]+")
_HYPHENATED = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)+")
_WORD = re.compile(r"[^\W\d_]+")


def cleaned(text: str) -> str:
    """`text` with ligatures as letters, letters that the font gives no meaning as U+FFFD, no control characters, and no half of a surrogate pair."""
    return _UNMAPPED.sub("\ufffd", text.replace(_UNUSED, "•").translate(_TABLE)).encode("utf-8", "replace").decode("utf-8").strip()


class Hyphens:
    """Decides for a word that a line end cuts whether its hyphen belongs to it, by the other words of the document."""

    def __init__(self, pages: Sequence[Sequence[Block]]) -> None:
        self._words: set[str] = set()
        self._hyphenated: set[str] = set()
        for line in (line for page in pages for block in page for line in block.lines):
            text = line.text.lower()
            self._words.update(_WORD.findall(text))
            self._hyphenated.update(_HYPHENATED.findall(text))

    def join(self, first: str, second: str) -> str:
        """Two lines as one. "main-" and "tenance" become "maintenance", unless the document writes "main-tenance" inside a line, or the second half
        begins with a capital or no letter; a soft hyphen is always dropped."""
        cut, start = _CUT.search(first), _START.match(second)
        if not cut or not start:
            return f"{first} {second}"
        if first.endswith("\u00ad"):
            return first[:-1] + second
        whole, parted = f"{cut.group(1)}{start.group()}".lower(), f"{cut.group(1)}-{start.group()}".lower()
        keeps = not second[0].islower() or (parted in self._hyphenated and whole not in self._words)
        return first + second if keeps else first[:-1] + second
