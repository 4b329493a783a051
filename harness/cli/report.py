"""`chunk-sweep report …`: stored sweeps, shown again without running anything."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from harness import results
from harness.cli.options import Options
from harness.evaluation import Scoring
from harness.hydra_front.console import print_lines, print_summary
from harness.report.verdict import result_sections
from harness.sweep import Select, summarise


def parser() -> Options:
    """The verb's options."""
    words = Options(prog="chunk-sweep report", description="Show stored sweeps again, without running anything.")
    words.add_argument("sweep", help="`list`, or the name of a sweep (its beginning will do)")
    words.add_argument("--outputs", type=Path, default=Path("outputs"), help="the folder that holds results (default: outputs)")
    words.add_argument("--metric", help="choose the winner by another metric, for example complete_at_5")
    return words


def main(arguments: Sequence[str]) -> int:
    """List the sweeps, or print the leaderboard and verdict of one."""
    options = parser().parse_args(arguments)
    if options.sweep == "list":
        stored = results.sweeps(options.outputs)
        print_lines(
            [f"{item.name}  {item.record['status']}  {len(item.record['cells'])} cells  {item.record['name']}" for item in stored]
            or ["no sweeps yet"]
        )
        return 0
    stored_sweep = results.sweep(options.outputs, options.sweep)
    chosen = stored_sweep.record["select"]
    strategy, size, overlap = chosen["baseline"]
    select = Select(options.metric or chosen["metric"], chosen["alpha"], (strategy, size, overlap))
    found = results.cells(options.outputs, stored_sweep)
    scoring = found[0].cell.config["scoring"] if found else {"resamples": 2000, "seed": 0}
    summary = summarise(found, select, Scoring(scoring["resamples"], scoring["seed"]))
    print_summary(summary, result_sections(summary), f"{stored_sweep.name}: {len(summary.standings)} cells")
    return 0
