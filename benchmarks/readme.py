"""Refreshes the README's table and figure from a named experiment.

    python benchmarks/readme.py [--outputs outputs]

Runs `chunk-sweep run experiment=handbook_axes` (finished cells are reused) and writes its leaderboard between the README's markers.
"""

from __future__ import annotations

import argparse
import re
import shutil
import sys
from datetime import date
from pathlib import Path

from harness import results
from harness.cli.main import main as chunk_sweep
from harness.evaluation import Scoring
from harness.report.tables import headings, leaderboard, markdown
from harness.sweep import Select, summarise

ROOT = Path(__file__).resolve().parent.parent
EXPERIMENT = "handbook_axes"
SHOWN = 8


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--outputs", type=Path, default=ROOT / "outputs")
    outputs = words.parse_args().outputs
    if status := chunk_sweep(["run", f"experiment={EXPERIMENT}", f"outputs={outputs}"]):
        sys.exit(status)
    stored = next(sweep for sweep in results.sweeps(outputs) if sweep.record["name"].startswith(EXPERIMENT))
    summary = summarise(results.cells(outputs, stored), Select(), Scoring())
    rows = leaderboard(summary)
    last = rows[-1]
    shown = [*rows[:SHOWN], ["", f"… {len(rows) - SHOWN - 1} more …", *[""] * (len(last) - 2)], last]
    text = (
        f"`chunk-sweep run experiment={EXPERIMENT}`, {date.today()}: {len(rows)} cells on {stored.record['corpus']['name']}, "
        f"{summary.questions} answerable questions, {summary.clusters}.\n\n{markdown(headings(), shown)}\n"
    )
    readme = ROOT / "README.md"
    block = re.compile(rf"(<!-- table: {EXPERIMENT} -->\n).*?(<!-- end of table -->)", re.DOTALL)
    readme.write_text(block.sub(lambda found: f"{found[1]}\n{text}\n{found[2]}", readme.read_text(encoding="utf-8")), encoding="utf-8")
    (ROOT / "docs" / "images").mkdir(parents=True, exist_ok=True)
    shutil.copy(stored.folder / "size_discrimination.png", ROOT / "docs" / "images" / f"{EXPERIMENT}.png")


if __name__ == "__main__":
    main()
