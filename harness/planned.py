"""What a runner is given and whom it tells: planned cells, a listener, and an executor where cells run in other processes."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Protocol

from harness.course import Failure, Impossible, Outcome
from harness.evaluation import Scoring
from harness.experiment import Experiment
from harness.types import Cell, CellResult, Corpus


@dataclass(frozen=True)
class Planned:
    """A cell that can run. `key` decides reuse of its result, `ranking_key` reuse of what retrieval gave, `shelf_key` of chunks and vectors."""

    cell: Cell
    key: str
    ranking_key: str
    experiment: Experiment
    scoring: Scoring
    shelf_key: str


class Listener(Protocol):
    """Who is told what happens; every method returns at once."""

    def sweep_started(self, cells: int) -> None:
        """`cells` distinct cells are about to be run or reused."""
        ...

    def cell_started(self, cell: Cell) -> None:
        """A cell begins."""
        ...

    def stage(self, name: str) -> None:
        """A stage of the cell begins: chunk, embed, search, score."""
        ...

    def tokens(self, done: int, total: int) -> None:
        """The embedder has read `done` of `total` tokens of this cell."""
        ...

    def cell_finished(self, result: CellResult, reused: bool) -> None:
        """A cell has its result."""
        ...

    def cell_failed(self, failure: Failure) -> None:
        """A cell raised; the others go on."""
        ...

    def warn(self, line: str) -> None:
        """Something that a person should know, in one line."""
        ...


class Executor(Protocol):
    """Runs cells in other processes, which write the same files under the same outputs as the runner would."""

    def run(self, groups: Sequence[Sequence[Planned]], begun: Callable[[Planned], None]) -> Generator[Outcome, None, None]:
        """Run `groups` of cells, each of which shares its chunks and vectors. Gives one outcome a cell, in any order, and calls `begun` with a cell
        that is on its way where it knows. Closing the generator early ends the work."""
        ...


def by_corpus(plans: Sequence[Planned | Impossible]) -> list[tuple[Corpus, list[Planned]]]:
    """The cells that can run, corpus by corpus."""
    groups: dict[int, tuple[Corpus, list[Planned]]] = {}
    for plan in plans:
        if isinstance(plan, Planned):
            groups.setdefault(id(plan.experiment.corpus), (plan.experiment.corpus, []))[1].append(plan)
    return list(groups.values())


def distinct_cells(plans: Sequence[Planned]) -> tuple[list[Planned], list[tuple[Cell, str]]]:
    """Every cell once, those that share chunks and vectors next to each other, in grid order otherwise; and the twins, each with the label of the
    cell whose key it has."""
    first: dict[str, Planned] = {}
    twins: list[tuple[Cell, str]] = []
    for plan in plans:
        if plan.key in first:
            twins.append((plan.cell, first[plan.key].cell.label))
        else:
            first[plan.key] = plan
    place: dict[str, int] = {}
    return sorted(first.values(), key=lambda plan: place.setdefault(plan.shelf_key, len(place))), twins
