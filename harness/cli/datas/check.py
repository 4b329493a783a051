"""`chunk-sweep data check FOLDER`: counts, and what is wrong with the labels."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from harness.cli.options import Options
from harness.corpus.card import card_markdown
from harness.corpus.check import check
from harness.corpus.folder import load_folder
from harness.hydra_front.console import print_lines
from harness.importing.fixing import fix_folder, fix_lines


def parser() -> Options:
    """The options."""
    text = "Counts, and what is wrong: exit status 1 on errors, 0 with warnings."
    words = Options(prog="chunk-sweep data check", description=text)
    words.add_argument("folder", type=Path, help="a folder with documents/ (or corpus.jsonl) and questions.jsonl")
    words.add_argument("--warn", action="store_true", help="count labels that can't be placed as warnings instead of stopping at them")
    fixing = (
        "write the offsets of quotes that stand in their document but for white space, typography or markup into questions.jsonl; keeps the old file"
    )
    words.add_argument("--fix", action="store_true", help=fixing)
    words.add_argument("--fix-fuzzy", action="store_true", help="with --fix, take near matches too (look at what it says)")
    return words


def main(arguments: Sequence[str]) -> int:
    """Print the corpus's card and the findings."""
    options = parser().parse_args(arguments)
    if options.fix or options.fix_fuzzy:
        print_lines(fix_lines(fix_folder(options.folder, fuzzy=options.fix_fuzzy)))
    corpus = load_folder(options.folder, on_label_problem="warn" if options.warn else "error")
    findings = check(corpus)
    lines = [card_markdown(corpus), "", *corpus.warnings, *(f"{finding.severity}: {finding.text}" for finding in findings)]
    print_lines(lines)
    return 1 if any(finding.severity == "error" for finding in findings) else 0
