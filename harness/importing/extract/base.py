"""What an extractor gives: the text of one file as Markdown, with what it says about itself.

An extractor is a function `extract(source) -> Extracted` in a file of this package; `formats` says which one reads which file. It gets bytes and
gives text: it opens no other file, runs nothing that a document brings, and reaches no network (`guard` holds it to that).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

PAGE_BREAK = "\f"
"""Stands alone on a line between the pages of a document, and nowhere else in it: the page of an offset is 1 + text.count(PAGE_BREAK, 0, offset)."""


class UnreadableError(ValueError):
    """A file gives no text. The message is one line that says why and, where there is something to do, what."""


@dataclass(frozen=True, slots=True)
class Source:
    """A file: its bytes, its name without folders, and the options that reach extractors."""

    raw: bytes
    name: str

    @property
    def suffix(self) -> str:
        """The ending of the name, in small letters, with its dot."""
        dot = self.name.rfind(".")
        return self.name[dot:].lower() if dot > 0 else ""


@dataclass(frozen=True, slots=True)
class Extracted:
    """`text` is what offsets count in from now on. `metadata` is ready for JSON. `notes` say in a line each what was assumed, left out or lost."""

    text: str
    title: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
