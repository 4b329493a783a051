"""What becomes of the cells of a grid, told afterwards: which ran, were reused, are twins of others, can't exist, or failed."""

from __future__ import annotations

from collections.abc import Mapping
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


@dataclass(frozen=True)
class ScreenedOut:
    """Cells that a cheap look by the embedder `by` put clearly behind, so that they were not measured. `tokens`: what embedding them beside the
    others would have put through the model."""

    cells: tuple[Cell, ...]
    by: str
    tokens: int


@dataclass(frozen=True)
class Outcome:
    """How a cell ended in another process: with its files written, or with a `problem` in one line. `expected`: one of our own errors; `trace` is for
    the log; `prepared` and `searched` as in Course."""

    key: str
    problem: str | None = None
    expected: bool = False
    trace: str = ""
    prepared: tuple[float, ...] = ()
    searched: tuple[float, ...] = ()


@dataclass(frozen=True)
class Earlier:
    """What the same command did before: the cells that it ran, which count as run, and its failures by key with what
    is to be logged, which are told and not tried again. `embedded`: by shelf key, tokens of chunks that it embedded to see how fast it goes, which
    count as embedded for the cell that needs them."""

    ran: frozenset[str] = frozenset()
    failures: Mapping[str, tuple[Failure, str]] = field(default_factory=dict)
    embedded: Mapping[str, int] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.ran or self.failures)


@dataclass
class Course:
    """What became of every cell of the grid. `results` holds one entry a distinct cell, in grid order; `untracked`: the tracker gave up.

    `prepared` has the tokens that went through the model for each set of chunks that was made and embedded, `searched` the seconds of each search.
    """

    results: list[CellResult] = field(default_factory=list)
    ran: list[str] = field(default_factory=list)
    reused: list[str] = field(default_factory=list)
    twins: list[tuple[Cell, str]] = field(default_factory=list)
    impossible: list[Impossible] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    prepared: list[float] = field(default_factory=list)
    searched: list[float] = field(default_factory=list)
    seconds: float = 0.0
    stopped: bool = False
    untracked: bool = False
    screened: ScreenedOut | None = None
