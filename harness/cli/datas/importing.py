"""`chunk-sweep data import FORMAT SOURCE --to FOLDER`."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from harness.cli.datas.imports.base import Format
from harness.cli.datas.progress import shown_progress
from harness.cli.options import Options
from harness.errors import CommandLineError, ConfigError
from harness.hydra_front.console import print_lines
from harness.importing.report import summary
from harness.importing.writing import check_target, write_corpus

FORMATS = {
    "folder": "a folder of your own documents (Markdown, HTML, PDF, office files, code …) with a spreadsheet of questions and quotes",
    "csv": "a spreadsheet with columns question, quote, document, beside a folder of text files; also xlsx and jsonl",
    "xlsx": "the same from an Excel file",
    "jsonl": "the same, one JSON object a line",
    "squad": "SQuAD JSON (v1, v2, XQuAD, JaQuAD and others of that form)",
    "beir": "a BEIR folder: corpus.jsonl, queries.jsonl, qrels/; whole documents are the evidence",
    "chroma": "the corpora and questions_df.csv of Chroma's chunking_evaluation",
    "contractnli": "ContractNLI JSON",
    "legalbench-rag": "a LegalBench-RAG benchmark JSON with its corpus folder",
    "hf": "a Hugging Face dataset, by name or as a local folder",
}
_MODULES = {"csv": "table", "xlsx": "table", "jsonl": "table", "legalbench-rag": "legalbench"}
_HELP = """chunk-sweep data import FORMAT SOURCE --to FOLDER: makes a labelled corpus of what you have.

{words}

The folder then holds corpus.jsonl, questions.jsonl and import_report.md, which names everything that was dropped, repaired or not found, and why.
Nothing is written unless every label is exactly the text at its offsets. `chunk-sweep data import FORMAT --help` says more, with an example.
"""


def help_text() -> str:
    """What `chunk-sweep data import --help` prints."""
    return _HELP.format(words="\n".join(f"  {word:<15} {meaning}" for word, meaning in FORMATS.items()))


def parser(word: str, form: Format) -> Options:
    """The options of one format."""
    words = Options(
        prog=f"chunk-sweep data import {word}",
        description=form.describe,
        epilog=f"Example:\n  {form.example}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    words.add_argument("source", metavar="SOURCE", help=form.source)
    words.add_argument("--to", type=Path, required=True, metavar="FOLDER", help="the folder to write the corpus to; it is made")
    words.add_argument("--name", help="what to call the corpus (default: like the folder)")
    words.add_argument("--overwrite", action="store_true", help="replace a corpus that an earlier import wrote to that folder")
    words.add_argument("--files", action="store_true", help="store documents as files under documents/ instead of corpus.jsonl")
    form.options(words)
    return words


def main(arguments: Sequence[str]) -> int:
    """Read, verify, write, and say what came of it. Exit status 1 where quotes have no single place."""
    if not arguments or arguments[0] in ("-h", "--help"):
        sys.stdout.write(help_text())
        return 0
    word = arguments[0]
    if word not in FORMATS:
        raise CommandLineError(f"there is no format {word!r}; {', '.join(FORMATS)} would do (chunk-sweep data import --help)")
    form: Format = importlib.import_module(f"harness.cli.datas.imports.{_MODULES.get(word, word)}").FORMAT
    options = parser(word, form).parse_args(arguments[1:])
    options.format = word
    folder = Path(os.path.expanduser(options.to))
    check_target(folder, overwrite=options.overwrite)
    _keep_apart(options, folder)
    with shown_progress() as progress:
        imported = form.read(options, progress)
        imported = replace(imported, name=options.name or folder.resolve().name)
        progress("writing and checking", 0, 0)
        corpus = write_corpus(imported, folder, overwrite=options.overwrite, files=options.files)
    print_lines([f"{folder}: a labelled corpus", *(f"  {line}" for line in summary(imported, corpus)), f"  report: {folder / 'import_report.md'}"])
    if imported.unplaced:
        print_lines(
            [f"  {len(imported.unplaced)} questions left out, for a quote of theirs has no single place: mend them in {folder / 'unplaced.jsonl'}"]
        )
    return 1 if imported.unplaced else 0


def _keep_apart(options: argparse.Namespace, folder: Path) -> None:
    """Refuse to write over what is read."""
    target = folder.resolve()
    for name in ("source", "documents", "questions", "corpus"):
        given = getattr(options, name, None)
        if isinstance(given, str | Path) and Path(given).exists() and Path(given).resolve().is_relative_to(target):
            raise ConfigError("--to", folder, f"holds {given}, which is read; name another folder")
