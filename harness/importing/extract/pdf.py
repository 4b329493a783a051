"""PDF as Markdown: columns in reading order, headings, ruled tables, code, page breaks; running heads and feet left out.

pdfminer.six groups letters into lines and blocks; `pdf_order` puts the blocks in order, `pdf_blocks` turns them into Markdown, pdfplumber finds
tables that are drawn with lines. docs/decisions/0013-extraction.md has the comparison behind this.
"""

from __future__ import annotations

import io
import logging
from collections.abc import Iterator
from typing import Any

import pdfplumber
from pdfminer.pdfdocument import PDFEncryptionError, PDFPasswordIncorrect
from pdfplumber.utils.exceptions import PdfminerException

from harness.importing.extract.base import PAGE_BREAK, Extracted, Source, UnreadableError
from harness.importing.extract.pdf_blocks import Block, render
from harness.importing.extract.pdf_headings import Headings
from harness.importing.extract.pdf_layout import read_page
from harness.importing.extract.pdf_margins import drop_running
from harness.importing.extract.pdf_words import Hyphens
from harness.importing.extract.plainly import plain

_SEPARATOR = f"\n\n{PAGE_BREAK}\n\n"
_SHOWN = 12


def extract(source: Source) -> Extracted:
    """The pages, parted by PAGE_BREAK. Raises UnreadableError for encrypted files, damaged ones, and those without any text (scans)."""
    logging.getLogger("pdfminer").setLevel(logging.CRITICAL)  # damage that it can work around is not worth a line
    if b"%PDF-" not in source.raw[:1024]:
        raise UnreadableError("is no PDF, in spite of its name")
    try:
        with pdfplumber.open(io.BytesIO(source.raw), laparams={}) as file:
            pages, broken = _read(file)
            outline, properties = _outline(file.doc), dict(file.metadata or {})
    except PdfminerException as error:
        if any(isinstance(cause, MemoryError) for cause in error.args):
            raise MemoryError from error
        raise UnreadableError(_reason(error.args[0] if error.args else error)) from error
    except (ValueError, KeyError, TypeError, AttributeError, IndexError, AssertionError, RecursionError, OSError) as error:
        raise UnreadableError(f"is damaged and can't be read ({type(error).__name__})") from error
    if not any(page for page in pages):
        raise UnreadableError(
            f"has no text on its {len(pages)} pages: scanned, it seems; run OCR over it first (for example ocrmypdf)" if pages else "has no pages"
        )
    return _written(pages, broken, outline, properties)


def _read(file: Any) -> tuple[list[list[Block]], list[int]]:
    """The blocks of every page, and the numbers of the pages that can't be read."""
    pages: list[list[Block]] = []
    broken = []
    for number, page in enumerate(file.pages, start=1):
        try:
            pages.append(read_page(page))
        except (ValueError, KeyError, TypeError, AttributeError, IndexError, AssertionError, RecursionError) as error:
            if isinstance(error, RecursionError):
                raise
            pages.append([])
            broken.append(number)
        page.close()
    return pages, broken


def _written(pages: list[list[Block]], broken: list[int], outline: list[tuple[int, str]], properties: dict[str, Any]) -> Extracted:
    dropped = drop_running(pages)
    headings, hyphens = Headings(pages, outline), Hyphens(pages)
    texts = [render(page, headings, hyphens) for page in pages]
    text = _SEPARATOR.join(texts) + "\n"
    title = _title(properties) or headings.title(pages)
    metadata: dict[str, Any] = {"pages": len(pages)}
    if date := _date(str(properties.get("CreationDate") or properties.get("ModDate") or "")):
        metadata["date"] = date
    return Extracted(text, title, metadata, tuple(_notes(texts, broken, dropped, hyphens)))


def _notes(texts: list[str], broken: list[int], dropped: int, hyphens: Hyphens) -> Iterator[str]:
    if broken:
        yield f"{len(broken)} of {len(texts)} pages are damaged and left blank ({_numbers(broken)})"
    blank = [number for number, text in enumerate(texts, start=1) if not text.strip() and number not in broken]
    if blank:
        yield f"{len(blank)} of {len(texts)} pages have no text: blank, pictures or scans ({_numbers(blank)})"
    if dropped:
        yield f"{dropped} running heads, feet and page numbers are left out"
    unknown = sum(text.count("\ufffd") for text in texts)
    if unknown:
        yield f"{unknown} letters have no meaning in its fonts and are written \ufffd"


def _numbers(pages: list[int]) -> str:
    shown = ", ".join(map(str, pages[:_SHOWN]))
    return shown if len(pages) <= _SHOWN else f"{shown} and {len(pages) - _SHOWN} more"


def _reason(error: object) -> str:
    if isinstance(error, PDFPasswordIncorrect):
        return "is encrypted; save a copy without its password"
    if isinstance(error, PDFEncryptionError):
        return "is encrypted in a way that can't be read; save a copy without its password"
    return f"is damaged and can't be read ({type(error).__name__})"


def _outline(document: Any) -> list[tuple[int, str]]:
    """(level from 1, title) of the bookmarks; none where there are none or they are damaged."""
    try:
        return [(int(level), str(title)) for level, title, *_ in document.get_outlines()]
    except Exception:  # noqa: BLE001 - a damaged outline (or none, which is an error here) costs headings, not the text
        return []


_NO_TITLES = ("untitled", "microsoft word", "powerpoint presentation", "slide 1", "document1")


def _title(properties: dict[str, Any]) -> str:
    title = plain(" ".join(str(properties.get("Title") or "").replace("\0", "").split()))
    poor = len(title) < 3 or title.lower().startswith(_NO_TITLES) or title.lower().endswith((".dvi", ".doc", ".docx", ".tex", ".indd", ".pdf", ".ps"))
    return "" if poor else str(title)


def _date(value: str) -> str:
    """D:20260131… as 2026-01-31, or "" where it is none."""
    digits = value.removeprefix("D:")[:8]
    good = len(digits) == 8 and digits.isascii() and digits.isdigit() and "01" <= digits[4:6] <= "12" and "01" <= digits[6:] <= "31"
    return f"{digits[:4]}-{digits[4:6]}-{digits[6:]}" if good else ""
