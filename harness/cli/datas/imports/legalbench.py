"""`data import legalbench-rag`."""

from __future__ import annotations

import argparse
from pathlib import Path

from harness.cli.datas.imports.base import Format
from harness.cli.options import Options
from harness.importing.base import Imported, Progress
from harness.importing.legalbench import read_legalbench


def _options(words: Options) -> None:
    words.add_argument(
        "--corpus", type=Path, metavar="FOLDER", help="the folder that file paths are below (default: corpus, beside the benchmark's folder)"
    )


def _read(options: argparse.Namespace, progress: Progress) -> Imported:
    return read_legalbench(Path(options.source), corpus=options.corpus, progress=progress)


FORMAT = Format(
    describe="A LegalBench-RAG benchmark. The snippets of a query are needed together; all texts in the folders that it names are searched.",
    source="a benchmark JSON file",
    example="chunk-sweep data import legalbench-rag benchmarks/cuad.json --corpus corpus --to my-cuad",
    read=_read,
    options=_options,
)
