"""`chunk-sweep gate …`: for people's own CI. Compares a result with a baseline, question by question."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from harness import results
from harness.cli.options import Options
from harness.curves import column
from harness.errors import ConfigError
from harness.evaluation import Scoring, resampler_for
from harness.hydra_front.console import print_lines
from harness.report.tables import number
from harness.statistics.paired import paired
from harness.sweep import check_metric
from harness.types import CellResult, Floats

_SHOWN = 20


def parser() -> Options:
    """The verb's options."""
    text = "Exit status 1 where RESULT is behind the baseline by more than --max-drop; the questions that were lost are named."
    words = Options(prog="chunk-sweep gate", description=text)
    words.add_argument("result", type=Path, help="a folder under outputs/cells/, or its result.json")
    words.add_argument("--baseline", type=Path, required=True, help="the result to hold it against")
    words.add_argument("--metric", default="complete_within_2048", help="what is compared (default: complete_within_2048)")
    words.add_argument("--max-drop", type=float, default=0.03, help="the largest fall of the mean that is let through (default: 0.03)")
    return words


def main(arguments: Sequence[str]) -> int:
    """Compare, and say which questions were lost."""
    options = parser().parse_args(arguments)
    if not 0 <= options.max_drop < 1:
        raise ConfigError("--max-drop", options.max_drop, "a share from 0 to below 1, for example 0.03")
    now, before = results.cell(options.result), results.cell(options.baseline)
    first, second = _values(now, options.metric), _values(before, options.metric)
    if now.questions["id"].tolist() != before.questions["id"].tolist():
        raise ConfigError("--baseline", options.baseline, "must have been measured on the same questions")
    found = paired(first, second, resampler_for(now.questions, Scoring()))
    if not found.n:
        raise ConfigError("--metric", options.metric, "has no value for any question in both results, so nothing can be compared")
    lost = now.questions["id"][np.flatnonzero(second > first)].tolist()
    fell = -found.difference > options.max_drop
    lines = [
        f"{options.metric}: {number(float(np.nanmean(second)), 3)} -> {number(float(np.nanmean(first)), 3)}, "
        f"change {found.difference:+.3f} (95% {found.low:+.3f} to {found.high:+.3f}, p={found.p:.3f}, n={found.n})",
        f"{len(lost)} questions lost" + (f": {', '.join(map(str, lost[:_SHOWN]))}" if lost else "") + (" ..." if len(lost) > _SHOWN else ""),
        f"{'FAILED' if fell else 'passed'}: a fall of up to {options.max_drop} is let through",
    ]
    print_lines(lines)
    return 1 if fell else 0


def _values(result: CellResult, metric: str) -> Floats:
    check_metric(metric, [name for name in result.questions.columns if name in result.metrics], key="--metric")
    return column(result, metric)
