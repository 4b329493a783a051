"""`data import hf`."""

from __future__ import annotations

import argparse
from pathlib import Path

from harness.cli.datas.imports.asking import add_reading_options, reading_of
from harness.cli.datas.imports.base import Format
from harness.cli.options import Options
from harness.importing.base import Imported, Progress
from harness.importing.hf import read_hf


def _options(words: Options) -> None:
    words.add_argument("--split", default="train", help="which split (default: train)")
    words.add_argument("--config", help="which configuration of a dataset that has several")
    words.add_argument("--column-context", default="context", metavar="NAME", help="the column with a document's whole text (default: context)")
    words.add_argument("--column-title", metavar="NAME", help="the column with its title")
    words.add_argument("--documents", type=Path, metavar="DOCS", help="documents that the rows name, instead of texts in the rows")
    add_reading_options(words)


def _read(options: argparse.Namespace, progress: Progress) -> Imported:
    return read_hf(
        options.source,
        reading_of(options),
        context=options.column_context,
        title=options.column_title,
        split=options.split,
        config=options.config,
        documents=options.documents,
        threshold=options.threshold,
        progress=progress,
    )


FORMAT = Format(
    describe=(
        "A dataset of the Hugging Face hub, by its name (needs pip install 'chunk-sweep[hf]'), or a local folder of parquet, JSON Lines or\n"
        "CSV files. Each row holds a question, a quote and the text that is quoted; nested columns are named with dots. A dataset's own\n"
        "code is never run."
    ),
    source="a name, a folder or a file",
    example="chunk-sweep data import hf squad-parquet --split validation --column-quote answers.text --lists alternatives --to my-squad",
    read=_read,
    options=_options,
)
