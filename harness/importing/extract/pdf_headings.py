"""Which blocks of a PDF are headings, and of what level: those that its bookmarks name, or else those set larger or bolder than its text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from harness.importing.extract.pdf_blocks import Block, body_size

_LONGEST = 200
_LONGEST_BOLD = 90
_LARGER = 1.12
_DEEPEST = 6
_APART = 0.7
_SMALLER = 1.1
_FOUND = 0.5
_NUMBERED = re.compile(r"^(?:(?:chapter|section|appendix|part)\s+)?([\dA-Z]{1,2}(?:\.\d{1,2}){0,5})[.:]?\s+(?=\S)", re.IGNORECASE)
_LETTER = re.compile(r"[^\W\d_]")
_SENTENCE = re.compile(r"[，。；]|^.{60,}[.;,]$", re.DOTALL)
_DOTS = re.compile(r"(?:\.\s?){4,}")


class Headings:
    """`level(block)` is 1 to 6 for a heading and 0 for anything else."""

    def __init__(self, pages: Sequence[Sequence[Block]], outline: Sequence[tuple[int, str]]) -> None:
        blocks = [block for page in pages for block in page]
        self._body = body_size(blocks)
        self._outline = self._trusted(blocks, outline)
        used = Counter(block.lines[0].size for block in blocks if self._large(block))
        merged: list[float] = []
        for size in sorted(used, reverse=True):
            # A size that comes once, other than the largest, is an ornament of a title page and makes no level of its own.
            if not merged or (merged[-1] - size >= _APART and used[size] > 1):
                merged.append(size)
        self._sizes = merged

    def level(self, block: Block) -> int:
        """The level of a block. Bookmarks decide where half of them are found in the text; larger type counts beside them, bold type only without."""
        if not _candidate(block):
            return 0
        text = _text(block)
        named = self._outline.get(_flat(text)) or self._outline.get(_flat(_NUMBERED.sub("", text)))
        if named:
            return min(named, _DEEPEST)
        if self._large(block):
            level = 1 + sum(block.lines[0].size < size - _APART for size in self._sizes)
            return min(level, _DEEPEST)
        if self._outline or not self._bold(block):
            return 0
        depth = _NUMBERED.match(text)
        numbered = depth.group(1).count(".") if depth else 0
        return min(len(self._sizes) + 1 + numbered, _DEEPEST)

    def title(self, pages: Sequence[Sequence[Block]]) -> str:
        """The first heading of the first page in its largest type, or ""."""
        found = [block for block in (pages[0] if pages else ()) if self._large(block)]
        best = max(found, key=lambda block: block.lines[0].size, default=None)
        return _text(best) if best else ""

    def _trusted(self, blocks: Sequence[Block], outline: Sequence[tuple[int, str]]) -> dict[str, int]:
        named: dict[str, int] = {}
        for level, title in outline:
            if key := _flat(_NUMBERED.sub("", title)):
                named.setdefault(key, level)
                named.setdefault(_flat(title), level)
        texts = {_flat(_NUMBERED.sub("", _text(block))) for block in blocks if _candidate(block)}
        keys = {_flat(_NUMBERED.sub("", title)) for _, title in outline} - {""}
        return named if keys and len(keys & texts) >= _FOUND * len(keys) else {}

    def _large(self, block: Block) -> bool:
        return _candidate(block) and all(line.size >= self._body * _LARGER for line in block.lines)

    def _bold(self, block: Block) -> bool:
        text = _text(block)
        starts = text[:1].isupper() or text[:1].isdigit()
        return (
            len(text) <= _LONGEST_BOLD
            and starts
            and not text.endswith((".", ",", ";", ":"))
            and all(line.bold and line.size >= self._body - _SMALLER for line in block.lines)
        )


def _candidate(block: Block) -> bool:
    if not 1 <= len(block.lines) <= 3:
        return False
    text = _text(block)
    if any(line.mono for line in block.lines) or _SENTENCE.search(text):
        return False
    return len(text) <= _LONGEST and len(_LETTER.findall(text)) >= 2 and not _DOTS.search(text) and text[0] not in "•–—*"


def _text(block: Block) -> str:
    return " ".join(line.text for line in block.lines)


def _flat(text: str) -> str:
    return "".join(character for character in text.lower() if character.isalnum())
