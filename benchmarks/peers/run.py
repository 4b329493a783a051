"""The same corpus, grid, model and machine: what others take for a grid, what we take, and whether the numbers are right.

    python benchmarks/peers/run.py [--corpus FOLDER] [--cells 45|12|6|4|2] [--rounds N] [--sides SIDE …] [--folder FOLDER]
        [--context-grid-python PYTHON] [--mtcb-python PYTHON] [--once] [--mutate no-cache|no-dedupe]

Sides take turns, each a process of its own from start to end, first all cold, then all again, then all with one more k; the distinct texts of the
grid once through our engine ("unavoidable") are timed before and after the cold runs. Medians over the rounds. A peer takes part where the Python of
its environment is named (README.md says how to make one). `--once`: the later runs of a side that keeps nothing are taken to be like its cold one.
The mutations show that the ratios can fail: no-cache forgets everything between our runs, no-dedupe gives every cell an embedder without a cache.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from statistics import median
from typing import Any

from grid import GRIDS, KS, Grid, write_job
from judge import Verdict, asking_one_passage, judge
from measuring import Spent, measured
from sides import HERE, PHASES, Ours, Peer

from harness.corpus.folder import load_folder
from harness.types import Corpus

AIMS = {"cold": 2.5, "second": 50.0}
UNAVOIDABLE_AIM = 1.1
Times = dict[tuple[str, str], list[Spent]]


def parse() -> argparse.Namespace:
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--corpus", type=Path, default=HERE.parents[1] / "datasets" / "handbook")
    words.add_argument("--cells", type=int, choices=sorted(GRIDS), default=45)
    words.add_argument("--rounds", type=int, default=1)
    words.add_argument("--sides", nargs="+", choices=["script", "context-grid", "mtcb"], default=["script", "context-grid", "mtcb"])
    words.add_argument("--context-grid-python", default=os.environ.get("CONTEXT_GRID_PYTHON"))
    words.add_argument("--mtcb-python", default=os.environ.get("MTCB_PYTHON"))
    words.add_argument("--folder", type=Path, help="keep everything here")
    words.add_argument("--once", action="store_true")
    words.add_argument("--mutate", choices=["no-cache", "no-dedupe"])
    return words.parse_args()


def peers(options: argparse.Namespace, folder: Path, grid: Grid, corpus: Path) -> list[Peer]:
    known = {
        "script": ("everybodys_script.py", sys.executable, False),
        "context-grid": ("context_grid_side.py", options.context_grid_python, True),
        "mtcb": ("mtcb_side.py", options.mtcb_python, False),
    }
    chosen = [(name, *known[name]) for name in options.sides if known[name][1]]
    return [Peer(name, script, os.path.abspath(python), folder / name, grid, corpus, keeps) for name, script, python, keeps in chosen]


def unavoidable(folder: Path, grid: Grid, corpus: Path) -> dict[str, float]:
    job = write_job(folder, "unavoidable", grid, corpus, KS)
    measured([sys.executable, str(HERE / "unavoidable.py"), str(job)], folder / "unavoidable.log")
    return json.loads((folder / "unavoidable.found.json").read_text())


def take_turns(ours: Ours, others: Sequence[Peer], least: Any, rounds: int, once: bool) -> tuple[Times, list[dict[str, float]]]:
    """All phases of all sides, `rounds` times, in turn; every other round the other way about."""
    times: Times = {}
    lower: list[dict[str, float]] = []
    for number in range(rounds):
        sides: list[Ours | Peer] = [ours, *others][:: -1 if number % 2 else 1]
        for phase in PHASES:
            lower += [least()] if phase == "cold" else []
            for side in sides:
                spared = once and phase != "cold" and isinstance(side, Peer) and not side.keeps
                spent = times[side.name, "cold"][-1] if spared else side.run(phase)
                times.setdefault((side.name, phase), []).append(spent)
                sys.stderr.write(f"{side.name:<14} {phase:<7} {spent.seconds:7.1f} s  {spent.cpu:7.1f} CPU s  {spent.peak / 2**20:6.0f} MiB\n")
            lower += [least()] if phase == "cold" else []
    return times, lower


def middle(times: Times, side: str, phase: str, what: str = "seconds") -> float:
    return median(getattr(spent, what) for spent in times[side, phase])


def table(times: Times, names: Sequence[str], ours: str) -> list[str]:
    lines = ["| side | cold | cold / ours | again | again / ours | one more k | / ours | peak MiB |", "|---|---|---|---|---|---|---|---|"]
    for name in names:
        row = [name]
        for phase in PHASES:
            seconds, mine = middle(times, name, phase), middle(times, ours, phase)
            cpu = middle(times, name, phase, "cpu")
            row += [f"{seconds:.1f} s ({cpu:.1f} CPU)", f"{seconds / mine:.2f}"]
        peak = max(spent.peak for (side, _), found in times.items() if side == name for spent in found)
        lines.append(f"| {' | '.join([*row, f'{peak / 2**20:.0f}'])} |")
    return lines


def rightness(verdicts: Mapping[str, Sequence[Verdict]]) -> list[str]:
    lines = [
        "| side | cell | told (n) | same chunks, by our rule | ours | chunks | misplaced | altered | lost | larger than asked | past the limit |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for name, found in verdicts.items():
        for one in found:
            cell = f"{one.cell['strategy']} {one.cell['size']} overlap {one.cell['overlap']}"
            counts = " | ".join(str(count) for count in (one.chunks, one.misplaced, one.altered, one.lost, one.larger, one.over))
            lines.append(f"| {name} | {cell} | {one.told:.3f} ({one.n}) | {one.true:.3f} | {one.ours:.3f} | {counts} |")
    return lines


def in_short(verdicts: Mapping[str, Sequence[Verdict]]) -> list[str]:
    """One row a side: how far what it told lies from the same chunks counted by our rule, and what is wrong with its chunks."""
    lines = [
        "| side | cells | right (to .005) | told - by our rule: mean, furthest | chunks | misplaced | altered | lost | larger | past the limit |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for name, found in verdicts.items():
        off = [one.told - one.true for one in found]
        right = sum(abs(each) < 0.005 for each in off)
        furthest = max(off, key=abs, default=0.0)
        parts = ("chunks", "misplaced", "altered", "lost", "larger", "over")
        counts = " | ".join(f"{sum(getattr(one, part) for one in found):,}" for part in parts)
        lines.append(f"| {name} | {len(found)} | {right} | {sum(off) / max(len(off), 1):+.3f}, {furthest:+.3f} | {counts} |")
    return lines


def aims(times: Times, ours: str, lower: Sequence[Mapping[str, float]], script: bool) -> list[str]:
    least = median(one["seconds"] for one in lower)
    cold = middle(times, ours, "cold")
    facts = f"{lower[0]['distinct']:.0f} distinct of {lower[0]['texts']:.0f} texts, {lower[0]['tokens']:.0f} tokens"
    spread = ", ".join(f"{one['seconds']:.1f}" for one in lower)
    rows = [f"unavoidable: {least:.1f} s ({spread}); {facts}"]
    rows.append(_aim("ours cold / unavoidable", cold / least, UNAVOIDABLE_AIM, at_most=True))
    for phase, least_ratio in AIMS.items() if script else ():
        ratio = middle(times, "script", phase) / middle(times, ours, phase)
        rows.append(_aim(f"the script / ours, {phase}", ratio, least_ratio, at_most=False))
    return rows


def _aim(name: str, ratio: float, bound: float, *, at_most: bool) -> str:
    good = ratio <= bound if at_most else ratio >= bound
    return f"{name}: {ratio:.2f} (aim: {'at most' if at_most else 'at least'} {bound:g}) {'ok' if good else 'MISSED'}"


def verdicts_of(corpus: Corpus, ours: Ours, others: Sequence[Peer]) -> dict[str, list[Verdict]]:
    mine = ours.found()
    asked = {"mtcb": asking_one_passage(corpus)}
    return {side.name: judge(asked.get(side.name, corpus), side.found(), side.chunks(), mine) for side in others}


def main() -> None:
    options = parse()
    grid, path = GRIDS[options.cells], options.corpus.resolve()
    with tempfile.TemporaryDirectory() as temporary:
        folder = (options.folder or Path(temporary)).resolve()
        ours = Ours(folder / "ours", grid, path, options.mutate)
        others = peers(options, folder, grid, path)
        times, lower = take_turns(ours, others, lambda: unavoidable(folder / "least", grid, path), options.rounds, options.once)
        verdicts = verdicts_of(load_folder(path), ours, others)
    mutated = f"  MUTATED: {options.mutate}" if options.mutate else ""
    lines = [f"{date.today()}  {path.name}, {options.cells} cells, {options.rounds} round(s){mutated}", ""]
    lines += [*table(times, [ours.name, *(side.name for side in others)], ours.name), ""]
    lines += [*aims(times, ours.name, lower, any(side.name == "script" for side in others)), ""]
    lines += [*in_short(verdicts), "", *rightness(verdicts)]
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
