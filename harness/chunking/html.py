"""HTML along its own structure: sections, then whole blocks, then what is inside them."""

from __future__ import annotations

from dataclasses import dataclass

from harness.chunking.base import Pieces
from harness.chunking.html_blocks import html_structure
from harness.chunking.layout import Layout
from harness.chunking.recursive import RecursiveChunker
from harness.chunking.structural import StructuralChunker
from harness.units.base import Ruler


@dataclass(frozen=True, slots=True)
class HtmlChunker(StructuralChunker):
    """Chunks of at most `size` units of raw HTML, tags included, so that every chunk is a slice of the text and every character but white space is
    in one.

    Sections (by h1 to h6, wherever they stand), blocks, tables, overlap and parameters are those of MarkdownChunker. Lists, tables and <pre> are the
    blocks kept whole where they fit; other elements (div, section, article, ...) are layout and don't nest. Start tags go with what follows, end
    tags with what is before. Behind blocks come <br> and the lines of <pre>, scripts and styles, then sentences, lines and words outside tags; a
    tag is cut only where it alone is larger than a chunk. End tags may be missing. A text without any markup is divided as `recursive` with the
    same parameters does.

    The header of a table is the rows of its <thead>, else a first row of <th> alone; as context it is the words of its cells, joined by " | ".
    """

    def split(self, text: str, ruler: Ruler) -> Pieces:
        """The chunks of `text`. Takes one pass over its tags, linear in its length."""
        layout = Layout.of(text)
        if not len(layout.start):
            return Pieces(layout.start, layout.end)
        structure = html_structure(text, layout)
        if structure is None:
            return RecursiveChunker(self.size, self.overlap, language=self.language).split(text, ruler)
        return self._split(text, layout, ruler, structure)
