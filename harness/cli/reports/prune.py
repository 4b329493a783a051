"""`chunk-sweep report prune`: delete what no kept sweep needs."""

from __future__ import annotations

from collections.abc import Sequence

from harness.cli.options import Options, with_outputs
from harness.errors import ConfigError
from harness.hydra_front.console import print_lines
from harness.tracking.pruning import prune


def parser() -> Options:
    """The options."""
    text = "Keeps the newest sweeps with their cells and rankings, deletes the rest under outputs/. The cache of vectors and MLflow's store stay."
    words = with_outputs(Options(prog="chunk-sweep report prune", description=text))
    words.add_argument("--keep", type=int, default=10, help="how many sweeps to keep, the newest first (default: 10)")
    words.add_argument("--yes", action="store_true", help="delete; without it, only say what would go")
    return words


def main(arguments: Sequence[str]) -> int:
    """Say what would go, or delete it."""
    options = parser().parse_args(arguments)
    if options.keep < 0:
        raise ConfigError("--keep", options.keep, "a whole number, 0 or more")
    gone = prune(options.outputs, options.keep, delete=options.yes)
    size = sum(bytes_ for _, bytes_ in gone) / 1e6
    counts = ", ".join(f"{sum(place.parent.name == kind for place, _ in gone)} {kind}" for kind in ("sweeps", "cells", "rankings"))
    print_lines([f"{'deleted' if options.yes else 'would delete'} {counts}: {size:.1f} MB" + ("" if options.yes else " (--yes does it)")])
    return 0
