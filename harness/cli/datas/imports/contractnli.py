"""`data import contractnli`."""

from __future__ import annotations

import argparse
from pathlib import Path

from harness.cli.datas.imports.base import Format
from harness.cli.options import Options
from harness.importing.base import Imported, Progress
from harness.importing.contractnli import read_contractnli


def _options(words: Options) -> None:
    words.add_argument(
        "--not-mentioned", action="store_true", help="keep hypotheses that a contract does not mention, as questions without an answer"
    )
    words.add_argument("--prefix", default="cnli", help="documents are called PREFIX-ID (default: cnli)")


def _read(options: argparse.Namespace, progress: Progress) -> Imported:
    return read_contractnli(Path(options.source), not_mentioned=options.not_mentioned, prefix=options.prefix, progress=progress)


FORMAT = Format(
    describe=(
        "ContractNLI JSON. Each hypothesis is a question to its own contract (by a filter), the marked sentences are its evidence;\n"
        "those that touch are merged."
    ),
    source="a JSON file (train, dev or test)",
    example="chunk-sweep data import contractnli dev.json --to my-contracts",
    read=_read,
    options=_options,
)
