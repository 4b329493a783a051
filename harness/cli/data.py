"""`chunk-sweep data …`: look at a labelled corpus before sweeping over it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from harness.cli.options import Options
from harness.corpus.card import card_markdown
from harness.corpus.check import check
from harness.corpus.folder import load_folder
from harness.hydra_front.console import print_lines


def parser() -> Options:
    """The verb's options."""
    words = Options(prog="chunk-sweep data", description="Look at a labelled corpus and check its labels.")
    verbs = words.add_subparsers(dest="verb", required=True)
    checking = verbs.add_parser("check", help="counts, and what is wrong: exit status 1 on errors, 0 with warnings")
    checking.add_argument("folder", type=Path, help="a folder with documents/ (or corpus.jsonl) and questions.jsonl")
    checking.add_argument("--warn", action="store_true", help="count labels that can't be placed as warnings instead of stopping at them")
    return words


def main(arguments: Sequence[str]) -> int:
    """Print the corpus's card and the findings."""
    options = parser().parse_args(arguments)
    corpus = load_folder(options.folder, on_label_problem="warn" if options.warn else "error")
    findings = check(corpus)
    lines = [card_markdown(corpus), "", *corpus.warnings, *(f"{finding.severity}: {finding.text}" for finding in findings)]
    print_lines(lines)
    return 1 if any(finding.severity == "error" for finding in findings) else 0
