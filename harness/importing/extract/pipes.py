"""Rows as a Markdown pipe table."""

from __future__ import annotations

from collections.abc import Sequence


def pipe_table(rows: Sequence[Sequence[str]]) -> str:
    """The rows as a table whose first row is its header, without a line end behind it; "" for rows without a cell.

    White space inside a cell becomes single spaces, and a bar is written `\\|`. Rows are filled up to the longest one.
    """
    width = max(map(len, rows), default=0)
    if not width:
        return ""
    lines = [_line(row, width) for row in rows]
    return "\n".join([lines[0], "|" + " --- |" * width, *lines[1:]])


def _line(row: Sequence[str], width: int) -> str:
    cells = [" ".join(cell.split()).replace("|", "\\|") for cell in row]
    return "| " + " | ".join(cells + [""] * (width - len(cells))) + " |"
