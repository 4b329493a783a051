"""`data import beir`."""

from __future__ import annotations

import argparse
from pathlib import Path

from harness.cli.datas.imports.base import Format
from harness.cli.options import Options
from harness.importing.base import Imported, Progress
from harness.importing.beir import read_beir


def _options(words: Options) -> None:
    words.add_argument("--split", help="which file of qrels/ (default: test)")
    words.add_argument("--together", action="store_true", help="all relevant documents of a query are needed together; else any one will do")


def _read(options: argparse.Namespace, progress: Progress) -> Imported:
    return read_beir(Path(options.source), split=options.split, together=options.together, progress=progress)


FORMAT = Format(
    describe=(
        "A BEIR set. It judges whole documents, so the evidence is a whole document: a chunk holds it only where it holds the whole\n"
        "document. Existence then tells how many documents a size leaves whole, and no more."
    ),
    source="a folder with corpus.jsonl, queries.jsonl and qrels/",
    example="chunk-sweep data import beir scifact --to my-scifact",
    read=_read,
    options=_options,
)
