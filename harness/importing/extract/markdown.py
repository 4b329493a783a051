"""Markdown, as it is. The values of YAML front matter are copied into the metadata; the text keeps it, so offsets are those of the file."""

from __future__ import annotations

import re
from typing import Any

import yaml

from harness.importing.extract.base import Extracted, Source
from harness.importing.extract.encoding import decode
from harness.importing.extract.plainly import plain

_FRONT = re.compile(r"---[ \t]*\r?\n(.*?)(?:^|\n)(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.DOTALL)
_LONGEST = 1 << 16
_HEADING = re.compile(r"^#[ \t]+(.+?)(?:[ \t]+#+)?[ \t]*\r?$", re.MULTILINE)
_FENCE = re.compile(r"^ {0,3}(```+|~~~+)[^\n]*\n.*?(?:^ {0,3}\1[`~]*[ \t]*\r?$|\Z)", re.MULTILINE | re.DOTALL)


def extract(source: Source) -> Extracted:
    """The text of the file, unchanged; the title is that of the front matter, or else the first heading of level 1."""
    text, notes = decode(source.raw)
    values, more = front_matter(text)
    title = values.get("title")
    return Extracted(text, title if isinstance(title, str) and title.strip() else first_heading(text), values, (*notes, *more))


def front_matter(text: str) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The values of YAML front matter (safe loading, so no objects; bounded) and a note where it can't be read. No front matter gives no values."""
    found = _FRONT.match(text[:_LONGEST]) if text.startswith("---") else None
    if not found:
        return {}, ()
    try:
        values = yaml.safe_load(found.group(1))
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        reason = str(getattr(error, "problem", None) or "it can't be read").splitlines()[0]
        return {}, (f"its front matter is no YAML ({reason}); it stays in the text and gives no metadata",)
    return (plain(values), ()) if isinstance(values, dict) else ({}, ())


def first_heading(text: str) -> str:
    """The first heading of level 1 outside fenced code, or ""."""
    found = _HEADING.search(_FENCE.sub("", text[: 4 * _LONGEST]))
    return found.group(1).strip() if found else ""
