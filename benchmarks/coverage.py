"""How often 95% intervals hold the truth: of means, paired differences, two ways of clusters, and shares of axes. `python benchmarks/coverage.py`"""

from __future__ import annotations

import numpy as np
import pandas as pd
from simulated import crossed, documents_of, outcomes, sampler_of, shares, table

from harness.statistics.bootstrap import intervals
from harness.statistics.effects import effects
from harness.statistics.resampling import Resampler
from harness.types import Floats

RUNS, BATCHES = 250, 8
"""Question sets of one make-up of documents, and how many such make-ups are drawn."""


def held(values: Floats, truth: float, sampler: Resampler, skewed: bool = True) -> tuple[float, float]:
    """How often the intervals of the columns hold the truth, and their mean width."""
    found = intervals(values, sampler, skewed=skewed)
    return float(((found.low <= truth + 1e-12) & (found.high >= truth - 1e-12)).mean()), float((found.high - found.low).mean())


def row(name: str, documents: object, batches: list[tuple[float, float]]) -> list[object]:
    covered, width = np.mean(batches, axis=0)
    return [name, documents, f"{covered:.1%}", f"{width:.3f}"]


def means(random: np.random.Generator) -> list[list[object]]:
    rows = []
    for documents in (1, 5, 20, 50, 200):
        for mean in (0.3, 0.8):
            for correlation in (0.0, 0.2):
                batches = []
                for _ in range(BATCHES):
                    document = documents_of(random, documents)
                    batches.append(held(shares(random, document, mean, correlation, RUNS), mean, sampler_of(document)))
                rows.append(row(f"mean {mean}, correlation {correlation}", documents, batches))
    return rows


def differences(random: np.random.Generator) -> list[list[object]]:
    rows = []
    for documents in (1, 5, 20, 50, 200):
        for first, second in ((0.7, 0.7), (0.7, 0.6), (0.9, 0.85)):
            batches = []
            for _ in range(BATCHES):
                document = documents_of(random, documents)
                cells = outcomes(random, [first, second], document, runs=RUNS)
                batches.append(held(cells[0] - cells[1], first - second, sampler_of(document), False))
            rows.append(row(f"difference of {first} and {second}", documents, batches))
    return rows


def two_ways(random: np.random.Generator) -> list[list[object]]:
    rows = []
    for documents in (20, 60):
        one, two = [], []
        for _ in range(BATCHES):
            document, text = crossed(random, documents)
            cells = outcomes(random, [0.7, 0.6], document, text, runs=RUNS)
            sampler = sampler_of(document, text)
            one.append(held(cells[0], 0.7, sampler))
            two.append(held(cells[0] - cells[1], 0.1, sampler, False))
        of = f"{documents} x {text.max() + 1} texts"
        rows += [row("two ways: mean 0.7", of, one), row("two ways: difference of 0.7 and 0.6", of, two)]
    return rows


def axes_shares(random: np.random.Generator, runs: int = 250) -> list[list[object]]:
    """Strategy (3) moves the mean by .05 a step, size (4) by .02 a step, the two together do nothing."""
    axes = pd.DataFrame([(strategy, size) for strategy in range(3) for size in range(4)], columns=["strategy", "size"])
    truth = 0.75 - 0.05 * axes["strategy"].to_numpy() - 0.02 * axes["size"].to_numpy()
    squares = {"strategy": np.var(0.05 * np.arange(3)), "size": np.var(0.02 * np.arange(4))}
    shares = {name: value / sum(squares.values()) for name, value in squares.items()}
    rows = []
    for documents in (20, 50, 200):
        inside: dict[str, list[tuple[float, float, float]]] = {name: [] for name in shares}
        for _ in range(runs):
            document = documents_of(random, documents)
            found = effects(axes, outcomes(random, truth, document)[:, :, 0], sampler_of(document, resamples=500))
            for term in found.terms:
                if term.name in shares:
                    inside[term.name].append((term.low <= shares[term.name] <= term.high, term.high - term.low, term.share))
        for name, seen in inside.items():
            covered, width, share = np.nanmean(np.array(seen, dtype=float), axis=0)
            rows.append([f"share of {name}, true {shares[name]:.1%}, estimated {share:.1%}", documents, f"{covered:.1%}", f"{width:.3f}"])
    return rows


def main() -> None:
    random = np.random.default_rng(41)
    rows = means(random) + differences(random) + two_ways(random) + axes_shares(random)
    print(table("python benchmarks/coverage.py", ["95% interval of a", "documents", "holds the truth", "mean width"], rows))


if __name__ == "__main__":
    main()
