"""Text that can be shown: nothing in a document can command a terminal, turn a line around or hide."""

from __future__ import annotations

import unicodedata

_PLAIN = "\n\t"
_SPACES = "Zs"
_HIDDEN = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
_JOINERS = "\u200c\u200d"
"""Zero-width joiners belong to the spelling of Persian, Hindi and emoji, and do nothing else."""


def visible(text: str) -> str:
    """`text` with each control, format and unassigned character, bidi mark and half of a surrogate pair spelled out: ESC becomes ⟨U+001B⟩.

    CRLF and lone CR become line feeds (a carriage return would write over the line); line feeds, tabs and all spaces stay.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if text.isprintable():
        return text
    return "".join(character if _shows(character) else f"⟨U+{ord(character):04X}⟩" for character in text)


def on_one_line(text: str) -> str:
    """`visible`, with every run of white space as one space."""
    return " ".join(visible(text).split())


def _shows(character: str) -> bool:
    return character.isprintable() or character in _PLAIN or character in _JOINERS or unicodedata.category(character) not in _HIDDEN
