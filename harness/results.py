"""The one reader of stored results: sweeps, cells and questions as objects or tidy frames. Reports, the gate and notebooks read through it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from harness.errors import StoreError
from harness.tracking.files import SCHEMA_VERSION, read_cell
from harness.types import CellResult


@dataclass(frozen=True)
class StoredSweep:
    """A sweep as it was kept: its folder and what sweep.json says."""

    folder: Path
    record: Mapping[str, Any]

    @property
    def name(self) -> str:
        """What `chunk-sweep report` takes."""
        return self.folder.name


def sweeps(outputs: Path) -> list[StoredSweep]:
    """Every sweep under `outputs`, newest first. Files of another schema version are left out here, and refused by name in `sweep`."""
    found = []
    for path in sorted(outputs.glob("sweeps/*/sweep.json"), key=lambda path: -path.stat().st_mtime):
        try:
            found.append(_read(path))
        except StoreError:
            continue
    return found


def sweep(outputs: Path, name: str) -> StoredSweep:
    """The sweep with this name, or the one whose name it begins. Raises StoreError where there is none, or several."""
    folders = [path.parent for path in outputs.glob("sweeps/*/sweep.json")]
    exact = [folder for folder in folders if folder.name == name]
    matching = exact or [folder for folder in folders if folder.name.startswith(name)]
    if len(matching) != 1:
        known = ", ".join(sorted(folder.name for folder in folders)) or "none yet"
        problem = "several sweeps begin so" if matching else "there is no such sweep"
        raise StoreError(f"{name}: {problem} under {outputs}/sweeps; stored: {known}")
    return _read(matching[0] / "sweep.json")


def _read(path: Path) -> StoredSweep:
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise StoreError(f"{path}: can't be read ({error}); run the sweep's command again, finished cells are reused") from error
    version = record.get("schema_version") if isinstance(record, dict) else None
    if version != SCHEMA_VERSION:
        raise StoreError(f"{path}: schema_version {version}, this program reads {SCHEMA_VERSION}; run the sweep again")
    return StoredSweep(path.parent, record)


def cells(outputs: Path, stored: StoredSweep) -> list[CellResult]:
    """The sweep's cells in grid order. Raises StoreError where one is gone or damaged."""
    found = []
    for entry in stored.record["cells"]:
        result = read_cell(outputs / "cells" / entry["key"][:20])
        if result is None:
            raise StoreError(f"{stored.name}: the result of {entry['label']} is gone or damaged; run its command again: {stored.record['command']}")
        found.append(result)
    return found


def cell(place: Path) -> CellResult:
    """The cell in the folder `place`, or beside the result.json that `place` names. Raises StoreError where there is none."""
    folder = place.parent if place.name == "result.json" else place
    if not (folder / "result.json").exists():
        raise StoreError(f"{place}: no result.json here; a folder under outputs/cells/ would do")
    result = read_cell(folder)
    if result is None:
        raise StoreError(f"{place}: damaged, or of another schema version than {SCHEMA_VERSION}; run the cell again")
    return result


def cell_frame(results: list[CellResult]) -> pd.DataFrame:
    """One row a cell: its axes, its key, and every metric."""
    axes = ("strategy", "size", "overlap", "unit", "embedder", "retriever", "label")
    return pd.DataFrame([{**{name: getattr(result.cell, name) for name in axes}, "key": result.key, **result.metrics} for result in results])


def question_frame(results: list[CellResult]) -> pd.DataFrame:
    """One row a cell and question: the cell's label and key, then the question table."""
    parts = [result.questions.assign(cell=result.cell.label, key=result.key) for result in results]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()
