"""Run the cells of a sweep: reuse what is finished, run the rest one by one, keep every result at once, lose nothing.

Knows nothing of Hydra or of the console: it is given planned cells and tells a listener what happens.
"""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from harness.course import Course, Earlier, Failure, Impossible, Outcome
from harness.errors import HarnessError, StoreError, reason
from harness.evaluation import evaluate
from harness.experiment import Prepared, Retrieved, fitted, prepare, search
from harness.planned import Executor, Listener, Planned, distinct_cells
from harness.redaction import redacted
from harness.retrieval.base import reads_vectors
from harness.tracking.base import SweepInfo, SweepOutcome, Tracker
from harness.tracking.files import looks, read_cell, write_cell
from harness.tracking.rankings import read_retrieved, write_retrieved
from harness.types import Cell, CellResult, Corpus
from harness.visible import visible


@dataclass(frozen=True)
class Runner:
    """Runs sweeps into `outputs`: here, or where `executor` runs cells."""

    outputs: Path
    tracker: Tracker
    listener: Listener
    rerun: bool = False
    note_failure: Callable[[Cell, str], None] = lambda cell, trace: None
    executor: Executor | None = None
    earlier: Earlier = field(default_factory=Earlier)
    stopping: Callable[[], bool] = lambda: False
    """Asked before every cell: whether the sweep is to end there."""
    _last: dict[str, Prepared] = field(default_factory=dict, init=False, repr=False)

    def run(self, plans: Sequence[Planned | Impossible], info: SweepInfo) -> Course:
        """Run the grid. A failing cell does not stop the others; Ctrl-C, or a yes of `stopping`, ends the sweep after marking it."""
        began, run = time.perf_counter(), Course()
        run.impossible = [plan for plan in plans if isinstance(plan, Impossible)]
        distinct, run.twins = distinct_cells([plan for plan in plans if isinstance(plan, Planned)])
        self.listener.sweep_started(len(distinct))
        found = {} if self.rerun else {plan.key: result for plan in distinct if (result := self._finished(plan.key)) is not None}
        run.untracked = not self._tell(lambda: self.tracker.start(info), run)
        try:
            for plan in distinct:
                self._go_on()
                if self.executor is None or self._is_known(plan, found):
                    self._one(plan, found.get(plan.key), run)
            if self.executor is not None:
                self._elsewhere(self.executor, [plan for plan in distinct if not self._is_known(plan, found)], run)
        except KeyboardInterrupt:
            run.stopped = True
            self._tell(self.tracker.abort, run)
        _in_grid_order(run, distinct)
        run.seconds = time.perf_counter() - began
        return run

    def _go_on(self) -> None:
        if self.stopping():
            raise KeyboardInterrupt

    def finish(self, outcome: SweepOutcome, run: Course) -> None:
        """Tell the tracker how the sweep came out."""
        self._tell(lambda: self.tracker.finish(outcome), run)

    def cell_folder(self, key: str) -> Path:
        """Where the cell with this key keeps its files."""
        return self.outputs / "cells" / key[:20]

    def _finished(self, key: str) -> CellResult | None:
        result = read_cell(self.cell_folder(key))
        return result if result is not None and result.key == key else None

    def _one(self, plan: Planned, finished: CellResult | None, run: Course) -> None:
        if finished is not None:
            (run.ran if plan.key in self.earlier.ran else run.reused).append(plan.key)
            self._keep(replace(finished, cell=plan.cell), run, reused=True)
            return
        if (known := self.earlier.failures.get(plan.key)) is not None:
            self._fail(plan, replace(known[0], cell=plan.cell), known[1], run)
            return
        self.listener.cell_started(plan.cell)
        self._tell(lambda: self.tracker.cell_started(plan.cell, plan.key), run)
        try:
            result = self._compute(plan, run)
        except (Exception, SystemExit) as error:  # noqa: BLE001  whatever a part raises, the other cells go on and this one is marked
            failure = Failure(plan.cell, redacted(visible(reason(error))), isinstance(error, HarnessError))
            self._fail(plan, failure, "".join(traceback.format_exception(error)), run)
        else:
            run.ran.append(plan.key)
            self._keep(result, run, reused=False)

    def _keep(self, result: CellResult, run: Course, *, reused: bool) -> None:
        run.results.append(result)
        self._tell(lambda: self.tracker.cell_finished(result, self.cell_folder(result.key)), run)
        self.listener.cell_finished(result, reused)

    def _fail(self, plan: Planned, failure: Failure, trace: str, run: Course) -> None:
        run.failures.append(failure)
        self.note_failure(plan.cell, trace or failure.problem)
        self._tell(lambda: self.tracker.cell_failed(plan.cell, plan.key, failure.problem), run)
        self.listener.cell_failed(failure)

    def _is_known(self, plan: Planned, found: Mapping[str, CellResult]) -> bool:
        return plan.key in found or plan.key in self.earlier.failures

    def _elsewhere(self, executor: Executor, plans: Sequence[Planned], run: Course) -> None:
        """Have `plans` run by other processes; this one alone tells the tracker, from the files that they wrote."""
        groups: dict[str, list[Planned]] = {}
        for plan in plans:
            groups.setdefault(plan.shelf_key, []).append(plan)
        by_key, begun = {plan.key: plan for plan in plans}, set[str]()

        def begin(plan: Planned) -> None:
            if plan.key not in begun:
                begun.add(plan.key)
                self.listener.cell_started(plan.cell)
                self._tell(lambda: self.tracker.cell_started(plan.cell, plan.key), run)

        with closing(executor.run(list(groups.values()), begin)) as outcomes:
            for outcome in outcomes:
                begin(by_key[outcome.key])
                self._back(by_key[outcome.key], outcome, run)

    def _back(self, plan: Planned, outcome: Outcome, run: Course) -> None:
        run.prepared.extend(outcome.prepared)
        run.searched.extend(outcome.searched)
        problem, result = outcome.problem, None
        if problem is None and (result := self._arrived(plan.key)) is None:
            place = self.cell_folder(plan.key)
            problem = f"the process that ran it wrote {place}, but it is not to be read here: outputs must lie in a folder that all machines share"
        if result is None:
            self._fail(plan, Failure(plan.cell, redacted(visible(problem or "")), outcome.expected), outcome.trace, run)
        else:
            run.ran.append(plan.key)
            self._keep(replace(result, cell=plan.cell), run, reused=False)

    def _arrived(self, key: str) -> CellResult | None:
        """The files of a cell that another machine wrote; a network file system may show them late."""
        for _ in looks():
            if (result := self._finished(key)) is not None:
                return result
        return None

    def _compute(self, plan: Planned, run: Course) -> CellResult:
        retrieved = self._retrieved(plan, run)
        self.listener.stage("score")
        result = replace(evaluate(plan.experiment, retrieved, plan.scoring, plan.cell, plan.key), ranking_key=plan.ranking_key)
        write_cell(self.cell_folder(plan.key), result, corpus_facts(plan.experiment.corpus))
        return result

    def _retrieved(self, plan: Planned, run: Course) -> Retrieved:
        place = self.outputs / "rankings" / plan.ranking_key[:20]
        stored = None if self.rerun else read_retrieved(place)
        if stored is not None and (served := fitted(plan.experiment, stored)) is not None:
            return served
        fresh = search(plan.experiment, self._prepared(plan, run), self.listener.stage)
        run.searched.append(fresh.facts["seconds_index"] + fresh.facts["seconds_search"])
        write_retrieved(place, fresh)
        return fresh

    def _prepared(self, plan: Planned, run: Course) -> Prepared:
        """Chunks and vectors, of which the last are kept in memory: cells that share them stand next to one another."""
        held, reads = self._last.get(plan.shelf_key), reads_vectors(plan.experiment.retriever)
        if held is not None and (held.vectors or not reads):
            return held.again(reads)
        self._last.clear()  # before the next are made, so that memory holds one at a time
        made = prepare(plan.experiment, self.listener.stage, self.listener.tokens, held)
        made = made.charged(self.earlier.embedded.get(plan.shelf_key, 0))
        self._last[plan.shelf_key] = made
        if held is None:
            run.prepared.append(0.0)
        run.prepared[-1] += made.facts["embedded_tokens"]
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


def _in_grid_order(run: Course, plans: Sequence[Planned]) -> None:
    """Cells that ran side by side end in any order; ties and tables must not depend on it."""
    place = {plan.key: number for number, plan in enumerate(plans)}
    labels = {plan.cell.label: number for number, plan in enumerate(plans)}
    run.results.sort(key=lambda result: place[result.key])
    run.ran.sort(key=place.__getitem__)
    run.failures.sort(key=lambda failure: labels[failure.cell.label])


def corpus_facts(corpus: Corpus) -> Mapping[str, Any]:
    """What a result says of the corpus it was measured on."""
    return {
        "name": corpus.name,
        "digest": corpus.digest,
        "questions_digest": corpus.questions_digest,
        "documents": len(corpus.documents),
        "questions": len(corpus.questions),
        "characters": sum(document.length for document in corpus.documents),
    }
