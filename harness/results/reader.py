"""The reader: one object over plain files or MLflow."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pandas as pd

from harness.errors import ConfigError, StoreError
from harness.evaluation import Scoring
from harness.results.frames import cell_frame, question_frame
from harness.results.mlflow_source import Mlflow
from harness.results.source import Entry, Source
from harness.results.stored import Files
from harness.results.texts import question_texts
from harness.summary import selected
from harness.sweep import Select, Summary, summarise
from harness.types import CellResult

_URI = re.compile(r"[a-z][a-z0-9+]+:")
"""How a tracking URI begins. A path does not: one letter and a colon is a drive."""
_SWEEP_COLUMNS = ("name", "dataset", "date", "cells", "status", "key", "command")


@dataclass
class Results:
    """What sweeps measured. A sweep is named by its name or the beginning of it; None is the newest that can be read.

    What was read once is kept: open again to see what was measured since.
    """

    source: Source
    _entries: list[Entry] | None = field(default=None, init=False, repr=False)
    _read: dict[str, list[CellResult]] = field(default_factory=dict, init=False, repr=False)

    @classmethod
    def open(cls, place: str | Path) -> Results:
        """The results in a folder (`outputs`) or behind an MLflow tracking URI (`sqlite:///outputs/mlflow.db`, `http://localhost:5000`).

        Raises StoreError where there is no such folder. A server is asked only when something is read.
        """
        if isinstance(place, str) and _URI.match(place):
            return cls(Mlflow(place))
        folder = Path(place).expanduser()
        if not folder.is_dir():
            raise StoreError(f"{folder}: there is no such folder; chunk-sweep run experiment=quickstart makes outputs/, or give a tracking URI")
        return cls(Files(folder))

    def sweeps(self) -> pd.DataFrame:
        """One row a sweep, the newest first: `name`, `dataset`, `date`, `cells` (how many are finished), `status`, `key`, `command`.

        `date` is when it ended, local time. `status` is finished, failed (a cell did), stopped, running, or what is wrong with a record that can't
        be read.
        """
        return pd.DataFrame([_sweep_row(entry) for entry in self._all()], columns=list(_SWEEP_COLUMNS))

    def cells(self, sweep: str | None = None) -> pd.DataFrame:
        """One row a finished cell in grid order, with axes, tags and every metric; see `harness.results.frames.cell_frame`."""
        entry = self._entry(sweep)
        return cell_frame(self._results(entry), entry.record)

    def questions(self, sweep: str | None = None, cells: Sequence[str] | None = None, columns: Sequence[str] | None = None) -> pd.DataFrame:
        """One row a cell and question: `cell`, `key`, `id`, `question`, then `kind`, `answerable`, `attribution` … and each metric of a question.

        `question` is its text, None where it is not at hand: MLflow has it unless `tracking.store_text=false`; otherwise the corpus is loaded again,
        where it is still the one that was measured. `cells`: labels, or beginnings of keys; all by default. `columns`: which to have beside the first
        four. Raises ConfigError for a cell or column that is not there.
        """
        entry = self._entry(sweep)
        kept = self._results(entry) if cells is None else [_named(self._results(entry), word) for word in cells]
        frame = question_frame(kept)
        if frame.empty:
            return frame
        texts = self.source.texts(entry) or question_texts(kept[0].cell.config.get("dataset", {}), entry.record["corpus"]["questions_digest"])
        frame.insert(3, "question", [texts.get(name) for name in frame["id"]])
        if columns is None:
            return frame
        if unknown := [name for name in columns if name not in frame.columns]:
            raise ConfigError("columns", ", ".join(unknown), f"there is no such column; for example {', '.join(frame.columns[4:12])} would do")
        return frame[list(dict.fromkeys(["cell", "key", "id", "question", *columns]))]

    def results(self, sweep: str | None = None) -> list[CellResult]:
        """The finished cells as objects, for what compares cells question by question."""
        return list(self._results(self._entry(sweep)))

    def summary(self, sweep: str | None = None, metric: str | None = None) -> Summary:
        """Winner, tie group, Pareto front and curves, computed again from what is stored: what figures are drawn from.

        `metric` chooses the winner by another metric than the sweep did. Raises ConfigError where it is none to choose by.
        """
        entry = self._entry(sweep)
        return summarise(self._results(entry), _select(entry, metric), self.scoring(sweep))

    def scoring(self, sweep: str | None = None) -> Scoring:
        """The resamples and the seed that the sweep's intervals were made with."""
        found = self._results(self._entry(sweep))
        known = found[0].cell.config.get("scoring", {}) if found else {}
        return Scoring(**{name: known[name] for name in ("resamples", "seed") if name in known})

    def record(self, sweep: str | None = None) -> Entry:
        """The sweep's name, date, and what sweep.json says of it (MLflow keeps the larger part of that)."""
        return self._entry(sweep)

    def _all(self) -> list[Entry]:
        if self._entries is None:
            self._entries = self.source.entries()
        return self._entries

    def _entry(self, sweep: str | None) -> Entry:
        every = self._all()
        if sweep is None:
            readable = [entry for entry in every if not entry.problem]
            if not readable:
                raise StoreError(f"{self.source}: no sweeps yet; chunk-sweep run experiment=quickstart makes one")
            return readable[0]
        found = [entry for entry in every if entry.name == sweep] or [entry for entry in every if entry.name.startswith(sweep)]
        if len(found) != 1:
            problem = "several sweeps begin so" if found else "there is no such sweep"
            raise StoreError(f"{sweep}: {problem}; stored: {', '.join(entry.name for entry in every) or 'none yet'}")
        if found[0].problem:
            raise StoreError(found[0].problem)
        return found[0]

    def _results(self, entry: Entry) -> list[CellResult]:
        if entry.place not in self._read:
            self._read[entry.place] = self.source.results(entry)
        return self._read[entry.place]


def _sweep_row(entry: Entry) -> tuple[object, ...]:
    record = entry.record
    if entry.problem:
        return (entry.name, None, entry.date, 0, entry.problem, None, None)
    return (entry.name, record["corpus"]["name"], entry.date, len(record["cells"]), record["status"], record["key"], record["command"])


def _named(results: Sequence[CellResult], word: str) -> CellResult:
    exact = [result for result in results if word in (result.cell.label, result.key)]
    found = exact or [result for result in results if result.key.startswith(word)]
    if len(found) != 1:
        problem = "several keys begin so" if found else "there is no such cell"
        raise ConfigError("cells", word, f"{problem}; there are {'; '.join(result.cell.label for result in results)}")
    return found[0]


def _select(entry: Entry, metric: str | None) -> Select:
    chosen = selected(entry.record.get("select") or {})
    return replace(chosen, metric=metric or chosen.metric)
