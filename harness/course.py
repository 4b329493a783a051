"""What becomes of the cells of a grid, told afterwards: which ran, were reused, are twins of others, can't exist, or failed."""

from __future__ import annotations

from dataclasses import dataclass, field

from harness.types import Cell, CellResult


@dataclass(frozen=True)
class Impossible:
    """A combination of the grid that can't exist, and why."""

    cell: Cell
    reason: str


@dataclass(frozen=True)
class Failure:
    """A cell that raised, in one line."""

    cell: Cell
    problem: str
    expected: bool


@dataclass
class Course:
    """What became of every cell of the grid. `results` holds one entry a distinct cell, in grid order; `untracked`: the tracker gave up."""

    results: list[CellResult] = field(default_factory=list)
    ran: list[str] = field(default_factory=list)
    reused: list[str] = field(default_factory=list)
    twins: list[tuple[Cell, str]] = field(default_factory=list)
    impossible: list[Impossible] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    seconds: float = 0.0
    stopped: bool = False
    untracked: bool = False
