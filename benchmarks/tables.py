"""Refreshes the tables of README and docs, and README's figure, from the sweeps that they name.

    python benchmarks/tables.py [--outputs outputs] [--corpora FOLDER] [--stored] [NAME …]

A table stands between `<!-- table: NAME -->` and `<!-- end of table -->`; TABLES says which sweep fills it. Each is run by its command (finished
cells are reused); with --stored the newest stored one is taken as it is. Tables of other corpora want `--corpora`, a folder that has them.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from table_layouts import by_retriever, worth_of_filters

from harness import results
from harness.bundled import bundled_folder
from harness.cli.main import main as chunk_sweep
from harness.evaluation import Scoring
from harness.report.tables import headings, leaderboard, markdown
from harness.results.stored import StoredSweep
from harness.sweep import Select, Summary, summarise
from harness.types import CellResult

ROOT = Path(__file__).resolve().parent.parent
SHOWN = 8


@dataclass(frozen=True)
class Table:
    """Where a sweep's leaderboard stands. `corpus`: a folder below --corpora, or "" for the handbook; `shown`: rows (0: all, the last one always);
    `layout`: what else than a leaderboard."""

    page: str
    experiment: str
    corpus: str = ""
    words: tuple[str, ...] = ()
    shown: int = 0
    figure: str = ""
    layout: Callable[[Sequence[CellResult], set[str]], str] | None = None


TABLES = {
    "handbook_axes": Table("README.md", "handbook_axes", shown=SHOWN, figure="handbook_axes"),
    "handbook_story": Table("README.md", "handbook_story"),
    "strategies": Table("docs/strategies.md", "strategies"),
    "strategies_anthropic_docs": Table("docs/strategies.md", "strategies", "anthropic_docs"),
    "strategies_squad_half": Table("docs/strategies.md", "strategies", "squad_half", ("dataset.documents=5",)),
    "surroundings": Table("docs/strategies.md", "surroundings"),
    "versions": Table("docs/filters.md", "versions", layout=worth_of_filters),
    "retrievers": Table("docs/retrievers.md", "retrievers", layout=by_retriever),
    "retrievers_contractnli": Table("docs/retrievers.md", "retrievers_undated", "contractnli", ("dataset.documents=60",), layout=by_retriever),
    "retrievers_squad_half": Table("docs/retrievers.md", "retrievers_undated", "squad_half", ("dataset.documents=5",), layout=by_retriever),
}


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("names", nargs="*", metavar="NAME")
    words.add_argument("--outputs", type=Path, default=ROOT / "outputs")
    words.add_argument("--corpora", type=Path)
    words.add_argument("--stored", action="store_true")
    options = words.parse_args()
    for name in options.names or TABLES:
        table = TABLES[name]
        if table.corpus and options.corpora is None:
            sys.stdout.write(f"{name}: needs --corpora\n")
            continue
        refresh(name, table, options.outputs, options.corpora, run=not options.stored)


def refresh(name: str, table: Table, outputs: Path, corpora: Path | None, *, run: bool) -> None:
    place = [f"dataset.path={corpora}/{table.corpus}"] if table.corpus else []
    asked = [f"experiment={table.experiment}", *(["dataset=folder"] if table.corpus else []), *place, *table.words]
    if run and (status := chunk_sweep(["run", *asked, f"outputs={outputs}"])):
        sys.exit(status)
    stored = newest(outputs, table)
    cells = results.cells(outputs, stored)
    summary = summarise(cells, Select(), Scoring())
    told = table.layout(cells, filtered_questions()) if table.layout else body(summary, table.shown)
    said = " ".join(["chunk-sweep run", *(f"dataset.path=…/{table.corpus}" if word in place else word for word in asked)])
    write(ROOT / table.page, name, f"`{said}`, {date.today()}: {about(summary, stored)}.\n\n{told}\n")
    if table.figure:
        shutil.copy(stored.folder / "size_discrimination.png", ROOT / "docs" / "images" / f"{table.figure}.png")


def filtered_questions() -> set[str]:
    """The handbook's questions that have a filter."""
    lines = (bundled_folder("datasets") / "handbook" / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    return {question["id"] for question in map(json.loads, lines) if question.get("filter")}


def newest(outputs: Path, table: Table) -> StoredSweep:
    corpus = table.corpus or "handbook"
    found = [sweep for sweep in results.sweeps(outputs) if sweep.record["name"].startswith(f"{table.experiment} ")]
    return next(sweep for sweep in found if sweep.record["corpus"]["name"] == corpus)


def about(summary: Summary, stored: StoredSweep) -> str:
    cells, corpus = len(summary.standings), stored.record["corpus"]["name"]
    return f"{cells} cells on {corpus}, {summary.questions} answerable questions, {summary.clusters}"


def body(summary: Summary, shown: int) -> str:
    rows = leaderboard(summary)
    if shown:
        last = rows[-1]
        rows = [*rows[:shown], ["", f"… {len(rows) - shown - 1} more …", *[""] * (len(last) - 2)], last]
    return markdown(headings(), rows)


def write(page: Path, name: str, text: str) -> None:
    block = re.compile(rf"(<!-- table: {name} -->\n).*?(<!-- end of table -->)", re.DOTALL)
    before = page.read_text(encoding="utf-8")
    if not block.search(before):
        sys.exit(f"{page.name} has no table {name}")
    page.write_text(block.sub(lambda found: f"{found[1]}\n{text}\n{found[2]}", before), encoding="utf-8")


if __name__ == "__main__":
    main()
