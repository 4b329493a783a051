"""`chunk-sweep report explain CELL QUESTION`."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from harness.cli.options import Options, with_outputs, with_own_code
from harness.cli.reports.finding import find_cell
from harness.errors import StoreError
from harness.hydra_front.console import print_lines
from harness.hydra_front.rebuild import planned
from harness.report.explain import explain, explain_text
from harness.report.material import load


def parser() -> Options:
    """The options."""
    text = "What a cell did with a question: its evidence, the chunk boundaries around it, what was retrieved, and what went wrong in a sentence."
    words = with_own_code(with_outputs(Options(prog="chunk-sweep report explain", description=text)))
    words.add_argument("cell", metavar="CELL", help="a cell's label in quotes, the beginning of its key, or its folder")
    words.add_argument("question", metavar="QUESTION", help="the question's id")
    words.add_argument("--plain", action="store_true", help="ASCII marks only")
    return words


def main(arguments: Sequence[str]) -> int:
    """Print the explanation."""
    options = parser().parse_args(arguments)
    result = find_cell(options.outputs, options.cell)
    plan = planned(result, options.outputs, own_code=options.own_code)
    if plan.ranking_key != result.ranking_key:
        raise StoreError(f"{result.cell.label}: documents, questions or code have changed since it was measured; run its sweep again, then explain")
    material = load(options.outputs, [result], plan.experiment.corpus)
    if not material.cells:
        raise StoreError(" ".join(material.missing))
    plain = options.plain or (sys.stdout.encoding or "").lower().replace("-", "") != "utf8"
    print_lines([explain_text(explain(material, material.cells[0], options.question), plain=plain)])
    return 0
