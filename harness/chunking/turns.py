"""Transcripts and chats, by who speaks."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

import numpy as np

from harness.chunking.base import Pieces, check_size_and_overlap
from harness.chunking.languages import check_language
from harness.chunking.layout import Layout, Level
from harness.chunking.page import running_text
from harness.chunking.patterns import check_pattern, matches
from harness.chunking.section_groups import Sections
from harness.chunking.sections import Inside, Splitter
from harness.types import Ints
from harness.units.base import Ruler

_TIME = r"[\[(]?\d{1,2}:\d\d(?::\d\d)?(?:[.,]\d+)?[\])]?"
_ASIDE = r"[ \t]*(?:\([^()\r\n]{1,40}\)|\[[^\[\]\r\n]{1,40}\])"
_CAPITAL = r"[^\Wa-z][\w.'’-]*"
_LINE_START = r"(?:^|(?<=[\r\x0b\x0c\x85\u2028\u2029]))[ \t]*"
_FIRST = r"[^\W\d_][\w.'’-]{0,39}"
_SPEAKER = (
    rf"{_LINE_START}(?:{_TIME}[ \t]+(?:-[ \t]+)?)?(?P<mark>\*\*|__|\*|)"
    rf"(?:{_FIRST}|(?=[^a-z]){_FIRST}(?:[ ](?:{_CAPITAL}|de|da|del|der|la|le|van|von|of|bin|al)){{1,4}})"
    rf"(?:{_ASIDE})?(?:(?P=mark)(?:{_ASIDE})?(?::(?=\s|$)|：)|[:：](?P=mark)(?=\s|$))"
)


@dataclass(frozen=True, slots=True)
class TurnsChunker:
    """Whole turns of speakers, as many as fit into `size` units, trimmed of white space.

    A turn begins at a line that begins with `Name:`, `[12:03] Name:`, `12:03 Name:`, `**Name**:`, `**Name:**` or `Name (12:03):`. A name is one
    word, or up to five that begin with capitals (Dr. Ada Lovelace, Speaker 2); so a line like `Note: ...` begins one too. `speaker`: a regular
    expression of your own instead, matched anywhere (`^` and `$` match at every line): a turn begins where it matches, and what it matches names
    the speaker. Text before the first turn is a turn without a speaker.

    Turns share a chunk while they measure at most `size - overlap` together. A turn larger than `size` is divided as `recursive` does and shares its
    chunks with no other. A chunk that begins inside a turn has what names its speaker as context, before the text that is embedded.

    With `overlap`, each chunk but the first begins earlier by at most `overlap` units, as far as its own `size` allows: at the earliest turn within
    them, else sentence, word, character. A character that alone measures more than `size` is kept and counted in the note "oversize".
    """

    size: int
    overlap: int = 0
    speaker: str | None = None
    language: str = "en"

    def __post_init__(self) -> None:
        check_size_and_overlap(self.size, self.overlap)
        if self.speaker is not None:
            check_pattern("strategy.speaker", self.speaker)
        check_language(self.language)

    def split(self, text: str, ruler: Ruler) -> Pieces:
        """The chunks of `text`."""
        layout = Layout.of(text)
        if not len(layout.start):
            return Pieces(layout.start, layout.end)
        own = re.finditer(_SPEAKER, text, re.MULTILINE) if self.speaker is None else matches("strategy.speaker", self.speaker, text)
        found = [(match.start(), match.group().strip()) for match in own]
        place = layout.to_word(np.array([start for start, _ in found], dtype=np.int64))
        sections = Sections.of(place, np.ones(len(place), np.int64), np.zeros(len(place), np.bool_), layout)
        splitter = Splitter(layout, ruler, self.size, self.overlap, "any", bridge=True)
        pieces = splitter.split(sections, lambda: _inside(text, layout, ruler, self.language, sections.start))
        return _named(pieces, place, [name for _, name in found])


def _inside(text: str, layout: Layout, ruler: Ruler, language: str, turns: Ints) -> Inside:
    running = running_text(text, layout, ruler, language)
    return replace(running, overlaps=[Level.of(turns, layout, ruler), *running.overlaps])


def _named(pieces: Pieces, place: Ints, names: list[str]) -> Pieces:
    """`pieces` with the speaker of the turn that each begins inside of; nothing where it begins with a turn."""
    turn = place.searchsorted(pieces.start, side="right") - 1
    inside = (turn >= 0) & (place[turn] < pieces.start) if len(place) else np.zeros(len(turn), np.bool_)
    context = tuple(names[number] if within else "" for number, within in zip(turn.tolist(), inside.tolist(), strict=True))
    return Pieces(pieces.start, pieces.end, pieces.notes, context if any(context) else None)
