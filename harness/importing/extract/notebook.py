"""Jupyter notebooks: Markdown cells as they are, code cells fenced, and what they printed fenced below them."""

from __future__ import annotations

import re
import warnings
from typing import Any

import nbformat

from harness.importing.extract.base import Extracted, Source, UnreadableError
from harness.importing.extract.encoding import decode
from harness.importing.extract.markdown import first_heading

_ANSI = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]")
_UNFIT = re.compile(r"[^\w+#-]")
_LONGEST = 5_000


def extract(source: Source) -> Extracted:
    """The cells in order. Images, HTML and widgets of outputs are left out: where a cell has them its plain text stands in. Long outputs are cut."""
    text, notes = decode(source.raw)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # notebooks of older forms are read all the same
            book: Any = nbformat.reads(text, as_version=4)
        language = str(book.metadata.get("kernelspec", {}).get("language") or book.metadata.get("language_info", {}).get("name") or "")
        parts = [part for cell in book.cells for part in _cell(cell, language)]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise UnreadableError(f"is no notebook that can be read ({type(error).__name__})") from error
    cut = sum(part.endswith(_CUT) for part in parts)
    more = (f"{cut} outputs of more than {_LONGEST:,} characters are cut",) if cut else ()
    whole = "\n\n".join(parts) + "\n" if parts else ""
    return Extracted(whole, first_heading(whole), {"code": language} if language else {}, (*notes, *more))


_CUT = "[…]\n```"


def _cell(cell: Any, language: str) -> list[str]:
    source = _joined(cell.source)
    if cell.cell_type != "code":
        return [source.strip("\n")] if source.strip() else []
    parts = [_fenced(source, language)] if source.strip() else []
    return parts + [_fenced(shown, "output") for shown in map(_shown, cell.get("outputs", [])) if shown.strip()]


def _shown(output: Any) -> str:
    """The text of an output, without colours."""
    if output.output_type == "stream":
        text = _joined(output.text)
    elif output.output_type == "error":
        text = f"{output.ename}: {output.evalue}"
    else:
        text = _joined(output.get("data", {}).get("text/plain", ""))
    text = _ANSI.sub("", text)
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "[…]"


def _joined(text: Any) -> str:
    return "".join(text) if isinstance(text, list) else str(text)


def _fenced(text: str, language: str) -> str:
    fence = "```"
    while fence in text:
        fence += "`"
    name = _UNFIT.sub("", language)
    body = text.strip("\n")
    return f"{fence}{name}\n{body}\n{fence}"
