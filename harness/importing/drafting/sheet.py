"""The spreadsheet to fill in: a row a piece of evidence, with an empty cell for the question. `data import csv` and `xlsx` read it as it is."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from harness.errors import ConfigError
from harness.importing.drafting.passages import Passage
from harness.types import Document, Span
from harness.visible import visible

COLUMNS = ("id", "question", "role", "quote", "document", "section", "passage", "notes")
ENDINGS = (".csv", ".xlsx")
_WIDTHS = (8, 50, 11, 60, 24, 30, 80, 30)
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_LONGEST = 2000


def rows(documents: Sequence[Document], found: Sequence[Passage]) -> Iterator[tuple[str, ...]]:
    """The rows below COLUMNS: of a passage its claim, then its qualifier, under one id, so that they become two pieces of evidence of one answer."""
    for number, it in enumerate(found, start=1):
        document = documents[it.claim.doc]
        passage = _cut(document.text, it.around, it.claim)
        first = "claim" if it.qualifier else ""
        yield (f"d{number:03}", "", first, _words(document, it.claim), document.id, it.section, passage, "")
        if it.qualifier:
            yield (f"d{number:03}", "", it.role, _words(document, it.qualifier), document.id, it.section, "", "")


def check_ending(path: Path) -> None:
    """Raise ConfigError unless a sheet of that name can be written here."""
    if path.suffix.lower() not in ENDINGS:
        raise ConfigError("--to", path, "a name that ends in .xlsx or .csv")
    if path.suffix.lower() == ".xlsx":
        try:
            import openpyxl  # noqa: F401
        except ImportError as error:
            raise ConfigError("--to", path, "Excel files need pip install 'chunk-sweep[documents]'; .csv needs nothing") from error


def sheet(path: Path, documents: Sequence[Document], found: Sequence[Passage]) -> bytes:
    """The file's content, by the ending of its name. No cell is a formula."""
    filled = list(rows(documents, found))
    return _excel(filled) if path.suffix.lower() == ".xlsx" else _csv(filled)


def _words(document: Document, span: Span) -> str:
    return document.text[span.start : span.end]


def _cut(text: str, around: Span, claim: Span) -> str:
    """The paragraph, or 2,000 characters of it around the claim."""
    start = around.start if around.end - around.start <= _LONGEST else max(around.start, claim.start - _LONGEST // 2)
    return visible(text[start : min(around.end, start + _LONGEST)])


def _csv(filled: Sequence[tuple[str, ...]]) -> bytes:
    """UTF-8 with a byte order mark, without which Excel reads another encoding. What would be a formula gets a space in front."""
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow(COLUMNS)
    writer.writerows([f" {cell}" if cell.startswith(_FORMULA) else cell for cell in row] for row in filled)
    return out.getvalue().encode("utf-8-sig", "replace")


def _excel(filled: Sequence[tuple[str, ...]]) -> bytes:
    from openpyxl import Workbook
    from openpyxl.styles import Alignment, Font, PatternFill

    book = Workbook()
    page: Any = book.active
    page.title = "questions"
    page.append(COLUMNS)
    for row in filled:
        page.append([None] * len(row))
        for cell, value in zip(page[page.max_row], row, strict=True):
            cell.value = visible(value) if value else None
            if value:
                cell.data_type = "s"  # a text, whatever it begins with
            cell.alignment = Alignment(wrap_text=True, vertical="top")
        if row[COLUMNS.index("role")] in ("", "claim"):
            page.cell(page.max_row, COLUMNS.index("question") + 1).fill = PatternFill("solid", fgColor="FFF2CC")
    for place, width in enumerate(_WIDTHS):
        page.column_dimensions["ABCDEFGH"[place]].width = width
    for cell in page[1]:
        cell.font = Font(bold=True)
    page.freeze_panes = "C2"
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()
