"""`chunk-sweep data draft FOLDER`: passages to label, as a spreadsheet to fill in."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from harness.cli.datas.progress import shown_progress
from harness.cli.datas.writing import check_free, write_new
from harness.cli.options import Options
from harness.corpus.folder import load_folder
from harness.errors import DataError
from harness.hydra_front.console import print_lines
from harness.importing.drafting.choosing import draft
from harness.importing.drafting.sheet import check_ending, sheet
from harness.importing.table_import import documents_at
from harness.types import Document, Question

_DESCRIBE = """Passages to label, as a spreadsheet: write a question into each yellow cell, as your users would ask it, and not in the
passage's words. Rules with a qualifier (except, unless, only if, however …) come first: the rule and the qualifier are two rows of one id, and so
become two pieces of evidence of one answer. Passages are spread over documents, sections and topics; those that have a question
already are left out. Rows that you leave empty are dropped on import."""
_EXAMPLE = """Example:
  chunk-sweep data draft my-docs --n 50 --to to-label.xlsx
  chunk-sweep data import xlsx to-label.xlsx --documents my-docs --to my-corpus"""


def parser() -> Options:
    """The options."""
    words = Options(prog="chunk-sweep data draft", description=_DESCRIBE, epilog=_EXAMPLE, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("folder", type=Path, help="a corpus, labelled or not, or a folder of text or Markdown files")
    words.add_argument("--to", type=Path, required=True, metavar="FILE", help="the spreadsheet to write: .xlsx or .csv")
    words.add_argument("--n", type=int, default=50, help="how many passages (default: 50)")
    words.add_argument("--seed", type=int, default=0, help="another seed gives other passages (default: 0)")
    words.add_argument("--overwrite", action="store_true", help="replace that file if it is there (what was filled in is lost)")
    return words


def main(arguments: Sequence[str]) -> int:
    """Choose, write, and say what to do next."""
    options = parser().parse_args(arguments)
    check_ending(options.to)
    path = check_free(options.to, replace=options.overwrite)
    with shown_progress() as progress:
        progress("reading", 0, 0)
        documents, questions = _read(options.folder)
        found = draft(documents, questions, options.n, seed=options.seed, progress=progress)
    if not found:
        raise DataError(options.folder, "has no passage of prose (a sentence of 40 to 500 characters that stands once) that has no question yet")
    write_new(path, sheet(path, documents, found), replace=options.overwrite)
    qualified, homes = sum(it.qualifier is not None for it in found), len({it.claim.doc for it in found})
    fewer = f" ({options.n} were asked for; there are no more)" if len(found) < options.n else ""
    print_lines(
        [
            f"{path}: {len(found)} passages{fewer} from {homes} of {len(documents)} documents, {qualified} of them rules with a qualifier",
            f"  fill in the column question, then: chunk-sweep data import {path.suffix.lower()[1:]} {path} --documents {options.folder} --to FOLDER",
        ]
    )
    return 0


def _read(folder: Path) -> tuple[Sequence[Document], Sequence[Question]]:
    if (folder / "questions.jsonl").is_file():
        corpus = load_folder(folder, on_label_problem="warn")
        return corpus.documents, corpus.questions
    return documents_at(folder)[0], ()
