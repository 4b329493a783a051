"""Blocks of a page, and how they are written as Markdown."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from harness.importing.extract.pdf_headings import Headings
    from harness.importing.extract.pdf_words import Hyphens

_MONO = re.compile(r"mono|courier|cmtt|consol|typewriter|menlo|inconsol|nimbusmon|-tt|lucidasanstypew|sourcecode|firacode|txtt|beramono|luximono")
_BOLD = re.compile(r"bold|black|heavy|cmbx|semibold|demi|-bd|tb$|medi$")
_BULLET = re.compile(r"^[•◦▪▫‣⁃∙●○■□–—∗]\s+(?=\S)|^\*\s+(?=\S)")
_ITEM = re.compile(r"^(?:[•◦▪▫‣⁃∙●○■□–—∗*]\s|\(?(?:\d{1,3}|[a-z]|[ivx]{1,4})[.)]\s|\[\d{1,3}\]\s)")
_INDENT = 0.8
_SHORT = 0.75
_ENDS = (".", "!", "?", ":", ";", "。", ".”", '."', ".)", "…")


class Box(NamedTuple):
    """A place on a page in points, from its top left."""

    left: float
    top: float
    right: float
    bottom: float

    def holds(self, other: Box) -> bool:
        """Whether the middle of `other` lies inside."""
        return self.left <= (other.left + other.right) / 2 <= self.right and self.top <= (other.top + other.bottom) / 2 <= self.bottom


@dataclass(frozen=True, slots=True)
class Line:
    """A line of text with its commonest font size (points, to the half), font name in small letters, and mean width of a letter."""

    text: str
    box: Box
    size: float
    font: str
    letter: float

    @property
    def middle(self) -> float:
        """Its height on the page."""
        return (self.box.top + self.box.bottom) / 2

    @property
    def mono(self) -> bool:
        """Whether it is set in type of one width, as code is."""
        return bool(_MONO.search(self.font))

    @property
    def bold(self) -> bool:
        """Whether it is set in bold type."""
        return bool(_BOLD.search(self.font))

    @property
    def kind(self) -> tuple[bool, bool, float]:
        """Equal for lines that may belong to one paragraph."""
        return self.mono, self.bold, self.size if self.bold or self.size > 12 else 0.0


@dataclass(slots=True)
class Block:
    """Lines that stand together, or a table that is already Markdown."""

    box: Box
    lines: list[Line] = field(default_factory=list)
    table: str = ""
    page_height: float = 0.0


def body_size(blocks: Sequence[Block]) -> float:
    """The size that most characters have, code aside; of two equal the smaller; 0 without text."""
    sizes: Counter[float] = Counter()
    for line in (line for block in blocks for line in block.lines if not line.mono):
        sizes[line.size] += len(line.text)
    return max(sizes, key=lambda size: (sizes[size], -size)) if sizes else 0.0


def merged(blocks: Sequence[Block]) -> list[Block]:
    """Neighbours of one type joined where a sentence goes on in the next: the first does not end one and the second begins with a small letter, as
    where a column ends, or where only the first line of a paragraph is set in."""
    joined: list[Block] = []
    for block in blocks:
        if joined and _goes_on(joined[-1], block):
            joined[-1] = Block(joined[-1].box, [*joined[-1].lines, *block.lines], page_height=block.page_height)
        else:
            joined.append(block)
    return joined


def _goes_on(first: Block, second: Block) -> bool:
    if not first.lines or not second.lines or first.lines[-1].mono or second.lines[0].mono:
        return False
    last, start = first.lines[-1], second.lines[0]
    return abs(last.size - start.size) < 0.6 and start.text[:1].islower() and not _ITEM.match(start.text) and not last.text.endswith(_ENDS)


def render(blocks: Sequence[Block], headings: Headings, hyphens: Hyphens) -> str:
    """The blocks as Markdown, a blank line between two of them; "" for a page without text. Code that follows code is one fence."""
    parts: list[str] = []
    code: list[Block] = []
    for block in blocks:
        if _is_code(block, headings):
            code.append(block)
            continue
        parts += _fenced(code)
        code = []
        if block.table:
            parts.append(block.table)
        elif level := headings.level(block):
            parts.append("#" * level + " " + _joined([line.text for line in block.lines], hyphens))
        else:
            parts += _paragraphs(block.lines, hyphens)
    parts += _fenced(code)
    return "\n\n".join(parts)


def _is_code(block: Block, headings: Headings) -> bool:
    return bool(block.lines) and all(line.mono for line in block.lines) and not headings.level(block)


def _fenced(blocks: Sequence[Block]) -> list[str]:
    """Code with its line ends and, as far as places tell, its indents."""
    lines = [line for block in blocks for line in block.lines]
    if not lines:
        return []
    left = min(line.box.left for line in lines)
    texts = [" " * min(round((line.box.left - left) / line.letter) if line.letter else 0, 40) + line.text for line in lines]
    fence = "```"
    while any(fence in text for text in texts):
        fence += "`"
    return ["\n".join([fence, *texts, fence])]


def _paragraphs(lines: Sequence[Line], hyphens: Hyphens) -> list[str]:
    """Lines joined to paragraphs; neighbouring list items stand on lines of their own."""
    written: list[str] = []
    previous_item = False
    for group in _groups(lines):
        text = _joined([line.text for line in group], hyphens)
        item = bool(_ITEM.match(text))
        text = _BULLET.sub("- ", text)
        if item and previous_item:
            written[-1] += f"\n{text}"
        else:
            written.append(text)
        previous_item = item
    return written


def _groups(lines: Sequence[Line]) -> Iterator[list[Line]]:
    """A new paragraph begins at a list item, and at a first line that is set in after a line that ends a sentence or ends early."""
    left, right = min(line.box.left for line in lines), max(line.box.right for line in lines)
    group: list[Line] = []
    for line in lines:
        if group:
            before = group[-1]
            early = before.box.right < left + _SHORT * (right - left)
            ended = early or before.text.endswith(_ENDS)
            set_in = line.box.left - left > _INDENT * line.size and before.box.left - left <= _INDENT * line.size
            if _ITEM.match(line.text) or (ended and set_in and not _ITEM.match(group[0].text)):
                yield group
                group = []
        group.append(line)
    if group:
        yield group


def _joined(texts: Sequence[str], hyphens: Hyphens) -> str:
    whole = texts[0]
    for text in texts[1:]:
        whole = hyphens.join(whole, text) if not _east_asian(whole[-1:], text[:1]) else whole + text
    return whole


def _east_asian(last: str, first: str) -> bool:
    """Chinese and Japanese put no space where a line ends."""
    return bool(last and first) and all("\u3000" <= letter <= "\u9fff" or "\uff00" <= letter <= "\uffef" for letter in (last, first))
