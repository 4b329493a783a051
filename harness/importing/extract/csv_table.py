"""Comma-, semicolon-, tab- or bar-separated values as one Markdown table."""

from __future__ import annotations

import csv
import io

from harness.importing.extract.base import Extracted, Source, UnreadableError
from harness.importing.extract.encoding import decode
from harness.importing.extract.pipes import pipe_table

_SAMPLE = 1 << 13
_DELIMITERS = ",;\t|"


def extract(source: Source) -> Extracted:
    """One table. Its first row is taken for the header."""
    text, notes = decode(source.raw)
    csv.field_size_limit(1 << 24)
    try:
        rows = [
            row for row in csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text, source.suffix)) if any(cell.strip() for cell in row)
        ]
    except csv.Error as error:
        raise UnreadableError(f"is no table that can be read ({error})") from error
    table = pipe_table(rows)
    return Extracted(f"{table}\n" if table else "", metadata={"rows": len(rows)}, notes=notes)


def _delimiter(text: str, suffix: str) -> str:
    if suffix == ".tsv":
        return "\t"
    sample = text[:_SAMPLE]
    try:
        return csv.Sniffer().sniff(sample[: sample.rfind("\n") + 1] or sample, _DELIMITERS).delimiter
    except csv.Error:
        return max(_DELIMITERS, key=sample.split("\n", 1)[0].count)
