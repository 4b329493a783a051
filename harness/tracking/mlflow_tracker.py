"""MLflow: one experiment a dataset, a parent run a sweep, a child run a cell.

The store is created once, by the parent, before any worker logs. MLflow stores NaN as 0 and infinity as the largest float, so neither is sent.
MLflow's own usage reports are switched off before it is imported.
"""

from __future__ import annotations

import json
import math
import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from harness.corpus.card import card_markdown
from harness.errors import StoreError
from harness.redaction import redacted
from harness.tracking.base import SweepInfo, SweepOutcome
from harness.tracking.files import QUESTIONS, read_table, write_table
from harness.tracking.mlflow_client import quiet_client, store_errors
from harness.tracking.mlflow_entities import VALUE_LIMIT, curve_entities, dataset_input, metric_entities, param_entities, params_of, tag_entities
from harness.tracking.mlflow_notes import NOTE_LIMIT, cell_note, description_of, failure_note
from harness.tracking.names import NOTE, TAG_CELL, TAG_COMMAND, TAG_PARENT, TAG_REUSED, TAG_SELECT, TAG_SWEEP, safe_name
from harness.types import Cell, CellResult

if TYPE_CHECKING:
    from mlflow.tracking import MlflowClient

_NAME_LIMIT = 250
_BATCH = 1000  # MLflow takes no more metrics at once


@dataclass
class MlflowTracker:
    """Tells MLflow. `uri` None means SQLite in `outputs`; with `store_text` False no text of documents or questions is sent.

    What a failing part says may quote a text, so without `store_text` the reason of a failure is not sent either.
    """

    outputs: str
    uri: str | None = None
    store_text: bool = True
    _runs: dict[str, str] = field(default_factory=dict, init=False, repr=False)
    _open: set[str] = field(default_factory=set, init=False, repr=False)
    _parent: str = field(default="", init=False, repr=False)
    _experiment: str = field(default="", init=False, repr=False)
    _client: MlflowClient | None = field(default=None, init=False, repr=False)
    _info: SweepInfo | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        if isinstance(self.outputs, str):
            self.outputs = str(self._folder)  # a part may change the current folder

    @property
    def address(self) -> str:
        """The tracking URI in use."""
        return self.uri or f"sqlite:///{self._folder / 'mlflow.db'}"

    @property
    def _folder(self) -> Path:
        return Path(os.path.expanduser(self.outputs)).resolve()

    def start(self, info: SweepInfo) -> None:
        """Create the store where it is new; open the sweep's run, again where an earlier one with the same key was interrupted."""
        self._info = info
        with store_errors(self.address):
            if self.uri is None:
                self._folder.mkdir(parents=True, exist_ok=True)
            self._client = quiet_client(self.address)
            self._experiment = self._experiment_id(info)
            self._parent = self._open_parent(info)
            self._runs = self._settle_children()

    def _experiment_id(self, info: SweepInfo) -> str:
        client, name = self._use(), info.corpus.name
        found, description = client.get_experiment_by_name(name), description_of(info.corpus)
        if found is None:
            # Without a server MLflow would put artifacts into ./mlruns, wherever the command happens to be run.
            place = (self._folder / "mlruns" / safe_name(name)).as_uri() if self.address.startswith("sqlite:") else None
            return str(client.create_experiment(name, artifact_location=place, tags={NOTE: description}))
        if found.tags.get(NOTE, "").startswith(description.split("**")[0]) and found.tags[NOTE] != description:
            client.set_experiment_tag(found.experiment_id, NOTE, description)  # one that a person wrote stays
        return str(found.experiment_id)

    def _open_parent(self, info: SweepInfo) -> str:
        client = self._use()
        found = client.search_runs([self._experiment], f"tags.`{TAG_SWEEP}` = '{info.key}'", max_results=1)
        if found:
            client.update_run(found[0].info.run_id, status="RUNNING")
            return str(found[0].info.run_id)
        tags = {TAG_SWEEP: info.key, TAG_COMMAND: info.command[:VALUE_LIMIT], "chunk_sweep.cells": str(info.cells)}
        run = client.create_run(self._experiment, run_name=info.name[:_NAME_LIMIT], tags=tags)
        with tempfile.TemporaryDirectory() as folder:
            card = Path(folder) / "corpus_card.md"
            card.write_text(card_markdown(info.corpus, warnings=self.store_text), encoding="utf-8")
            client.log_artifact(run.info.run_id, str(card))
        self._log_data(run.info.run_id)
        return str(run.info.run_id)

    def _log_data(self, run_id: str, params: Mapping[str, str] | None = None) -> None:
        """The corpus as the run's data set and among its parameters."""
        corpus, client = self._told().corpus, self._use()
        facts = {"dataset": corpus.name, "corpus_digest": corpus.digest, "questions_digest": corpus.questions_digest}
        client.log_inputs(run_id, datasets=[dataset_input(corpus)])
        client.log_batch(run_id, params=param_entities({**(params or {}), **facts}))

    def _settle_children(self) -> dict[str, str]:
        """Cells that are finished already, by key; children that a killed process left open are marked as failed."""
        client, finished, token = self._use(), {}, None
        while True:
            page = client.search_runs([self._experiment], f"tags.`{TAG_PARENT}` = '{self._parent}'", max_results=1000, page_token=token)
            for run in page:
                if run.info.status == "RUNNING":
                    client.set_tag(run.info.run_id, "chunk_sweep.problem", "the process ended before this cell did")
                    client.set_terminated(run.info.run_id, status="FAILED")
                elif run.info.status == "FINISHED":
                    finished[run.data.tags.get(TAG_CELL, "")] = run.info.run_id
            token = page.token
            if not token:
                return finished

    def cell_started(self, cell: Cell, key: str) -> None:
        """Open the cell's run, so that it shows while it works and is seen to have failed if the process dies."""
        with store_errors(self.address):
            self._runs[key] = self._create_child(cell, key)

    def _create_child(self, cell: Cell, key: str, **tags: str) -> str:
        client = self._use()
        about = {TAG_PARENT: self._parent, TAG_CELL: key, **tags}
        run = client.create_run(self._experiment, run_name=cell.label[:_NAME_LIMIT], tags=about)
        self._open.add(run.info.run_id)
        self._log_data(run.info.run_id, params_of(cell))
        return str(run.info.run_id)

    def cell_finished(self, result: CellResult, files: Path) -> None:
        """Metrics, tables and configuration of a cell; a cell reused from an earlier sweep becomes a child of this one too."""
        with store_errors(self.address):
            client, run_id = self._use(), self._runs.get(result.key)
            if run_id is None:
                run_id = self._runs[result.key] = self._create_child(result.cell, result.key, **{TAG_REUSED: "true"})
            elif run_id not in self._open and client.get_run(run_id).info.status == "FINISHED":
                return
            tags = {"chunk_digest": result.chunk_digest, NOTE: cell_note(result, self._told())}
            client.log_batch(run_id, metrics=metric_entities(result), tags=tag_entities(tags))
            self._log_files(run_id, files)
            self._close(run_id, "FINISHED")

    def _log_files(self, run_id: str, files: Path) -> None:
        client = self._use()
        for name in ("result.json", "config.json"):
            client.log_artifact(run_id, str(files / name))
        if not self.store_text:
            client.log_artifact(run_id, str(files / QUESTIONS))
            return
        asked = pa.array([question.text for question in self._told().corpus.questions], pa.string())
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / QUESTIONS
            write_table(path, read_table(files / QUESTIONS).append_column("question", asked))
            client.log_artifact(run_id, str(path))

    def cell_failed(self, cell: Cell, key: str, problem: str) -> None:
        """Mark the cell's run as failed, with the reason."""
        with store_errors(self.address):
            run_id = self._runs.pop(key, None) or self._create_child(cell, key)
            told = problem if self.store_text else "sweep.log says why"
            tags = {"chunk_sweep.problem": told[:VALUE_LIMIT], NOTE: failure_note(cell, self._told(), told)}
            self._use().log_batch(run_id, tags=tag_entities(tags))
            self._close(run_id, "FAILED")

    def _close(self, run_id: str, status: str) -> None:
        self._use().set_terminated(run_id, status=status)
        self._open.discard(run_id)

    def finish(self, outcome: SweepOutcome) -> None:
        """The verdict, the curves over size, the files; the parent is FAILED where a cell failed."""
        with store_errors(self.address):
            client = self._use()
            about = {NOTE: outcome.note[:NOTE_LIMIT], TAG_SELECT: json.dumps(dict(outcome.select))}
            client.log_batch(self._parent, tags=tag_entities(about))
            points = curve_entities(outcome.curves)
            for first in range(0, len(points), _BATCH):
                client.log_batch(self._parent, metrics=points[first : first + _BATCH])
            for name, value in outcome.metrics.items():
                if math.isfinite(value):
                    client.log_metric(self._parent, name, value)
            for path in outcome.files:
                client.log_artifact(self._parent, str(path))
            for key, tags in outcome.tags.items():
                if key in self._runs:
                    client.log_batch(self._runs[key], tags=tag_entities(tags))
            client.set_terminated(self._parent, status="FINISHED" if outcome.complete else "FAILED")

    def abort(self) -> None:
        """Mark the sweep and the cell in flight as killed; the same command goes on with it."""
        if self._client is not None and self._parent:
            with store_errors(self.address):
                for run_id in [*self._open, self._parent]:
                    self._close(run_id, "KILLED")

    def where(self) -> Mapping[str, Any]:
        """URI (without a password: this is kept), experiment and parent run."""
        uri = redacted(self.address)
        return {"tracker": "mlflow", "uri": uri, "experiment_id": self._experiment, "run_id": self._parent, "store_text": self.store_text}

    def _use(self) -> MlflowClient:
        if self._client is None:
            raise StoreError("the tracker was not started")
        return self._client

    def _told(self) -> SweepInfo:
        if self._info is None:
            raise StoreError("the tracker was not started")
        return self._info
