"""Results in plain files: outputs/sweeps/NAME/sweep.json names the cells, outputs/cells/KEY/ holds them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from harness.errors import StoreError
from harness.results.schema import checked
from harness.results.source import Entry
from harness.tracking.files import read_cell
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


@dataclass(frozen=True)
class Files:
    """The results under a folder of plain files, as the reader wants them."""

    outputs: Path

    def entries(self) -> list[Entry]:
        """Every sweep of which a sweep.json is there."""
        return [_entry(path) for path in _newest_first(self.outputs)]

    def results(self, entry: Entry) -> list[CellResult]:
        """See Source."""
        return cells(self.outputs, StoredSweep(Path(entry.place), entry.record))

    def texts(self, entry: Entry) -> Mapping[str, str]:
        """None: plain files hold numbers only."""
        return {}

    def __str__(self) -> str:
        return str(self.outputs)


def sweeps(outputs: Path) -> list[StoredSweep]:
    """Every sweep under `outputs`, newest first. Files of another schema version are left out here, and refused by name in `sweep`."""
    return [StoredSweep(Path(entry.place), entry.record) for entry in Files(outputs).entries() if not entry.problem]


def sweep(outputs: Path, name: str) -> StoredSweep:
    """The sweep with this name, or the one whose name it begins. Raises StoreError where there is none, or several."""
    folders = [path.parent for path in _newest_first(outputs)]
    exact = [folder for folder in folders if folder.name == name]
    matching = exact or [folder for folder in folders if folder.name.startswith(name)]
    if len(matching) != 1:
        known = ", ".join(sorted(folder.name for folder in folders)) or "none yet"
        problem = "several sweeps begin so" if matching else "there is no such sweep"
        raise StoreError(f"{name}: {problem} under {outputs}/sweeps; stored: {known}")
    return StoredSweep(matching[0], _read(matching[0] / "sweep.json"))


def cells(outputs: Path, stored: StoredSweep) -> list[CellResult]:
    """The sweep's cells in grid order. Raises StoreError where one is gone, damaged, or of another schema version."""
    found = []
    for entry in stored.record["cells"]:
        folder = outputs / "cells" / entry["key"][:20]
        if not str(entry["key"]).isalnum():  # a name with ".." would lead out of the folder
            raise StoreError(f"{stored.name}: sweep.json is damaged: {entry['key']!r} is no key of a cell; run its command again")
        result = _cell(folder) if (folder / "result.json").exists() else None
        if result is None:
            raise StoreError(f"{stored.name}: the result of {entry['label']} is gone or damaged; run its command again: {stored.record['command']}")
        found.append(result)
    return found


def cell(place: Path) -> CellResult:
    """The cell in the folder `place`, or beside the result.json that `place` names. Raises StoreError where there is none."""
    folder = place.parent if place.name == "result.json" else place
    if not (folder / "result.json").exists():
        raise StoreError(f"{place}: no result.json here; a folder under outputs/cells/ would do")
    result = _cell(folder)
    if result is None:
        raise StoreError(f"{place}: damaged; run the cell again")
    return result


def _cell(folder: Path) -> CellResult | None:
    """None where it is damaged."""
    result = read_cell(folder)
    if result is None:
        checked(folder / "result.json", _json(folder / "result.json"))
    return result


def _newest_first(outputs: Path) -> list[Path]:
    return sorted(outputs.glob("sweeps/*/sweep.json"), key=lambda path: (-path.stat().st_mtime, path))


def _entry(path: Path) -> Entry:
    date = datetime.fromtimestamp(path.stat().st_mtime).replace(microsecond=0)
    try:
        return Entry(path.parent.name, date, str(path.parent), _read(path))
    except StoreError as error:
        return Entry(path.parent.name, date, str(path.parent), {}, str(error))


def _read(path: Path) -> Mapping[str, Any]:
    return checked(path, _json(path))


def _json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise StoreError(f"{path}: can't be read ({error}); run the sweep's command again, finished cells are reused") from error
