"""Tables of questions and quotes: CSV, TSV, Excel and JSON Lines, as rows of named cells."""

from __future__ import annotations

import csv
import io
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.corpus.jsonl import read_records
from harness.corpus.problems import excerpt
from harness.errors import ConfigError, DataError
from harness.importing.sources import read_text

TABLES = (".csv", ".tsv", ".xlsx", ".jsonl")
_DELIMITERS = ",;\t|"
_LONGEST_CELL = 1 << 24
_LARGEST_SHEET = 1 << 29
"""Bytes that an Excel file may unpack to."""


@dataclass(frozen=True, slots=True)
class Row:
    """One row: where it stands (counted from 1, the heading included) and its cells by the names in the heading."""

    line: int
    values: Mapping[str, Any]


def read_rows(path: Path, *, sheet: str | None = None) -> list[Row]:
    """The rows of a table, by the ending of its name. Rows without any text are passed over.

    CSV may be parted by commas, semicolons, tabs or bars. Of an Excel file the `sheet` is read, or the first one; formulas give the value that was
    stored with them. Raises DataError for what can't be read.
    """
    kind = path.suffix.lower()
    if kind not in TABLES:
        raise DataError(path, f"is no table that can be read; {', '.join(TABLES)} would do")
    if kind == ".jsonl":
        read_text(path)
        rows = [Row(record.line, record.values) for record in read_records(path)]
    else:
        rows = list(_named(path, _sheet(path, sheet) if kind == ".xlsx" else _separated(path, kind)))
    if not rows:
        raise DataError(path, "has a heading but no row" if kind != ".jsonl" else "has no row")
    return rows


def _named(path: Path, lines: Iterator[tuple[int, Sequence[Any]]]) -> Iterator[Row]:
    heading: list[str] = []
    for line, cells in lines:
        if not any(cell is not None and str(cell).strip() for cell in cells):
            continue
        if not heading:
            heading = [str(cell if cell is not None else "").strip() for cell in cells]
            twice = sorted({name for name in heading if name and heading.count(name) > 1})
            if twice:
                raise DataError(path, f"the heading names {twice[0]!r} twice; names of columns must differ", line=line)
            continue
        beyond = [cell for cell in cells[len(heading) :] if cell is not None and str(cell).strip()]
        if beyond:
            raise DataError(path, f"has {len(cells)} cells, the heading {len(heading)}; put text with a comma in it into quotation marks", line=line)
        yield Row(line, {name: cell for name, cell in zip(heading, cells, strict=False) if name})


def _separated(path: Path, kind: str) -> Iterator[tuple[int, list[str]]]:
    text = read_text(path)
    heading = next(line for line in text.splitlines() if line.strip())
    delimiter = "\t" if kind == ".tsv" else max(_DELIMITERS, key=heading.count)
    csv.field_size_limit(_LONGEST_CELL)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    began = 1
    while True:
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise DataError(path, f"not CSV ({error}); a quotation mark inside a quoted cell is written twice", line=began) from error
        yield began, cells
        began = reader.line_num + 1


def _sheet(path: Path, sheet: str | None) -> Iterator[tuple[int, Sequence[Any]]]:
    try:  # only here: it takes a while to load, and is an extra
        from openpyxl import load_workbook
        from openpyxl.utils.exceptions import InvalidFileException
    except ImportError as error:
        raise ConfigError(
            "SOURCE", path, "Excel files need pip install 'chunk-sweep[documents]' (the library openpyxl); or save it as CSV"
        ) from error
    if not path.is_file():
        raise DataError(path, "there is no such file")
    try:
        with zipfile.ZipFile(path) as packed:
            size = sum(entry.file_size for entry in packed.infolist())
        if size > _LARGEST_SHEET:
            raise DataError(path, f"unpacks to {size:,} bytes; up to {_LARGEST_SHEET:,} are read: save the sheet as CSV")
        book = load_workbook(path, read_only=True, data_only=True)
    except (zipfile.BadZipFile, InvalidFileException, KeyError, OSError, ValueError) as error:
        raise DataError(path, f"is no Excel workbook that can be read ({error}); save it as .xlsx or CSV") from error
    try:
        if sheet is not None and sheet not in book.sheetnames:
            raise DataError(path, f"has no sheet {sheet!r}; there are {', '.join(map(repr, book.sheetnames))}")
        page = book[sheet] if sheet is not None else book.worksheets[0]
        yield from enumerate(page.iter_rows(values_only=True), start=1)
    finally:
        book.close()


def cell_text(value: Any) -> str:
    """A cell as text, without white space at its ends: numbers as a person writes them, nothing for an empty one."""
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value).strip()


def column(name: str, names: Sequence[str], path: Path, option: str, *, needed: bool) -> str | None:
    """The heading that `name` means, case aside; None where an optional one is not there. Raises DataError for a needed one, naming what there is."""
    if name in names:
        return name
    alike = [it for it in names if it.strip().casefold() == name.strip().casefold()]
    if alike:
        return alike[0]
    if needed:
        there = ", ".join(excerpt(it) for it in names[:12]) or "none"
        raise DataError(path, f"the column {name!r} is missing; there are {there}: name the right one with {option} NAME")
    return None
