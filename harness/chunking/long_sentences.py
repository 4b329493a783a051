"""Sentences that are larger than a chunk may be, divided."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from harness.chunking.layout import Layout, Level
from harness.chunking.packing import pack
from harness.chunking.sentences import Sentences
from harness.types import Ints
from harness.units.base import Ruler


def with_parts(texts: Sequence[str], rulers: Sequence[Ruler], sentences: Sentences, most: int) -> Sentences:
    """`sentences` with each one over `most` units replaced by parts that are not: cut at line ends, else words, else characters."""
    is_long = sentences.ceil - sentences.floor > most
    if not is_long.any():
        return sentences
    number = np.repeat(np.arange(len(texts)), np.diff(sentences.first))
    rows = list(zip(number[is_long].tolist(), sentences.start[is_long].tolist(), sentences.end[is_long].tolist(), strict=True))
    whole = _Joined([texts[text][a:b] for text, a, b in rows], [rulers[text].within(a, b) for text, a, b in rows])
    begin, stop, of = whole.parts(most)
    away = whole.place[of] - sentences.start[is_long][of]
    units_away = whole.units[of] - sentences.floor[is_long][of]
    own = np.concatenate((number[~is_long], number[is_long][of]))
    columns = (
        (sentences.start, begin - away),
        (sentences.end, stop - away),
        (sentences.floor, whole.ruler.floor(begin) - units_away),
        (sentences.ceil, whole.ruler.ceil(stop) - units_away),
    )
    kept = [np.concatenate((column[~is_long], parts)) for column, parts in columns]
    order = np.lexsort((kept[0], own))
    first = own[order].searchsorted(np.arange(len(texts) + 1)).tolist()
    start, end, floor, ceil = (column[order] for column in kept)
    return Sentences(start, end, floor, ceil, first)


class _Joined:
    """Stretches of text as one, a line end between them, so that each kind of boundary is found and measured once.

    `place` and `units`: where each begins in the whole, in characters and in units.
    """

    def __init__(self, stretches: Sequence[str], rulers: Sequence[Ruler]) -> None:
        length = np.array([len(stretch) for stretch in stretches], dtype=np.int64)
        self.place: Ints = np.cumsum(length + 1) - length - 1
        self.end = self.place + length
        total = np.array([ruler.total for ruler in rulers], dtype=np.int64)
        self.units: Ints = np.cumsum(total + 1) - total - 1
        cuts = [ruler.cuts + place for ruler, place in zip(rulers, self.place.tolist(), strict=True)]
        before = [ruler.before + units for ruler, units in zip(rulers, self.units.tolist(), strict=True)]
        self.ruler = Ruler(np.concatenate(cuts), np.concatenate(before))
        self.layout = Layout.of("\n".join(stretches))

    def parts(self, most: int) -> tuple[Ints, Ints, Ints]:
        """Starts and ends of the parts, in the whole, and which stretch each is of."""
        levels = _Finer(self.layout, self.ruler)
        found = [pack(levels, a, b, most, self.ruler) for a, b in zip(self.place.tolist(), self.end.tolist(), strict=True)]
        start = np.concatenate([np.array(starts, dtype=np.int64) for starts in found])
        of = np.repeat(np.arange(len(found)), [len(starts) for starts in found])
        return start, self.layout.trim_end(np.append(start[1:], self.layout.length)), of


class _Finer:
    """Line ends, words, characters: the levels at which a long sentence may be cut. Each is made when it is first asked for; the last seldom is."""

    def __init__(self, layout: Layout, ruler: Ruler) -> None:
        self._layout, self._ruler = layout, ruler
        self._places = (layout.start[layout.line_ends > 0], layout.start, ruler.cuts)
        self._made: list[Level] = []

    def __iter__(self) -> Iterator[Level]:
        for row, position in enumerate(self._places):
            if row == len(self._made):
                self._made.append(Level.of(position, self._layout, self._ruler))
            yield self._made[row]
