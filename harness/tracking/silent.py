"""The tracker for those who want plain files only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.tracking.base import SweepInfo, SweepOutcome
from harness.types import Cell, CellResult


@dataclass
class FilesOnly:
    """Tells nobody; the files under outputs/ hold everything all the same. `told`: where an equal sweep was told already."""

    told: Mapping[str, Any] = field(default_factory=lambda: {"tracker": "files"})

    def start(self, info: SweepInfo) -> None:
        """Nothing to open."""

    def cell_started(self, cell: Cell, key: str) -> None:
        """Nothing to tell."""

    def cell_finished(self, result: CellResult, files: Path) -> None:
        """Nothing to tell."""

    def cell_failed(self, cell: Cell, key: str, problem: str) -> None:
        """Nothing to tell."""

    def finish(self, outcome: SweepOutcome) -> None:
        """Nothing to close."""

    def abort(self) -> None:
        """Nothing to close."""

    def where(self) -> Mapping[str, Any]:
        """Files only, or where an equal sweep was told."""
        return self.told
