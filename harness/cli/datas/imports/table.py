"""`data import csv`, `xlsx` and `jsonl`."""

from __future__ import annotations

import argparse
from pathlib import Path

from harness.cli.datas.imports.asking import add_reading_options, reading_of
from harness.cli.datas.imports.base import Format
from harness.cli.options import Options
from harness.errors import ConfigError
from harness.importing.base import Imported, Progress
from harness.importing.table_import import read_table


def _options(words: Options) -> None:
    text = "the documents that are quoted: a folder of text or Markdown files, a corpus.jsonl, or a corpus of this program"
    words.add_argument("--documents", type=Path, required=True, metavar="DOCS", help=text)
    add_reading_options(words)


def _read(options: argparse.Namespace, progress: Progress) -> Imported:
    source = Path(options.source)
    endings = (".csv", ".tsv") if options.format == "csv" else (f".{options.format}",)
    if source.suffix.lower() not in endings:
        raise ConfigError("SOURCE", source, f"a name that ends in {' or '.join(endings)} is expected for {options.format}")
    return read_table(source, options.documents, reading_of(options), sheet=options.sheet, threshold=options.threshold, progress=progress)


FORMAT = Format(
    describe=(
        "A table with the columns question, quote and (optional) document, one quote a row. Rows of one question are needed together.\n"
        "Quotes are found word for word, or but for white space, typography and markup, or nearly; each ends as exact, normalised,\n"
        "fuzzy, ambiguous or not found, and the report says which. An ellipsis in a quote makes two pieces of evidence of it."
    ),
    source="a .csv, .tsv, .xlsx or .jsonl file",
    example="chunk-sweep data import csv questions.csv --documents docs --to my-corpus",
    read=_read,
    options=_options,
)
