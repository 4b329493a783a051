"""`data import squad`."""

from __future__ import annotations

import argparse
from pathlib import Path

from harness.cli.datas.imports.base import Format
from harness.cli.options import Options
from harness.importing.base import Imported, Progress
from harness.importing.squad import read_squad


def _options(words: Options) -> None:
    text = "what an answer's evidence is: the sentence around it, or the answer's own words (default: sentence)"
    words.add_argument("--evidence", choices=("sentence", "answer"), default="sentence", help=text)
    words.add_argument("--prefix", default="squad", help="documents are called PREFIX-0000 and on (default: squad)")


def _read(options: argparse.Namespace, progress: Progress) -> Imported:
    return read_squad(Path(options.source), evidence=options.evidence, prefix=options.prefix, progress=progress)


FORMAT = Format(
    describe=(
        "SQuAD JSON and all that took its form (v1, v2, XQuAD, JaQuAD). The paragraphs of an article become one document;\n"
        "questions marked impossible become unanswerable ones."
    ),
    source="a JSON file, or a folder of them",
    example="chunk-sweep data import squad dev-v2.0.json --to my-squad",
    read=_read,
    options=_options,
)
