"""Excel workbooks as Markdown: a heading a sheet, a pipe table a block of rows. Values only: no formula is worked out and no macro is read."""

from __future__ import annotations

import datetime
import io
import warnings
import zipfile
from collections.abc import Iterator
from typing import Any

import openpyxl
from openpyxl.utils.exceptions import InvalidFileException

from harness.importing.extract.base import Extracted, Source, UnreadableError
from harness.importing.extract.pipes import pipe_table
from harness.importing.extract.zipped import check_archive, properties

_MOST_CELLS = 5_000_000


def extract(source: Source) -> Extracted:
    """Every sheet that has cells, in order. Rows between blank rows are a table of their own; a single cell is a paragraph.

    Cells hold what the program that saved the file last worked out; formulas that it never worked out are blank, and told where a whole sheet is.
    """
    check_archive(source.raw, "xlsx")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about styles and validations, which play no part here
            book = openpyxl.load_workbook(io.BytesIO(source.raw), read_only=True, data_only=True, keep_links=False)
            sheets = [(sheet.title, sheet.sheet_state, list(_blocks(sheet))) for sheet in book.worksheets]
            book.close()
    except (KeyError, ValueError, AttributeError, TypeError, IndexError, OSError, SyntaxError, zipfile.BadZipFile, InvalidFileException) as error:
        raise UnreadableError(str(error) if isinstance(error, UnreadableError) else f"is damaged, or no xlsx ({type(error).__name__})") from error
    parts = [part for title, _, blocks in sheets if blocks for part in (f"## {' '.join(title.split())}", *map(_written, blocks))]
    hidden = [title for title, state, blocks in sheets if blocks and state != "visible"]
    empty = [title for title, _, blocks in sheets if not blocks]
    notes = [f"sheets that are hidden are read too: {', '.join(hidden)}"] if hidden else []
    if empty:
        notes.append(
            f"sheets without a value are left out: {', '.join(empty)} (a file that no spreadsheet program has saved holds formulas without values)"
        )
    title, metadata = properties(source.raw)
    return Extracted("\n\n".join(parts) + "\n" if parts else "", title, {**metadata, "sheets": len(sheets)}, tuple(notes))


def _blocks(sheet: Any) -> Iterator[list[list[str]]]:
    """Rows that stand together, without the columns that are blank in all of them."""
    if not hasattr(sheet, "reset_dimensions"):
        return  # a sheet of nothing but a chart
    sheet.reset_dimensions()  # what the file says of its size may be far too much
    block: list[list[str]] = []
    cells = 0
    for values in sheet.iter_rows(values_only=True):
        row = [_text(value) for value in values]
        if any(row):
            cells += len(row)
            if cells > _MOST_CELLS:
                raise UnreadableError(f"has more than {_MOST_CELLS:,} cells; store it as a data base or leave it out with --exclude")
            block.append(row)
        elif block:
            yield _trimmed(block)
            block = []
    if block:
        yield _trimmed(block)


def _trimmed(rows: list[list[str]]) -> list[list[str]]:
    width = max(map(len, rows))
    used = [column for column in range(width) if any(column < len(row) and row[column] for row in rows)]
    return [[row[column] if column < len(row) else "" for column in used] for row in rows]


def _written(block: list[list[str]]) -> str:
    if all(len(row) == 1 for row in block):
        return "\n\n".join(row[0] for row in block)
    return pipe_table(block)


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, datetime.datetime):
        return value.date().isoformat() if value.time() == datetime.time() else value.isoformat(sep=" ", timespec="minutes")
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return " ".join(str(value).encode("utf-8", "replace").decode("utf-8").split())
