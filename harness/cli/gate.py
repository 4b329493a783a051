"""`chunk-sweep gate …`: for people's own CI. Compares a result with a baseline, question by question."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from harness import results
from harness.cli.options import Options
from harness.errors import ConfigError
from harness.hydra_front.console import print_lines
from harness.report.comparison import compare, lines


def parser() -> Options:
    """The verb's options."""
    text = "Exit status 1 where RESULT is behind the baseline by more than --max-drop; the questions that were lost are named."
    words = Options(prog="chunk-sweep gate", description=text)
    words.add_argument("result", type=Path, help="a folder under outputs/cells/ (all its files; its result.json names it too)")
    words.add_argument("--baseline", type=Path, required=True, help="the result to hold it against")
    words.add_argument("--metric", default="complete_within_2048", help="what is compared (default: complete_within_2048)")
    words.add_argument("--max-drop", type=float, default=0.03, help="the largest fall of the mean that is let through (default: 0.03)")
    return words


def main(arguments: Sequence[str]) -> int:
    """Compare, and say which questions were lost."""
    options = parser().parse_args(arguments)
    if not 0 <= options.max_drop < 1:
        raise ConfigError("--max-drop", options.max_drop, "a share from 0 to below 1, for example 0.03")
    found = compare(results.cell(options.result), results.cell(options.baseline), options.metric)
    fell = -found.paired.difference > options.max_drop
    print_lines([*lines(found), f"{'FAILED' if fell else 'passed'}: a fall of up to {options.max_drop} is let through"])
    return 1 if fell else 0
