"""Options for tables of questions and quotes, which several formats share."""

from __future__ import annotations

import argparse
from dataclasses import fields

from harness.cli.options import Options
from harness.importing.asking import Columns, Reading
from harness.importing.quotes import THRESHOLD

_MEANS = {
    "question": "the question",
    "quote": "the passage that answers it, word for word",
    "document": "the document that is quoted: its id, file name or title (optional; without it, all are searched)",
    "id": "an id (optional; rows of one id, or of one question text, belong together)",
    "role": "claim, exception, condition or another word (optional)",
    "kind": "your own grouping of questions (optional)",
    "alternative": "rows of one question that differ here are different answers, any of which will do (optional)",
}


def add_reading_options(words: Options) -> None:
    """Add what `reading_of` reads, with --sheet and --threshold."""
    for name, means in _MEANS.items():
        words.add_argument(f"--column-{name}", default=getattr(Columns(), name), metavar="NAME", help=f"the column with {means}")
    words.add_argument("--separator", metavar="MARK", help="what stands between several quotes in one cell, for example ' || '")
    words.add_argument(
        "--lists", choices=("together", "alternatives"), default="together", help="what several quotes of one cell are (default: together)"
    )
    words.add_argument(
        "--blank", choices=("drop", "unanswerable"), default="drop", help="what a question without a quote is (default: drop, and say so)"
    )
    words.add_argument("--sheet", help="the sheet of an Excel file (default: the first)")
    words.add_argument(
        "--threshold", type=float, default=THRESHOLD, help=f"how alike, of 100, a passage must be to a misquoted one (default: {THRESHOLD:.0f})"
    )


def reading_of(options: argparse.Namespace) -> Reading:
    """What was typed, as a Reading."""
    columns = Columns(**{it.name: getattr(options, f"column_{it.name}") for it in fields(Columns)})
    return Reading(columns, options.separator, options.lists, options.blank)
