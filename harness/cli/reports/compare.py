"""`chunk-sweep report compare CELL CELL`."""

from __future__ import annotations

from collections.abc import Sequence

from harness.cli.options import Options, with_outputs
from harness.cli.reports.finding import find_cell
from harness.hydra_front.console import print_lines
from harness.report.comparison import compare, side_by_side


def parser() -> Options:
    """The options."""
    words = with_outputs(Options(prog="chunk-sweep report compare", description="Two cells over the same questions, paired, with those that flip."))
    words.add_argument("first", metavar="CELL", help="a cell's label in quotes, the beginning of its key, or its folder")
    words.add_argument("second", metavar="CELL", help="the cell that it is held against")
    words.add_argument("--metric", default="complete_within_2048", help="what is compared (default: complete_within_2048)")
    return words


def main(arguments: Sequence[str]) -> int:
    """Print the paired difference and the questions that flip."""
    options = parser().parse_args(arguments)
    first, second = (find_cell(options.outputs, word) for word in (options.first, options.second))
    print_lines([f"{first.cell.label} against {second.cell.label}", *side_by_side(compare(first, second, options.metric))])
    return 0
