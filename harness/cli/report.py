"""`chunk-sweep report …`: what was measured, looked at again without running anything."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence

WORDS = {
    "list": "the stored sweeps",
    "compare": "two cells, paired, with the questions that flip",
    "explain": "what a cell did with a question, and where a boundary cut its answer",
    "export": "a cell's chunks, metadata and vectors for a vector store",
    "prune": "delete what no kept sweep needs",
}
_HELP = """chunk-sweep report: what was measured, looked at again without running anything.

  chunk-sweep report SWEEP              the leaderboard and verdict of a sweep (its name, or the beginning of it)
{words}

A CELL is a cell's label in quotes, the beginning of its key, or a folder under outputs/cells/. `chunk-sweep report WORD --help` says more.
"""


def help_text() -> str:
    """What `chunk-sweep report --help` prints."""
    return _HELP.format(words="\n".join(f"  chunk-sweep report {word:<18} {meaning}" for word, meaning in WORDS.items()))


def main(arguments: Sequence[str]) -> int:
    """Find the word; anything else is the name of a sweep."""
    if not arguments or arguments[0] in ("-h", "--help"):
        sys.stdout.write(help_text())
        return 0
    word = arguments[0] if arguments[0] in WORDS else "show"
    module = importlib.import_module(f"harness.cli.reports.{'listing' if word == 'list' else word}")
    status: int = module.main(arguments if word == "show" else arguments[1:])
    return status
