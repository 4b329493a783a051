"""Run the cells of a sweep: reuse what is finished, run the rest one by one, keep every result at once, lose nothing.

Knows nothing of Hydra or of the console: it is given planned cells and tells a listener what happens.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

from harness.course import Course, Failure, Impossible
from harness.errors import HarnessError, StoreError
from harness.evaluation import Scoring, evaluate
from harness.experiment import Experiment, Prepared, Retrieved, fitted, prepare, search
from harness.tracking.base import SweepInfo, SweepOutcome, Tracker
from harness.tracking.files import read_cell, write_cell
from harness.tracking.rankings import read_retrieved, write_retrieved
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


@dataclass(frozen=True)
class Runner:
    """Runs sweeps into `outputs`."""

    outputs: Path
    tracker: Tracker
    listener: Listener
    rerun: bool = False
    note_failure: Callable[[Cell, BaseException], None] = lambda cell, error: None
    _last: dict[str, Prepared] = field(default_factory=dict, init=False, repr=False)

    def run(self, plans: Sequence[Planned | Impossible], info: SweepInfo) -> Course:
        """Run the grid. A failing cell does not stop the others; Ctrl-C ends the sweep after marking it."""
        began, run = time.perf_counter(), Course()
        run.impossible = [plan for plan in plans if isinstance(plan, Impossible)]
        distinct = self._distinct([plan for plan in plans if isinstance(plan, Planned)], run)
        self.listener.sweep_started(len(distinct))
        found = {} if self.rerun else {plan.key: result for plan in distinct if (result := self._finished(plan.key)) is not None}
        run.untracked = not self._tell(lambda: self.tracker.start(info), run)
        try:
            for plan in distinct:
                self._one(plan, found.get(plan.key), run)
        except KeyboardInterrupt:
            run.stopped = True
            self._tell(self.tracker.abort, run)
        run.seconds = time.perf_counter() - began
        return run

    def finish(self, outcome: SweepOutcome, run: Course) -> None:
        """Tell the tracker how the sweep came out."""
        self._tell(lambda: self.tracker.finish(outcome), run)

    def cell_folder(self, key: str) -> Path:
        """Where the cell with this key keeps its files."""
        return self.outputs / "cells" / key[:20]

    def _finished(self, key: str) -> CellResult | None:
        result = read_cell(self.cell_folder(key))
        return result if result is not None and result.key == key else None

    def _distinct(self, plans: Sequence[Planned], run: Course) -> list[Planned]:
        first: dict[str, Planned] = {}
        for plan in plans:
            if plan.key in first:
                run.twins.append((plan.cell, first[plan.key].cell.label))
            else:
                first[plan.key] = plan
        place: dict[str, int] = {}
        return sorted(first.values(), key=lambda plan: place.setdefault(plan.shelf_key, len(place)))

    def _one(self, plan: Planned, finished: CellResult | None, run: Course) -> None:
        if finished is not None:
            run.reused.append(plan.key)
            self._keep(replace(finished, cell=plan.cell), run, reused=True)
            return
        self.listener.cell_started(plan.cell)
        self._tell(lambda: self.tracker.cell_started(plan.cell, plan.key), run)
        try:
            result = self._compute(plan)
        except (Exception, SystemExit) as error:  # noqa: BLE001  whatever a part raises, the other cells go on and this one is marked
            self._fail(plan, error, run)
        else:
            run.ran.append(plan.key)
            self._keep(result, run, reused=False)

    def _keep(self, result: CellResult, run: Course, *, reused: bool) -> None:
        run.results.append(result)
        self._tell(lambda: self.tracker.cell_finished(result, self.cell_folder(result.key)), run)
        self.listener.cell_finished(result, reused)

    def _fail(self, plan: Planned, error: BaseException, run: Course) -> None:
        said = [] if isinstance(error, HarnessError) else [type(error).__name__]
        problem = _printable(": ".join([*said, *str(error).strip().splitlines()[:1]]))
        failure = Failure(plan.cell, problem, isinstance(error, HarnessError))
        run.failures.append(failure)
        self.note_failure(plan.cell, error)
        self._tell(lambda: self.tracker.cell_failed(plan.cell, plan.key, problem), run)
        self.listener.cell_failed(failure)

    def _compute(self, plan: Planned) -> CellResult:
        retrieved = self._retrieved(plan)
        self.listener.stage("score")
        result = replace(evaluate(plan.experiment, retrieved, plan.scoring, plan.cell, plan.key), ranking_key=plan.ranking_key)
        write_cell(self.cell_folder(plan.key), result, corpus_facts(plan.experiment.corpus))
        return result

    def _retrieved(self, plan: Planned) -> Retrieved:
        place = self.outputs / "rankings" / plan.ranking_key[:20]
        stored = None if self.rerun else read_retrieved(place)
        if stored is not None and (served := fitted(plan.experiment, stored)) is not None:
            return served
        fresh = search(plan.experiment, self._prepared(plan), self.listener.stage)
        write_retrieved(place, fresh)
        return fresh

    def _prepared(self, plan: Planned) -> Prepared:
        """Chunks and vectors, of which the last are kept in memory: cells that share them stand next to one another."""
        held = self._last.get(plan.shelf_key)
        if held is not None:
            return held.again()
        self._last.clear()  # before the next are made, so that memory holds one at a time
        made = self._last[plan.shelf_key] = prepare(plan.experiment, self.listener.stage, self.listener.tokens)
        return made

    def _tell(self, act: Callable[[], None], run: Course) -> bool:
        """Tell the tracker; where that fails, warn once a message and go on: the files hold everything. One that did not start is left alone."""
        if run.untracked:
            return False
        try:
            act()
        except StoreError as error:
            line = f"not tracked: {error}"
            if line not in run.warnings:
                run.warnings.append(line)
                self.listener.warn(line)
            return False
        return True


def _printable(text: str) -> str:
    """What others say may hold anything; a terminal obeys some of it."""
    return "".join(sign if sign.isprintable() else "\ufffd" for sign in text)


def corpus_facts(corpus: Corpus) -> Mapping[str, Any]:
    """What a result says of the corpus it was measured on."""
    return {
        "name": corpus.name,
        "digest": corpus.digest,
        "questions_digest": corpus.questions_digest,
        "documents": len(corpus.documents),
        "questions": len(corpus.questions),
        "characters": sum(len(document.text) for document in corpus.documents),
    }
