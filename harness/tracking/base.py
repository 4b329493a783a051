"""The contract of a tracker: where the course and the results of a sweep are told.

A tracker is told what happens, in this order: `start`, then for every cell `cell_started` and one of `cell_finished` or `cell_failed`, then
`finish` (or `abort`). A crash half-way leaves what was open marked as failed at the next start of the same sweep; it never looks finished.
A tracker may raise StoreError; the runner then warns and goes on, because files hold every result already.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from harness.types import Cell, CellResult, Corpus


@dataclass(frozen=True, slots=True)
class SweepInfo:
    """What is known before the first cell: a name, the sweep's key (equal for equal grids on equal data), the corpus, how many cells."""

    name: str
    key: str
    corpus: Corpus
    cells: int
    command: str


@dataclass(frozen=True, slots=True)
class SweepOutcome:
    """What is known after the last cell: the verdict in Markdown, curves as name -> [(size, value)], files to keep, tags of cells by key, and how
    the winner was chosen (what sweep.json has under `select`)."""

    note: str
    curves: Mapping[str, list[tuple[int, float]]]
    files: tuple[Path, ...] = ()
    tags: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    metrics: Mapping[str, float] = field(default_factory=dict)
    complete: bool = True
    select: Mapping[str, Any] = field(default_factory=dict)


class Tracker(Protocol):
    """Where results are told."""

    def start(self, info: SweepInfo) -> None:
        """Open the sweep, or open it again where an earlier run of the same sweep was interrupted."""
        ...

    def cell_started(self, cell: Cell, key: str) -> None:
        """A cell begins."""
        ...

    def cell_finished(self, result: CellResult, files: Path) -> None:
        """A cell has its result; `files` is the folder that holds it."""
        ...

    def cell_failed(self, cell: Cell, key: str, problem: str) -> None:
        """A cell raised; `problem` is one line."""
        ...

    def finish(self, outcome: SweepOutcome) -> None:
        """All cells are through."""
        ...

    def abort(self) -> None:
        """The sweep ends early (Ctrl-C)."""
        ...

    def where(self) -> Mapping[str, Any]:
        """What finds the sweep again: for MLflow its tracking URI, experiment and run ids."""
        ...
