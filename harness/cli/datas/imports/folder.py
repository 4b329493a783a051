"""`data import folder`."""

from __future__ import annotations

import argparse
from pathlib import Path

from harness.cli.datas.imports.asking import add_reading_options, reading_of
from harness.cli.datas.imports.base import Format
from harness.cli.options import Options
from harness.importing.base import Imported, Progress
from harness.importing.extract.formats import FORMS
from harness.importing.extract.pool import Limits
from harness.importing.folder import import_folder
from harness.importing.walk import Choice


def _options(words: Options) -> None:
    words.add_argument(
        "--questions", type=Path, metavar="FILE", help="a .csv, .tsv, .xlsx or .jsonl file of questions and quotes (left out: no questions yet)"
    )
    words.add_argument(
        "--include",
        action="append",
        default=[],
        metavar="PATTERN",
        help="only paths, file or folder names like this, for example '*.md' (may be repeated)",
    )
    words.add_argument(
        "--exclude", action="append", default=[], metavar="PATTERN", help="all but these, for example drafts or '*.json' (may be repeated)"
    )
    words.add_argument("--sample", type=int, metavar="N", help="only N of the files, at random")
    words.add_argument("--seed", type=int, default=0, help="which N (default: 0)")
    words.add_argument(
        "--max-megabytes", type=float, default=Limits().max_megabytes, help=f"larger files are left out (default: {Limits().max_megabytes:g})"
    )
    words.add_argument(
        "--max-seconds", type=float, default=Limits().max_seconds, help=f"a file that takes longer is given up (default: {Limits().max_seconds:g})"
    )
    add_reading_options(words)


def _read(options: argparse.Namespace, progress: Progress) -> Imported:
    choice = Choice(tuple(options.include), tuple(options.exclude), options.sample, options.seed)
    limits = Limits(options.max_megabytes, options.max_seconds)
    return import_folder(
        options.source,
        options.questions,
        choice,
        limits,
        reading_of(options),
        sheet=options.sheet,
        threshold=options.threshold,
        progress=progress,
    )


_READ = "; ".join(f"{form.name} ({' '.join(form.suffixes[:4])}{' …' if len(form.suffixes) > 4 else ''})" for form in FORMS)

FORMAT = Format(
    describe=(
        "Your own documents as they lie in a folder, at any depth, with a table of questions and the passages that answer them.\n"
        f"Read are: {_READ}.\n"
        "Each file becomes one document: text in Markdown, fixed from then on, so that offsets stay valid.\n"
        "Files that can't be read are named and left out.\n"
        "Needs pip install 'chunk-sweep[documents]' for all but text, Markdown, CSV and code."
    ),
    source="the folder",
    example="chunk-sweep data import folder ~/handbook --questions questions.xlsx --exclude drafts --to my-corpus",
    read=_read,
    options=_options,
)
