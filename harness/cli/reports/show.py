"""`chunk-sweep report SWEEP`: the leaderboard and verdict again, by another metric or other limits if asked."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace

from harness import results
from harness.choosing import Limit
from harness.cli.options import Options, with_outputs
from harness.errors import CommandLineError
from harness.evaluation import Scoring
from harness.hydra_front.console import print_summary
from harness.report.unmeasured import left_out
from harness.report.verdict import Section, result_sections
from harness.summary import selected
from harness.sweep import Select, summarise


def parser() -> Options:
    """The options."""
    words = with_outputs(Options(prog="chunk-sweep report", description="The leaderboard and verdict of a sweep, without running anything."))
    words.add_argument("sweep", help="the name of a sweep, or the beginning of it (chunk-sweep report list)")
    words.add_argument("--metric", help="choose the winner by another metric, for example complete_at_5")
    words.add_argument("--max", action="append", default=[], metavar="METRIC=VALUE", help="a limit that the named cell must keep; may be repeated")
    words.add_argument("--min", action="append", default=[], metavar="METRIC=VALUE", help="the same, from below")
    return words


def main(arguments: Sequence[str]) -> int:
    """Choose again from stored results."""
    options = parser().parse_args(arguments)
    stored = results.sweep(options.outputs, options.sweep)
    found = results.cells(options.outputs, stored)
    scoring = found[0].cell.config["scoring"] if found else {"resamples": 2000, "seed": 0}
    summary = summarise(found, _select(options, stored), Scoring(scoring["resamples"], scoring["seed"]))
    gone = stored.record.get("screened_out") or []
    parts = result_sections(replace(summary, effects=None) if gone else summary)
    if gone:  # where the grid ends, and what an axis does, can't be told from the better cells
        parts = [Section("Cells", tuple(left_out(gone))), *(part for part in parts if part.title != "Next")]
    if (status := stored.record.get("status")) in ("stopped", "failed"):
        told = f"This sweep {'was stopped' if status == 'stopped' else 'had failing cells'}: not every cell of its grid is here."
        parts = [Section("Cells", (f"{told} The same command goes on with it: {stored.record.get('command', '')}",)), *parts]
    print_summary(summary, parts, f"{stored.name}: {len(summary.standings)} cells")
    return 0


def _select(options: argparse.Namespace, stored: results.StoredSweep) -> Select:
    chosen = selected(stored.record["select"])
    asked = [*(_limit(word, at_most=True) for word in options.max), *(_limit(word, at_most=False) for word in options.min)]
    return replace(chosen, metric=options.metric or chosen.metric, limits=tuple(asked) or chosen.limits)


def _limit(word: str, *, at_most: bool) -> Limit:
    metric, _, value = word.partition("=")
    try:
        return Limit(metric, float(value), at_most)
    except ValueError as error:
        raise CommandLineError(f"--{'max' if at_most else 'min'} {word}: METRIC=VALUE would do, for example storage_ratio=1.3") from error
