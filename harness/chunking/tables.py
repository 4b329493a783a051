"""What a table that was divided among chunks gives to the chunks that lack its header."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from harness.chunking.base import Pieces
from harness.chunking.layout import Layout
from harness.errors import ConfigError
from harness.types import Ints
from harness.units.base import Ruler

TableContext = Literal["header", "words", "plain"]


def check_table(table: object) -> None:
    """Raise ConfigError unless `table` is one of TableContext."""
    if table not in get_args(TableContext):
        raise ConfigError("strategy.table", table, f"one of {', '.join(get_args(TableContext))}")


@dataclass(frozen=True, eq=False)
class Table:
    """A table at text[start:end] with a header and at least one row below it.

    `header` is its header as text. `rows` are the starts of the rows below, strictly increasing, inside the table. `names` are the source of the
    header's cells, `cells` of each row's cells; `plain` makes words of a source.
    """

    start: int
    end: int
    header: str
    rows: Ints
    names: Sequence[str]
    cells: Sequence[Sequence[str]]
    plain: Callable[[str], str]

    def in_words(self, row: int) -> str:
        """A row as "column = value; column = value"; cells without words are left out, a cell without a column's name is its value alone."""
        names = [*map(self.plain, self.names), *[""] * len(self.cells[row])]
        pairs = [(name, self.plain(cell)) for name, cell in zip(names, self.cells[row], strict=False)]
        return "; ".join(f"{name} = {value}" if name else value for name, value in pairs if value)


def with_contexts(pieces: Pieces, tables: Sequence[Table], kind: TableContext, size: int, layout: Layout, ruler: Ruler) -> Pieces:
    """`pieces` with the contexts of divided tables (in order; of nested ones the inner decides).

    header: a chunk that begins below a table's header, inside the table, has the header as context. words: every chunk that holds whole rows of a
    divided table has these rows in words; one that begins inside a row has the header before them. plain: none. A header that measures more than
    `size` would drown the rows; it is left out, and the chunks that lack it are counted in the note "long_header".
    """
    if kind == "plain" or not tables:
        return pieces
    contexts = [""] * len(pieces.start)
    lacking = 0
    for table in tables:
        after = int(pieces.start.searchsorted(table.rows[0], side="left"))
        stop = int(pieces.start.searchsorted(table.end, side="left"))
        if after >= stop:
            continue  # no chunk begins among its rows
        is_long = bool(ruler.size(np.array(table.start), table.rows[0]) > size)
        lacking += (stop - after) if is_long else 0
        header = "" if is_long else table.header
        if kind == "header":
            contexts[after:stop] = [header] * (stop - after)
        else:
            _put_words(contexts, table, pieces, header, range(max(after - 1, 0), stop), layout)
    notes = {**pieces.notes, "long_header": lacking} if lacking else pieces.notes
    return Pieces(pieces.start, pieces.end, notes, tuple(contexts) if any(contexts) else None)


def _put_words(contexts: list[str], table: Table, pieces: Pieces, header: str, chunks: range, layout: Layout) -> None:
    ends = layout.trim_end(np.append(table.rows[1:], table.end))
    for chunk in chunks:
        start, end = pieces.start[chunk], pieces.end[chunk]
        first = int(table.rows.searchsorted(start, side="left"))
        last = int(ends.searchsorted(end, side="right"))
        inside_row = start > table.rows[0] and (first == len(table.rows) or table.rows[first] != start)
        lines = [contexts[chunk], header if inside_row else "", *(table.in_words(row) for row in range(first, last))]
        contexts[chunk] = "\n".join(filter(None, lines))
