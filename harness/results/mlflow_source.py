"""Results in MLflow: a parent run is a sweep, its children are the cells, their artifacts hold everything that was measured.

MLflow is imported when something is read, not before: to import it takes seconds.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from harness.errors import StoreError
from harness.redaction import redacted
from harness.results.frames import TAGS
from harness.results.schema import checked
from harness.results.source import Entry
from harness.tracking.files import SCHEMA_VERSION, read_table, result_of
from harness.tracking.mlflow_client import quiet_client, store_errors
from harness.tracking.names import TAG_CELL, TAG_COMMAND, TAG_PARENT, TAG_SELECT, TAG_SWEEP, safe_name
from harness.types import CellResult

if TYPE_CHECKING:
    from mlflow.entities import Run
    from mlflow.tracking import MlflowClient

_STATUS = {"FINISHED": "finished", "FAILED": "failed", "KILLED": "stopped", "RUNNING": "running"}
_PAGE = 1000
_TEXT = "question"
_FILES = ("result.json", "config.json", "questions.parquet")


@dataclass
class Mlflow:
    """The results behind a tracking URI."""

    uri: str
    _client: MlflowClient | None = field(default=None, init=False, repr=False)
    _texts: dict[str, dict[str, str]] = field(default_factory=dict, init=False, repr=False)

    def entries(self) -> list[Entry]:
        """Every parent run that a sweep left, the newest first."""
        with store_errors(self.uri):
            names = {found.experiment_id: found.name for found in self._use().search_experiments()}
            parents = list(self._runs(list(names), f"tags.`{TAG_SWEEP}` LIKE '%'")) if names else []
            found = [self._entry(run, names[run.info.experiment_id]) for run in parents]
        return sorted(found, key=lambda entry: (-entry.date.timestamp(), entry.name))

    def _entry(self, run: Run, experiment: str) -> Entry:
        tags, params = run.data.tags, run.data.params
        children = self._finished(run.info.run_id, run.info.experiment_id)
        marked = {tag: [child.data.tags[TAG_CELL] for child in children if child.data.tags.get(tag) == "true"] for tag in TAGS}
        record = {
            "schema_version": SCHEMA_VERSION,
            "status": _STATUS.get(run.info.status, str(run.info.status).lower()),
            "name": run.info.run_name,
            "key": tags[TAG_SWEEP],
            "command": tags.get(TAG_COMMAND, ""),
            "corpus": {"name": experiment, "digest": params.get("corpus_digest", ""), "questions_digest": params.get("questions_digest", "")},
            "select": json.loads(tags.get(TAG_SELECT, "{}")),
            "cells": [{"label": child.info.run_name, "key": child.data.tags[TAG_CELL], "run_id": child.info.run_id} for child in children],
            "winner": next(iter(marked["winner"]), None),
            "tied": marked["tied_with_winner"],
            "cheapest": next(iter(marked["cheapest_of_tied"]), None),
            "pareto": marked["pareto"],
        }
        date = datetime.fromtimestamp((run.info.end_time or run.info.start_time) // 1000)
        return Entry(f"{safe_name(experiment)}-{tags[TAG_SWEEP][:12]}", date, run.info.run_id, record)

    def _finished(self, parent: str, experiment: str) -> list[Run]:
        """The finished children in the order in which they were begun, the last of each cell."""
        runs = self._runs([experiment], f"tags.`{TAG_PARENT}` = '{parent}' AND attributes.status = 'FINISHED'")
        cells = {run.data.tags[TAG_CELL]: run for run in sorted(runs, key=lambda run: (run.info.start_time, run.info.end_time))}
        return list(cells.values())

    def _runs(self, experiments: list[str], filter_string: str) -> Iterator[Run]:
        token = None
        while True:
            page = self._use().search_runs(experiments, filter_string, max_results=_PAGE, page_token=token)
            yield from page
            token = page.token
            if not token:
                return

    def results(self, entry: Entry) -> list[CellResult]:
        """See Source. Downloads the children's artifacts, a cell at a time, into a folder that is gone afterwards."""
        found = []
        with store_errors(self.uri):
            for cell in entry.record["cells"]:
                with tempfile.TemporaryDirectory() as folder:
                    found.append(self._cell(entry, cell, Path(folder)))
        return found

    def _cell(self, entry: Entry, cell: Mapping[str, str], folder: Path) -> CellResult:
        place = f"{self}, run {cell['run_id']}"
        paths = {name: Path(self._use().download_artifacts(cell["run_id"], name, str(folder))) for name in _FILES}
        try:
            record, config = (json.loads(paths[name].read_text(encoding="utf-8")) for name in ("result.json", "config.json"))
        except ValueError as error:
            raise StoreError(f"{place}: result.json or config.json is damaged ({error}); delete the run and run its cell again") from error
        questions = read_table(paths["questions.parquet"]).to_pandas()
        return result_of(checked(f"{place}, result.json", record), config, self._without_texts(entry, questions))

    def _without_texts(self, entry: Entry, questions: pd.DataFrame) -> pd.DataFrame:
        """The table as plain files have it; the questions' text, where it was stored, is set aside."""
        if _TEXT not in questions.columns:
            return questions
        self._texts.setdefault(entry.place, dict(zip(questions["id"], questions[_TEXT], strict=True)))
        return questions.drop(columns=_TEXT)

    def texts(self, entry: Entry) -> Mapping[str, str]:
        """What `tracking.store_text` allowed to be kept; known once `results` was called."""
        return self._texts.get(entry.place, {})

    def _use(self) -> MlflowClient:
        if self._client is None:
            self._client = quiet_client(self.uri)
        return self._client

    def __str__(self) -> str:
        return redacted(self.uri)
