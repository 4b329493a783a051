"""`chunk-sweep report export CELL`: chunks, metadata and vectors, for a vector store."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from harness.cli.options import Options, with_outputs, with_own_code
from harness.cli.reports.finding import find_cell
from harness.hydra_front.console import print_lines
from harness.hydra_front.rebuild import planned
from harness.report.export import export_chunks


def parser() -> Options:
    """The options."""
    text = "Writes chunks.parquet and chunks.jsonl: text, document, offsets, metadata and the vector of every chunk."
    words = with_own_code(with_outputs(Options(prog="chunk-sweep report export", description=text)))
    words.add_argument("cell", metavar="CELL", help="a cell's label in quotes, the beginning of its key, or its folder")
    words.add_argument("--to", type=Path, required=True, help="the folder to write to; it is made")
    return words


def main(arguments: Sequence[str]) -> int:
    """Chunk again, take the vectors from the cache (or embed), and write both files."""
    options = parser().parse_args(arguments)
    result = find_cell(options.outputs, options.cell)
    plan = planned(result, options.outputs, own_code=options.own_code)
    count = export_chunks(plan.experiment, options.to)
    found = [f"{count} chunks of {result.cell.label}: {options.to / 'chunks.parquet'}, {options.to / 'chunks.jsonl'}"]
    if plan.key != result.key:
        found.append("note: data, code or libraries have changed since this cell was measured; what was written is what they give today")
    print_lines(found)
    return 0
