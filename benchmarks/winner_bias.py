"""The best of many cells looks better than it is. How much, and what takes it away without taking too much?

    python benchmarks/winner_bias.py

Bias, root mean square error and how often the interval holds: of the value given to the picked cell, against the true mean of that cell.
The interval of every correction is that of the picked cell, moved by the optimism.
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np
from simulated import documents_of, outcomes, table

from harness.statistics.bootstrap import by_cluster, interval
from harness.statistics.resampling import Resampler
from harness.statistics.selection import corrected_best
from harness.types import Floats

SWEEPS = 150
DRAWS = 200


def held_out(sums: Floats, sizes: Floats, picking: Floats, judging: Floats) -> float:
    """Pooled over draws: the mean, over clusters weighted by `judging` (draws, clusters), of the cell that is best by the weights `picking`."""
    picked = (picking @ sums / (picking @ sizes)[:, None]).argmax(axis=1)
    return float((judging @ sums)[np.arange(len(picked)), picked].sum() / (judging @ sizes).sum())


def values(random: np.random.Generator, cells: Floats, sampler: Resampler) -> dict[str, float]:
    """What each correction makes of the best cell's mean."""
    clusters, sizes = sampler.clusters, np.bincount(sampler.groups[0]).astype(float)
    sums, means = by_cluster(cells.T, sampler.groups[0]), cells.mean(axis=1)
    drawn = random.multinomial(clusters, np.full(clusters, 1 / clusters), DRAWS).astype(float)
    resampled = drawn @ sums / (drawn @ sizes)[:, None]
    picked = resampled.argmax(axis=1)
    fold = np.stack([random.permutation(clusters) % 10 for _ in range(DRAWS // 10)])
    out = (fold[:, None, :] == np.arange(10)[None, :, None]).reshape(-1, clusters).astype(float)
    return {
        "none": float(means.max()),
        "halves (corrected_best)": corrected_best(cells, sampler, splits=DRAWS).value,
        "out of bag": held_out(sums, sizes, drawn, (drawn == 0).astype(float)),
        "ten folds": held_out(sums, sizes, 1 - out, out),
        "bootstrap optimism": float(means.max() - (resampled.max(axis=1) - means[picked]).mean()),
    }


def trial(random: np.random.Generator, truth: Floats, documents: int, each: float) -> dict[str, list[tuple[float, bool]]]:
    """Error, and whether the interval holds the truth, of every correction in every sweep."""
    seen: dict[str, list[tuple[float, bool]]] = defaultdict(list)
    for _ in range(SWEEPS):
        document = documents_of(random, documents, each)
        cells, sampler = outcomes(random, truth, document)[:, :, 0], Resampler((document,), 500)
        best = int(cells.mean(axis=1).argmax())
        low, high = interval(cells[best], sampler)
        for name, value in values(random, cells, sampler).items():
            moved = value - cells[best].mean()
            seen[name].append((value - truth[best], low + moved <= truth[best] <= high + moved))
    return seen


def main() -> None:
    random = np.random.default_rng(44)
    rows: list[list[object]] = []
    for cells in (6, 48):
        for name, lowest in (("equal", 0.7), ("0.70 to 0.64", 0.64), ("0.70 to 0.40", 0.4)):
            for documents, each in ((20, 3), (33, 6), (100, 6)):
                seen = trial(random, np.linspace(0.7, lowest, cells), documents, each)
                row = []
                for pairs in seen.values():
                    errors, holds = np.array(pairs, dtype=float).T
                    row.append(f"{errors.mean():+.3f}, {np.sqrt((errors**2).mean()):.3f}, {holds.mean():.0%}")
                rows.append([f"{cells}, {name}", documents * each, *row])
    print(table("python benchmarks/winner_bias.py", ["cells", "questions", *seen], rows))


if __name__ == "__main__":
    main()
