"""Does a cheap look at a grid tell which of its cells are worth embedding? Regret of keeping the best by a screen, against keeping as many at random.

    python benchmarks/distill_static.py FOLDER        (in an environment of its own: see there)
    python benchmarks/screening.py measure LABELLED --distilled FOLDER --out OUT [--only CORPUS …] [--real minilm paraphrase-L3] [--cells 24]
    python benchmarks/screening.py judge LABELLED --out OUT [--mutate shuffled]

LABELLED holds the labelled corpora, a folder each; the handbook is the bundled one. `measure` runs every cell for real and by each screen, and keeps
what it has in OUT, so it may be stopped; `judge` reads that. Regret is in complete_within_2048: the best cell of the grid less the best that was
kept, by real measurements. What a random choice of as many cells would lose is exact, over all subsets. Screens are tuned by nothing but how many
cells they keep, and that on TUNED alone. `--mutate shuffled` gives each screen's values to cells by lot: it must then do no better than random.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from math import comb
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import rankdata, spearmanr
from screening_cells import GRIDS, METRIC, REAL, SAMPLES, Bench, Point, read, sample, sampler_of
from simulated import table

from harness.statistics.paired import tie_group
from harness.types import Bools, Floats, Ints

TUNED = ("handbook", "squad_half")
"""Corpora that the number of cells to keep may be chosen on; the others judge it."""
KEPT = {24: (3, 6, 8, 12), 96: (6, 12, 24, 32, 48)}
CHEAPEST, WITH_TIES = " + 2 cheapest", ("static, reach", "distilled, reach")
SHOWN = {
    "distilled, reach": "distilled, reach of {}",
    "distilled": "distilled",
    "static, reach": "static, reach of {}",
    "static": "static",
    "bm25, reach": "bm25, reach of {}",
    "bm25": "bm25",
    "hashing": "hashing",
}


@dataclass
class Judged:
    """A grid on a corpus with one real embedder: the metric of every cell for real (m,) and by each screen, ties, context tokens, the readings."""

    corpus: str
    real: str
    values: Floats
    tied: Bools
    context: Floats
    screens: dict[str, Floats]
    ties: dict[str, Bools]
    keys: list[Ints]
    lengths: list[Ints]
    questions: int
    seconds: dict[str, float]

    def kept(self, screen: str, m: int) -> Ints:
        """The m best cells by a screen; of equal ones the first of the grid. With CHEAPEST behind its name, also those that read least of the cells
        that can't be told from the best by the screen (by real context tokens, which chunks decide, not the embedder)."""
        plain = screen.removesuffix(CHEAPEST)
        best = np.argsort(-self.screens[plain], kind="stable")[:m]
        if plain == screen:
            return best
        reads = np.where(self.ties[plain], self.context, np.inf)
        return np.union1d(best, np.argsort(reads, kind="stable")[: min(2, int(self.ties[plain].sum()))])

    def regret(self, kept: Ints) -> float:
        return float(self.values.max() - self.values[kept].max())

    def random_regret(self, m: int) -> float:
        """Expected, over all subsets of m cells."""
        ordered, n = np.sort(self.values)[::-1], len(self.values)
        chance = [comb(n - 1 - rank, m - 1) / comb(n, m) for rank in range(n - m + 1)]
        return float(ordered[0] - np.dot(ordered[: len(chance)], chance))

    def as_lucky(self, regret: float, m: int) -> float:
        """The share of subsets of m cells that lose no more."""
        good, n = int((self.values >= self.values.max() - regret - 1e-12).sum()), len(self.values)
        return 1 - comb(n - good, m) / comb(n, m)

    def random_hit(self, m: int) -> float:
        """The share of subsets that hold a cell of the tie group."""
        n = len(self.values)
        return 1 - comb(n - int(self.tied.sum()), m) / comb(n, m)

    def dearer(self, kept: Ints) -> float:
        """How many times the context tokens of the cheapest tied cell the cheapest that was kept of them reads (NaN where none was)."""
        mine = kept[self.tied[kept]]
        return float(self.context[mine].min() / self.context[self.tied].min()) if len(mine) else np.nan

    def draws(self, m: int, count: int = 100) -> list[Ints]:
        random = np.random.default_rng(0)
        return [random.permutation(len(self.keys))[:m] for _ in range(count)]

    def saved(self, kept: Sequence[int] | Ints) -> float:
        """The share of the grid's tokens that need not be embedded: those of readings that no kept cell has."""
        return 1 - self._tokens(kept) / self._tokens(range(len(self.keys)))

    def _tokens(self, cells: Sequence[int] | Ints | range) -> int:
        keys = np.concatenate([self.keys[cell] for cell in cells])
        _, first = np.unique(keys, return_index=True)
        return int(np.concatenate([self.lengths[cell] for cell in cells])[first].sum())


def judged(labelled: Path, out: Path, name: str, real: str, points: Sequence[Point], mutate: str | None) -> Judged | None:
    """What there is of a corpus; None where its cells were not all run for real."""
    found = read(out / name, real, points)
    if found is None:
        return None
    columns = np.stack([cell[METRIC] for cell in found])
    sampler = sampler_of(sample(labelled, name))
    tied = tie_group(columns, sampler, flips=2000).members
    screens, ties, seconds = {}, {}, {real: float(sum(cell["cpu"] for cell in found))}
    for screen, place in SHOWN.items():
        cheap = read(out / name, place.format(real), points)
        if cheap is not None:
            screens[screen] = np.array([np.nanmean(cell[METRIC]) for cell in cheap])
            seconds[screen] = float(sum(cell["cpu"] for cell in cheap))
            if screen in WITH_TIES:
                ties[screen] = tie_group(np.stack([cell[METRIC] for cell in cheap]), sampler, flips=1000).members
    if {"distilled, reach", "bm25, reach"} <= set(screens):
        screens["distilled + bm25, reach"] = screens["distilled, reach"] + screens["bm25, reach"]
    screens["existence alone"] = np.array([np.nanmean(cell["answer_existence"]) for cell in found])
    if mutate == "shuffled":
        screens = {screen: np.random.default_rng(7).permutation(values) for screen, values in screens.items()}
    values, n = np.nanmean(columns, axis=1), int((~np.isnan(columns).any(axis=0)).sum())
    context = np.array([float(cell["context"]) for cell in found])
    return Judged(name, real, values, tied, context, screens, ties, [cell["keys"] for cell in found], [cell["lengths"] for cell in found], n, seconds)


def with_prior(cases: list[Judged]) -> None:
    """Add the screen that looks at nothing: the order of the cells on the other tuned corpora, by mean rank with the same real embedder."""
    for case in cases:
        others = [other for other in cases if other.corpus in TUNED and other.corpus != case.corpus and other.real == case.real]
        if others:
            case.screens["order on tuned corpora"] = np.mean([rankdata(other.values) for other in others], axis=0)


def correlations(cases: list[Judged]) -> list[list[Any]]:
    rows = []
    for case in cases:
        spread = f"{case.values.max():.3f} / {np.median(case.values):.3f} / {case.values.min():.3f}"
        found = [f"{spearmanr(case.screens[screen], case.values).statistic:.2f}" if screen in case.screens else "-" for screen in names(cases)]
        rows.append([case.corpus, case.real, case.questions, spread, int(case.tied.sum()), *found])
    return rows


def regrets(cases: list[Judged], m: int) -> list[list[Any]]:
    rows = []
    for case in cases:
        row = [case.corpus, case.real, f"{case.random_regret(m):.3f}"]
        for screen in names(cases):
            if screen not in case.screens:
                row.append("-")
                continue
            kept = case.kept(screen, m)
            row.append(f"{case.regret(kept):.3f}{'' if case.tied[kept].any() else ' (no tie)'}")
        rows.append(row)
    return rows


def summary(cases: list[Judged], m: int) -> list[list[Any]]:
    """Means over the corpora that no number was chosen on."""
    held = [case for case in cases if case.corpus not in TUNED]
    if not held:
        return []
    n, random = len(held[0].values), [case.random_regret(m) for case in held]
    hit, drawn = np.mean([case.random_hit(m) for case in held]), [(case, kept) for case in held for kept in case.draws(m)]
    rest = [f"{hit:.0%}", *_costs_of(drawn)]
    rows: list[list[Any]] = [[f"{m} of {n}", "random", f"{np.mean(random):.4f}", f"{max(random):.3f}", "", "", *rest]]
    for screen in (*names(held), *(f"{screen}{CHEAPEST}" for screen in held[0].ties)):
        found = [(case, case.kept(screen, m)) for case in held if screen.removesuffix(CHEAPEST) in case.screens]
        lost = [case.regret(kept) for case, kept in found]
        better = sum(case.regret(kept) < case.random_regret(m) for case, kept in found)
        lucky = np.mean([case.as_lucky(case.regret(kept), m) for case, kept in found])
        ties = np.mean([case.tied[kept].any() for case, kept in found])
        numbers = [f"{np.mean(lost):.4f}", f"{max(lost):.3f}", f"{better} of {len(found)}", f"{lucky:.0%}", f"{ties:.0%}", *_costs_of(found)]
        rows.append(["", screen, *numbers])
    return rows


def _costs_of(found: list[tuple[Judged, Ints]]) -> list[str]:
    """Tokens saved, and how much dearer the cheapest tied cell is that was kept."""
    return [f"{np.mean([case.saved(kept) for case, kept in found]):.0%}", f"{np.nanmean([case.dearer(kept) for case, kept in found]):.2f}"]


def names(cases: list[Judged]) -> list[str]:
    return list(dict.fromkeys(screen for case in cases for screen in case.screens))


def costs(cases: list[Judged]) -> list[list[Any]]:
    """CPU-seconds of a whole grid; those for real are only meant where nothing was cached."""
    return [[case.corpus, case.real, *(f"{case.seconds[way]:.1f}" if way in case.seconds else "-" for way in SHOWN)] for case in cases]


def judge(labelled: Path, out: Path, mutate: str | None) -> None:
    command = f"python benchmarks/screening.py {' '.join(sys.argv[1:])}"
    for count, points in GRIDS.items():
        cases = [found for real in REAL for name in SAMPLES if (found := judged(labelled, out, name, real, points, mutate)) is not None]
        if not cases:
            continue
        with_prior(cases)
        heads = ["corpus", "real", "n", "best / median / worst", "tied", *names(cases)]
        print(f"\n## {count} cells: rank correlation (Spearman) with the real values\n\n{table(command, heads, correlations(cases))}\n")
        for m in KEPT[count]:
            print(f"\n### {count} cells, keeping {m}: regret\n\n{table(command, ['corpus', 'real', 'random', *names(cases)], regrets(cases, m))}\n")
        heads = ["kept", "screen", "mean regret", "largest", "better than random", "random as good", "tie group hit", "tokens saved", "dearer by"]
        rows = [row for m in KEPT[count] for row in summary(cases, m)]
        print(f"\n### {count} cells: corpora that nothing was chosen on\n\n{table(command, heads, rows)}\n")
        print(f"\n### {count} cells: CPU-seconds of the screen\n\n{table(command, ['corpus', 'reach of', *SHOWN], costs(cases))}\n")


def measure(asked: argparse.Namespace) -> None:
    points = GRIDS[asked.cells]
    for name in asked.only or SAMPLES:
        bench = Bench(sample(asked.labelled, name), asked.out / name, asked.out / "vectors", str(asked.distilled))
        for real in asked.real:
            for point in points:
                bench.screens(point, real)
            for place, point in enumerate(points):
                bench.real(point, real)
                print(f"{name} {real} {place + 1}/{len(points)} {point.name}", file=sys.stderr, flush=True)


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("what", choices=["measure", "judge"])
    words.add_argument("labelled", type=Path)
    words.add_argument("--out", type=Path, required=True)
    words.add_argument("--distilled", type=Path)
    words.add_argument("--only", nargs="+", choices=list(SAMPLES))
    words.add_argument("--real", nargs="+", choices=list(REAL), default=list(REAL))
    words.add_argument("--cells", type=int, choices=list(GRIDS), default=96)
    words.add_argument("--mutate", choices=["shuffled"])
    asked = words.parse_args()
    if asked.what == "judge":
        judge(asked.labelled, asked.out, asked.mutate)
    elif asked.distilled is None:
        sys.exit(__doc__)
    else:
        measure(asked)


if __name__ == "__main__":
    main()
