"""Faults, each made on purpose, and whether the same command afterwards gives what an uninterrupted run gives: the table of docs/faults.md.

    python benchmarks/faults.py [--rows NAME,NAME …] [--write]

Each row makes its fault, then runs the same command again in peace and compares everything that was measured with an uninterrupted run (results,
tables of questions, leaderboard; not times, nor what came from a cache). First of all the comparison is shown to notice one changed number. Some rows
need Linux and root (a small file system of their own); elsewhere they say so. `--write` refreshes docs/faults.md. Exit status 1 where a row fails.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path

import fault_clock
import fault_damage
import fault_disk
import fault_fuzz
import fault_killing
import fault_parts
import fault_sharing
import fault_tracking
from fault_bench import GRID, ROOT, Bench, Row, differences, results

PAGE = ROOT / "docs" / "faults.md"
_BEGIN, _END = "<!-- table: faults -->", "<!-- end of table -->"


def mutation(bench: Bench) -> Iterator[Row]:
    """The comparison itself: one number changed in the last place that is kept."""
    missed = []
    with bench.room() as outputs:
        shutil.copytree(bench.scratch / "whole", outputs)
        for path, change in (("cells/*/result.json", _one_metric), ("sweeps/*/leaderboard.csv", _one_digit)):
            victim = next(outputs.glob(path))
            before = victim.read_text(encoding="utf-8")
            victim.write_text(change(before), encoding="utf-8")
            missed += [] if differences(bench.whole, results(outputs)) else [f"a changed number in {path} was not noticed"]
            victim.write_text(before, encoding="utf-8")
        missed += ["a difference where there is none"] if differences(bench.whole, results(outputs)) else []
    yield Row("the comparison itself", "one number changed by 1e-9 in a result, one digit in a leaderboard", "noticed, both", None, tuple(missed))


def _one_metric(text: str) -> str:
    record = json.loads(text)
    record["metrics"]["answer_existence"] += 1e-9
    return json.dumps(record)


def _one_digit(text: str) -> str:
    head, first, *rest = text.splitlines()
    cells = first.split(",")
    place = head.split(",").index("complete_within_2048")
    cells[place] = cells[place][:-1] + str((int(cells[place][-1]) + 1) % 10)
    return "\n".join([head, ",".join(cells), *rest]) + "\n"


ROWS: dict[str, Callable[[Bench], Iterator[Row]]] = {
    "comparison": mutation,
    "kill": fault_killing.killed,
    "ctrl-c": fault_killing.stopped,
    "full": fault_disk.full,
    "readonly": fault_disk.read_only,
    "damage": fault_damage.damaged,
    "server": fault_tracking.server,
    "sharing": fault_sharing.sharing,
    "logging": fault_sharing.logging_at_once,
    "parts": fault_parts.broken_parts,
    "changing": fault_parts.changing_documents,
    "clock": fault_clock.jumping,
    "fuzz": fault_fuzz.fuzzed,
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", default=",".join(ROWS), help=f"some of {', '.join(ROWS)}")
    parser.add_argument("--write", action="store_true", help="put the rows into the table of docs/faults.md; those that are not run stay as they are")
    parser.add_argument("--scratch", default=None, help="a folder for what is tried, removed afterwards (default: a temporary one)")
    given = parser.parse_args()
    os.environ.update({"MLFLOW_DISABLE_TELEMETRY": "true", "DO_NOT_TRACK": "true"})
    began, rows = time.monotonic(), []
    with tempfile.TemporaryDirectory(dir=given.scratch) as folder:
        _warm()
        bench = Bench(Path(folder), *GRID)
        _ = bench.whole
        for name in given.rows.split(","):
            since = time.monotonic()
            for row in ROWS[name](bench):
                rows.append(row)
                sys.stdout.write(f"{'ok  ' if row.good else 'FAIL'} {row.fault}: {row.how}: {row.seen} {'; '.join(row.problems[:6])}\n")
                sys.stdout.flush()
            if given.write:
                _write(rows, whole=given.rows == ",".join(ROWS))
            sys.stdout.write(f"     {name} took {time.monotonic() - since:.0f} s\n")
    minutes = (time.monotonic() - began) / 60
    sys.stdout.write(f"{len(rows)} rows, {sum(not row.good for row in rows)} failed, {minutes:.1f} minutes\n")
    return int(any(not row.good for row in rows))


def _warm() -> None:
    """Import here what the processes need, so that each does not."""
    import mlflow.tracking  # noqa: F401
    import sentence_transformers  # noqa: F401

    import harness.hydra_front.app
    import harness.report.figures
    import harness.tracking.mlflow_tracker  # noqa: F401


def _write(rows: list[Row], *, whole: bool) -> None:
    """Put `rows` into the table of the page, in the place of those of the same fault and way; all others stay, unless the `whole` table is made."""
    text = PAGE.read_text(encoding="utf-8")
    head, rest = text.split(_BEGIN)
    table, tail = rest.split(_END)
    old = [line for line in table.splitlines() if line.startswith("| ") and not line.startswith("| fault |") and not whole]
    kept = {tuple(line.split(" | ")[:2]): line for line in old}
    for row in rows:
        verdict = "**no**: " + "; ".join(row.problems[:3]) if not row.good else {True: "yes", None: "nothing to compare"}[row.equal]
        cells = [cell.replace("|", "/").replace("\n", " ") for cell in (row.fault, row.how, row.seen, verdict, f"{date.today()}")]
        line = f"| {' | '.join(cells)} |"
        kept[tuple(line.split(" | ")[:2])] = line
    lines = ["| fault | how it is made | what was seen | equal to an uninterrupted run? | date |", "|---|---|---|---|---|", *kept.values()]
    PAGE.write_text(head + _BEGIN + "\n\n" + "\n".join(lines) + "\n\n" + _machine() + "\n\n" + _END + tail, encoding="utf-8")


def _machine() -> str:
    machine = f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    return f"Made by `python benchmarks/faults.py --write` on {machine}."


if __name__ == "__main__":
    sys.exit(main())
