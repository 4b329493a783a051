"""Who takes part: how each is started, and where what it found lies."""

from __future__ import annotations

import json
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grid import KS, ONE_MORE, Grid, write_job
from measuring import Spent, measured

HERE = Path(__file__).resolve().parent
PHASES = ("cold", "second", "metric")


@dataclass(frozen=True)
class Ours:
    """`chunk-sweep run --multirun` with MLflow and the report, as people type it."""

    folder: Path
    grid: Grid
    corpus: Path
    mutation: str | None = None
    name: str = "chunk-sweep"

    def run(self, phase: str) -> Spent:
        """One phase; under the mutation no-cache, what the first run kept is gone before the next."""
        outputs = self.folder / "outputs"
        if self.mutation == "no-cache" or phase == "cold":
            shutil.rmtree(outputs, ignore_errors=True)
        self.folder.mkdir(parents=True, exist_ok=True)
        words = ["run", "--multirun", "dataset=folder", f'dataset.path="{self.corpus}"', "tracking=mlflow", "report=true", f'outputs="{outputs}"']
        words += [f"strategy={','.join(self.grid.strategies)}", f"size={','.join(map(str, self.grid.sizes))}"]
        words += [f"overlap={','.join(f'{share}%' if share else '0' for share in self.grid.overlaps)}"]
        words += [f"scoring.ks=[{','.join(map(str, sorted(ONE_MORE)))}]"] if phase == "metric" else []
        return measured([*self._program(), *words], self.folder / f"{phase}.log")

    def _program(self) -> list[str]:
        if self.mutation == "no-dedupe":
            return [sys.executable, str(HERE / "ours_without_dedupe.py")]
        return [str(Path(sys.executable).parent / "chunk-sweep")]

    def found(self) -> list[dict[str, Any]]:
        """One row a cell: its axes, chunks, n, exists."""
        rows = []
        for place in sorted((self.folder / "outputs" / "cells").glob("*/result.json")):
            record = json.loads(place.read_text())
            rows.append({**{axis: record["cell"][axis] for axis in ("strategy", "size", "overlap")}, "exists": record["metrics"]["answer_existence"]})
        return rows


@dataclass(frozen=True)
class Peer:
    """Another way to do it: a script that is given a job, run by the Python of its own environment."""

    name: str
    script: str
    python: str
    folder: Path
    grid: Grid
    corpus: Path
    keeps: bool
    """Whether a later run can profit from an earlier one at all."""

    def run(self, phase: str) -> Spent:
        """One phase."""
        if phase == "cold":
            shutil.rmtree(self.folder / "kept", ignore_errors=True)
        job = write_job(self.folder, phase, self.grid, self.corpus, ONE_MORE if phase == "metric" else KS)
        return measured([self.python, str(HERE / self.script), str(job)], self.folder / f"{phase}.log")

    def found(self) -> list[dict[str, Any]]:
        """One row a cell as it told it: its axes, chunks, n, exists."""
        return json.loads((self.folder / "cold.found.json").read_text())

    def chunks(self) -> list[dict[str, Any]]:
        """The same cells' chunks as (document, text, start); not timed."""
        job = write_job(self.folder, "chunks", self.grid, self.corpus, KS)
        measured([self.python, str(HERE / self.script), str(job), "--chunks"], self.folder / "chunks.log")
        return json.loads((self.folder / "chunks.found.json").read_text())
