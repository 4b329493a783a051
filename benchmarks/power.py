"""Is the smallest difference that `sizing` promises found in 80% of sweeps? And with the number of questions that it asks for?

    python benchmarks/power.py

The first cell is ahead of each of the others by the promised difference. Found: it is the only member of the tie group.
"""

from __future__ import annotations

import math

import numpy as np
from simulated import QUESTIONS, documents_of, outcomes, sampler_of, table

from harness.statistics.paired import tie_group
from harness.statistics.sizing import Sizing, sizing
from harness.types import Floats

BEST = 0.7
SWEEPS, PILOTS = 300, 30
FLIPS = 500
WANTED = 0.1
"""The difference that `needed` is asked for. With 0.05 sweeps would be four times as long."""


def truth(cells: int, behind: float) -> Floats:
    return np.array([BEST, *[BEST - behind] * (cells - 1)])


def sized(random: np.random.Generator, cells: int, documents: int, behind: float) -> Sizing:
    """What one sweep says of itself, from its best and its second cell."""
    document = documents_of(random, documents)
    values, sampler = outcomes(random, truth(cells, behind), document)[:, :, 0], sampler_of(document)
    group = tie_group(values, sampler, flips=FLIPS)
    rival = int(np.argsort(-values.mean(axis=1), kind="stable")[1])
    return sizing(values[group.best] - values[rival], sampler, target=WANTED, separation=group.separation)


def promised(random: np.random.Generator, cells: int, documents: int) -> tuple[float, int]:
    """The median of `smallest` and of `needed` over pilot sweeps whose cells differ by about as much."""
    behind = WANTED
    for _ in range(2):
        pilots = [sized(random, cells, documents, behind) for _ in range(PILOTS)]
        behind = float(np.nanmedian([pilot.smallest for pilot in pilots]))
    return behind, int(np.median([pilot.needed for pilot in pilots if pilot.needed is not None]))


def alone(random: np.random.Generator, cells: int, documents: int, behind: float) -> float:
    """Share of sweeps in which the first cell is the only winner."""
    wins = 0
    for sweep in range(SWEEPS):
        document = documents_of(random, documents)
        group = tie_group(outcomes(random, truth(cells, behind), document)[:, :, 0], sampler_of(document, resamples=20, seed=sweep), flips=FLIPS)
        wins += group.best == 0 and int(group.members.sum()) == 1
    return wins / SWEEPS


def main() -> None:
    random = np.random.default_rng(43)
    rows: list[list[object]] = []
    for cells in (2, 12, 48):
        for documents in (20, 50, 200):
            smallest, needed = promised(random, cells, documents)
            row: list[object] = [cells, documents, f"{smallest:.3f}", f"{alone(random, cells, documents, smallest):.0%}"]
            if documents == 50:
                row += [needed, f"{alone(random, cells, math.ceil(needed / QUESTIONS), WANTED):.0%}"]
            rows.append([*row, "", ""][:6])
    headings = ["cells", "documents", "promised difference", "only winner", f"questions asked for {WANTED}", "only winner with them"]
    print(table("python benchmarks/power.py", headings, rows))


if __name__ == "__main__":
    main()
