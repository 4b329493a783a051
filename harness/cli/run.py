"""`chunk-sweep run …`: hands its line to Hydra."""

from __future__ import annotations

from collections.abc import Sequence


def main(words: Sequence[str]) -> int:
    """Run one cell, or a grid with --multirun."""
    from harness.hydra_front.app import run

    return run(list(words))
