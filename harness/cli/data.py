"""`chunk-sweep data …`: from your own documents to a labelled corpus that can be trusted."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence

from harness.errors import CommandLineError

WORDS = {
    "import": "bring in documents and questions: SQuAD, BEIR, a spreadsheet of quotes, …",
    "draft": "passages to label, as a spreadsheet to fill in",
    "check": "counts, and what is wrong with a labelled corpus",
    "show": "a question and its evidence in context",
}
_MODULES = {"import": "importing"}
_HELP = """chunk-sweep data: from your own documents to a labelled corpus that can be trusted.

{words}

`chunk-sweep data WORD --help` says more. The format of a corpus: docs/labelled-corpora.md.
"""


def help_text() -> str:
    """What `chunk-sweep data --help` prints."""
    return _HELP.format(words="\n".join(f"  chunk-sweep data {word:<8} {meaning}" for word, meaning in WORDS.items()))


def main(arguments: Sequence[str]) -> int:
    """Find the word and run it."""
    if not arguments:
        raise CommandLineError(f"a verb is missing; {', '.join(WORDS)} would do (chunk-sweep data --help)")
    if arguments[0] in ("-h", "--help"):
        sys.stdout.write(help_text())
        return 0
    word = arguments[0]
    if word not in WORDS:
        raise CommandLineError(f"there is no verb {word!r}; {', '.join(WORDS)} would do (chunk-sweep data --help)")
    status: int = importlib.import_module(f"harness.cli.datas.{_MODULES.get(word, word)}").main(arguments[1:])
    return status
