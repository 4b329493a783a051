"""`chunk-sweep report list`."""

from __future__ import annotations

from collections.abc import Sequence

from harness import results
from harness.cli.options import Options, with_outputs
from harness.hydra_front.console import print_lines


def main(arguments: Sequence[str]) -> int:
    """One line a sweep, newest first."""
    options = with_outputs(Options(prog="chunk-sweep report list", description="The stored sweeps, newest first.")).parse_args(arguments)
    stored = results.sweeps(options.outputs)
    found = [f"{item.name}  {item.record['status']}  {len(item.record['cells'])} cells  {item.record['name']}" for item in stored]
    print_lines(found or ["no sweeps yet"])
    return 0
