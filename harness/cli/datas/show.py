"""`chunk-sweep data show FOLDER QUESTION`: a question and its evidence in context."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from harness.cli.options import Options
from harness.corpus.folder import load_folder
from harness.errors import ConfigError
from harness.hydra_front.console import plain_console
from harness.importing.showing import CONTEXT, question_of, show

_DESCRIBE = """The question and its evidence in context. Evidence stands between « and », its role in front; on a terminal claims are green,
exceptions red, conditions yellow, the rest cyan. Control characters of documents are spelled out (⟨U+001B⟩)."""
_EXAMPLE = "Example:\n  chunk-sweep data show my-labelled-docs q1"


def parser() -> Options:
    """The options."""
    words = Options(prog="chunk-sweep data show", description=_DESCRIBE, epilog=_EXAMPLE, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("folder", type=Path, help="a folder with documents/ (or corpus.jsonl) and questions.jsonl")
    words.add_argument("question", help="the id of a question, or how it begins")
    words.add_argument("--context", type=int, default=CONTEXT, help="characters to show on either side (default: %(default)s)")
    return words


def main(arguments: Sequence[str]) -> int:
    """Show it."""
    options = parser().parse_args(arguments)
    if options.context < 0:
        raise ConfigError("--context", options.context, "0 or more")
    corpus = load_folder(options.folder, on_label_problem="warn")
    text = show(corpus, question_of(corpus, options.question), context=options.context)
    plain_console().print(text, soft_wrap=True, end="", markup=False)
    return 0
