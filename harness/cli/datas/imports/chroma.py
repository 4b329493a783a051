"""`data import chroma`."""

from __future__ import annotations

import argparse
from pathlib import Path

from harness.cli.datas.imports.base import Format
from harness.importing.base import Imported, Progress
from harness.importing.chroma import read_chroma


def _read(options: argparse.Namespace, progress: Progress) -> Imported:
    return read_chroma(Path(options.source), progress=progress)


FORMAT = Format(
    describe="The corpora and questions of Chroma's chunking_evaluation. The references of a question are needed together.",
    source="a folder with corpora/*.md and questions_df.csv",
    example="chunk-sweep data import chroma chroma --to my-chroma",
    read=_read,
)
