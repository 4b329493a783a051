"""Markdown along its own structure: sections, then whole blocks, then what is inside them."""

from __future__ import annotations

from dataclasses import dataclass

from harness.chunking.base import Pieces
from harness.chunking.layout import Layout
from harness.chunking.markdown_blocks import markdown_structure
from harness.chunking.structural import StructuralChunker
from harness.units.base import Ruler


@dataclass(frozen=True, slots=True)
class MarkdownChunker(StructuralChunker):
    """Chunks of at most `size` units along the headings and blocks of Markdown (CommonMark with tables), trimmed of white space.

    **Sections.** A section that fits in `size` with all that stands below its heading is kept in one chunk. Neighbours under one heading (its own
    text, then its subsections) share a chunk while they fit. A section that doesn't fit falls into its own text and its subsections, and shares no
    chunk with what is outside it, so no chunk reaches from one section into the next of a higher level. `merge`: "siblings" is this; "any" lets
    small sections share chunks whatever they stand under; "none" ends a chunk at every heading. A heading without text of its own stays with the
    subsection behind it.

    **Blocks.** What stands under one heading and is larger than `size` is packed: a chunk ends at the last block within reach (paragraph, list,
    table, quotation, code), else at the last item of a list, row of a table or line of code, from the outermost lists inward, else sentence, line,
    word, character. Outermost lists, tables and code are whole wherever they fit in `size`, even if their heading then stands alone. Nothing is cut
    right behind a heading otherwise. A table's header stays with its first row, a fence with its first and last line. A block under a quarter of a
    chunk joins one behind it that has to be divided anyway.

    **Tables.** `table` says what the chunks of a divided table that lack its header get as context, before the text that is embedded: "header" its
    header row, "words" each of its rows as "column = value; column = value" (about as long again as the rows, in the chunk with the header too),
    "plain" nothing. A header larger than `size` is left out; the chunks that lack it are counted in the note "long_header".

    **Overlap.** Sections are never repeated in the next: a heading is where text may be parted. A section that is divided is filled to `size -
    overlap`, and each part but the first begins earlier by at most `overlap` units: at the earliest block, item, row, line of code or sentence
    within them, else word, else character (in tables and code only at rows and lines), and never before the part before.

    A character that alone measures more than `size` is kept and counted in the note "oversize". `language`: for sentences.
    """

    def split(self, text: str, ruler: Ruler) -> Pieces:
        """The chunks of `text`. Takes parsing, linear in its length."""
        layout = Layout.of(text)
        if not len(layout.start):
            return Pieces(layout.start, layout.end)
        return self._split(text, layout, ruler, markdown_structure(text, layout))
