"""What markdown and html share: a text whose structure is known is divided along it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from harness.chunking.base import Pieces, check_size_and_overlap
from harness.chunking.boundaries import Boundaries
from harness.chunking.languages import check_language
from harness.chunking.layout import Layout, Level
from harness.chunking.packing import trimmed_ends
from harness.chunking.section_groups import Sections
from harness.chunking.sections import NO_SPANS, Inside, Merge, Splitter, check_merge
from harness.chunking.tables import Table, TableContext, check_table, with_contexts
from harness.types import Bools, Ints
from harness.units.base import Ruler

_DEEPEST = 12
"""Cuts nested deeper than this count as this deep: bounds the searches for a chunk's end."""


@dataclass(frozen=True, eq=False)
class Structure:
    """What a parser found in a text. Every position is a character offset; spans are (starts, ends), in order.

    `sections`: its sections. `headings`: all headings, nested ones too; no block, sentence or line begins inside one or right behind it. `cut`,
    `rank`: where blocks begin, and how deep they are nested in lists, quotations, tables and code (0: in none). `solid`: tables and code, in which
    overlap begins at a cut only. `wholes`: the outermost lists, tables and code, disjoint. `markup`: what finer cuts leave whole if they can.
    `tables`: in order.
    """

    sections: Sections
    headings: tuple[Ints, Ints]
    cut: Ints
    rank: Ints
    solid: tuple[Ints, Ints] = NO_SPANS
    wholes: tuple[Ints, Ints] = NO_SPANS
    markup: tuple[Ints, Ints] = NO_SPANS
    tables: tuple[Table, ...] = ()


@dataclass(frozen=True, slots=True)
class StructuralChunker:
    """The parameters and the way of dividing that markdown and html have in common; `split` of each says what its structure is."""

    size: int
    overlap: int = 0
    merge: Merge = "siblings"
    table: TableContext = "header"
    language: str = "en"

    def __post_init__(self) -> None:
        check_size_and_overlap(self.size, self.overlap)
        check_merge(self.merge)
        check_table(self.table)
        check_language(self.language)

    def _split(self, text: str, layout: Layout, ruler: Ruler, structure: Structure) -> Pieces:
        splitter = Splitter(layout, ruler, self.size, self.overlap, self.merge)
        pieces = splitter.split(structure.sections, lambda: self._inside(text, layout, ruler, structure))
        return with_contexts(pieces, structure.tables, self.table, self.size, layout, ruler)

    def _inside(self, text: str, layout: Layout, ruler: Ruler, structure: Structure) -> Inside:
        named = Boundaries(text, layout, ruler, self.language, structure.headings)
        cut = named.behind_no_heading(layout.to_word(structure.cut))
        rank = np.minimum(structure.rank, _DEEPEST)[np.isin(layout.to_word(structure.cut), cut)]
        ranked = [Level.of(cut[rank == depth], layout, ruler) for depth in np.unique(rank).tolist()]
        if len(ranked) and rank.min() == 0:
            ranked[0] = self._without_strands(ranked[0], structure.sections.start, layout, ruler)
        fine = [_outside(named.level(name), structure.markup) for name in ("sentence", "line", "word")]
        last = [named.level("character")]
        if len(structure.markup[0]):
            edges = Level.of(structure.markup[1], layout, ruler)
            last = [_outside(edges, structure.markup), _outside(last[0], structure.markup), named.level("word"), last[0]]
        places = np.union1d(structure.cut, _outside(fine[0], structure.solid).position).astype(np.int64)
        smaller = [_outside(_outside(level, structure.markup), structure.solid) for level in (fine[2], last[-1])]
        overlaps = [Level.of(places, layout, ruler), *smaller]
        return Inside([*ranked, *fine, *last], overlaps, _wholes(structure, layout), _heading_behind(structure, layout))

    def _without_strands(self, blocks: Level, sections: Ints, layout: Layout, ruler: Ruler) -> Level:
        """`blocks` without the cut before a block larger than `size` where a small one stands before it (the line that leads in to a list): under a
        quarter of what chunks are filled to, it would be a crumb."""
        places = np.union1d(blocks.position, sections).astype(np.int64)
        units = ruler.size(places, trimmed_ends(places, layout.length, layout))
        small, large = units < (self.size - self.overlap) // 4, units > self.size
        strand = places[1:][small[:-1] & large[1:]]
        kept = ~np.isin(blocks.position, strand)
        return Level(blocks.position[kept], blocks.floor[kept], blocks.ceil[kept])


def _outside(level: Level, spans: tuple[Ints, Ints]) -> Level:
    """The places of `level` that lie inside none of `spans` (ordered by start, perhaps nested); the start of a span isn't inside it."""
    start, end = spans
    if not len(start):
        return level
    reach = np.maximum.accumulate(end)
    before = start.searchsorted(level.position, side="left")
    free: Bools = (before == 0) | (level.position >= reach[before - 1])
    return Level(level.position[free], level.floor[free], level.ceil[free])


def _wholes(structure: Structure, layout: Layout) -> tuple[Ints, Ints]:
    """The blocks to keep whole, each with what can't be parted from its end (the end tags right behind it)."""
    start, end = structure.wholes
    cuts = np.append(structure.cut, layout.length)
    return layout.to_word(start), layout.trim_end(cuts[cuts.searchsorted(end, side="left")])


def _heading_behind(structure: Structure, layout: Layout) -> Ints:
    """The start of the heading that stands right before each of the wholes, -1 for none."""
    start, end = structure.headings
    begin = layout.to_word(structure.wholes[0])
    if not len(start):
        return np.full(len(begin), -1, dtype=np.int64)
    last = start.searchsorted(begin, side="left") - 1
    near = (last >= 0) & (layout.to_word(end)[last] >= begin)
    return np.where(near, layout.to_word(start)[last], -1)
