"""Of cells that are equal, how often is one declared really behind the best? At most 5% of sweeps is what alpha = 0.05 promises.

    python benchmarks/false_winners.py

Beside the tie group stands what Holm's adjustment of the comparisons with the best would do, which takes the best as given beforehand.
"""

from __future__ import annotations

import numpy as np
from simulated import crossed, documents_of, outcomes, sampler_of, table

from harness.statistics.paired import sign_flip, tie_group
from harness.statistics.resampling import Resampler
from harness.types import Floats

FLIPS, HOLM_FLIPS = 500, 1000
"""Holm's smallest p has to survive 47 comparisons."""
ALPHA = 0.05


def holm_rejects(cells: Floats, sampler: Resampler) -> np.ndarray:
    """Which cells Holm's step-down (1979) finds behind the best, which is taken as given."""
    best = int(cells.mean(axis=1).argmax())
    p = np.ones(len(cells))
    others = np.arange(len(cells)) != best
    p[others] = sign_flip((cells - cells[best]).T[:, others], sampler, flips=HOLM_FLIPS)
    order = np.argsort(p)
    steps = np.maximum.accumulate(p[order] * np.maximum(np.arange(len(p) - 1, -1, -1), 1))
    found = np.zeros(len(p), dtype=bool)
    found[order] = steps <= ALPHA
    return found


def rates(random: np.random.Generator, truth: Floats, documents: int, two_ways: bool) -> tuple[float, float]:
    """Shares of sweeps in which some cell is declared behind a best that is truly no better: by Holm, and by the tie group."""
    wrong, sweeps = np.zeros(2), 800 if len(truth) <= 12 else 250
    for sweep in range(sweeps):
        document, text = crossed(random, documents) if two_ways else (documents_of(random, documents), None)
        cells, sampler = outcomes(random, truth, document, text)[:, :, 0], sampler_of(document, text, resamples=20, seed=sweep)
        group = tie_group(cells, sampler, alpha=ALPHA, flips=FLIPS)
        no_worse = truth >= truth[group.best]
        wrong += [(holm_rejects(cells, sampler) & no_worse).any(), (~group.members & no_worse).any()]
    holm, group_rate = wrong / sweeps
    return float(holm), float(group_rate)


def main() -> None:
    random = np.random.default_rng(42)
    rows: list[list[object]] = []
    for cells, tried in ((2, (20,)), (12, (5, 20, 50, 200)), (48, (5, 20, 50, 200))):
        for documents in tried:
            rows.append([f"{cells} equal", documents, *(f"{rate:.1%}" for rate in rates(random, np.full(cells, 0.7), documents, False))])
    for cells in (12, 48):
        half = np.where(np.arange(cells) < cells // 2, 0.7, 0.6)
        rows.append([f"{cells}, half of them equal, half .10 behind", 50, *(f"{rate:.1%}" for rate in rates(random, half, 50, False))])
        rows.append([f"{cells} equal, two ways", "60 x 17 texts", *(f"{rate:.1%}" for rate in rates(random, np.full(cells, 0.7), 60, True))])
    print(table("python benchmarks/false_winners.py", ["cells", "documents", "Holm against the best", "tie group"], rows))


if __name__ == "__main__":
    main()
