"""Source code by its syntax tree: functions, classes and methods whole where they fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tree_sitter import Node

from harness.chunking.base import Pieces, check_size_and_overlap
from harness.chunking.code_bytes import MeasuredBytes
from harness.chunking.code_cutting import Cutting
from harness.chunking.code_items import Scale
from harness.chunking.code_plan import Plan
from harness.chunking.code_syntax import LANGUAGES, error_bytes, language_of, parse
from harness.chunking.layout import Layout
from harness.chunking.recursive import RecursiveChunker
from harness.errors import ConfigError
from harness.types import Document
from harness.units.base import Ruler


@dataclass(frozen=True, slots=True)
class CodeChunker:
    """Chunks of at most `size` units made of whole functions, classes, methods and statements, trimmed of white space.

    Leading comments, decorators and attributes stay with theirs. Small neighbours share a chunk, imports with imports. A class that doesn't fit
    shares no chunk with what stands behind it; its members are packed on their own. A function that doesn't fit is split between its statements, the
    outermost that have a boundary within reach, then between lines, words and characters. What nothing could divide is counted in the note
    "oversize".

    The header of the class (impl, trait, namespace) around a chunk and the signature of a function that was split are the chunk's `context`, where
    the chunk doesn't hold them itself: outermost first, a line each, together at most half of `size`, inner ones first where not all fit.

    `language`: auto goes by the ending of a document's name (a text on its own has none); a name from `code_syntax.LANGUAGES` holds for every
    document. A `.h` file is read as C, and as C++ where that leaves fewer errors. Documents in no such language fall to `recursive`, counted in the
    note "not_code", and so do those of which more than the share `max_errors` (0..1) of the bytes stands under error nodes of the tree, counted in
    "unparsed". Below that share, the parts that parsed are cut as code.

    With `overlap`, chunks are filled to `size - overlap`, then each but the first begins earlier by at most `overlap` units: at the earliest line
    within them, else the earliest statement, else not; and never before the chunk before.

    Split, then pack, over a syntax tree: Zhang et al. 2025, "cAST" (arXiv 2506.15655). Time is linear; a text that is no code in its language parses
    slowly, at about 10 microseconds a byte.
    """

    size: int
    overlap: int = 0
    language: str = "auto"
    max_errors: float = 0.25

    def __post_init__(self) -> None:
        check_size_and_overlap(self.size, self.overlap)
        if self.language != "auto" and self.language not in LANGUAGES:
            raise ConfigError("strategy.language", self.language, f"auto (by file name), or one of {', '.join(LANGUAGES)}")
        share: object = self.max_errors
        if isinstance(share, bool) or not isinstance(share, int | float) or not 0 <= share <= 1:
            raise ConfigError("strategy.max_errors", share, "a share of a document's bytes, 0 to 1")

    def split(self, text: str, ruler: Ruler) -> Pieces:
        """The chunks of a text that has no name."""
        return self._split(text, ruler, None if self.language == "auto" else self.language)

    def split_all(self, documents: Sequence[Document], rulers: Sequence[Ruler]) -> Sequence[Pieces]:
        """The chunks of every document, each in its language."""
        named = [language_of(document.id) if self.language == "auto" else self.language for document in documents]
        return [self._split(document.text, ruler, name) for document, ruler, name in zip(documents, rulers, named, strict=True)]

    def _split(self, text: str, ruler: Ruler, language: str | None) -> Pieces:
        layout = Layout.of(text)
        if not len(layout.start):
            return Pieces(layout.start, layout.end)
        if language is None:
            return self._as_prose(text, ruler, "not_code")
        measured = MeasuredBytes.of(text, ruler)
        root = _tree(language, measured.source)
        if error_bytes(root) > self.max_errors * len(measured.source):
            return self._as_prose(text, ruler, "unparsed")
        plan = Plan(root, Scale(measured, self.size - self.overlap))
        return Cutting(text, layout, ruler, measured, plan).pieces(self.size, self.overlap)

    def _as_prose(self, text: str, ruler: Ruler, reason: str) -> Pieces:
        found = RecursiveChunker(self.size, self.overlap).split(text, ruler)
        return Pieces(found.start, found.end, {**found.notes, reason: 1})


def _tree(language: str, source: bytes) -> Node:
    root = parse(language, source)
    if language == "c" and root.has_error:
        other = parse("cpp", source)
        return other if error_bytes(other) < error_bytes(root) else root
    return root
