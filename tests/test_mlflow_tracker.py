"""What MLflow is told, on a real SQLite store."""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from front_cases import ROOT, call, experiment_on, planned, small_corpus, write_corpus

from harness.errors import StoreError
from harness.evaluation import evaluate
from harness.experiment import retrieve
from harness.tracking.base import SweepInfo, SweepOutcome
from harness.tracking.files import write_cell
from harness.tracking.mlflow_entities import metric_entities
from harness.tracking.mlflow_tracker import MlflowTracker
from harness.tracking.names import LOGGED_METRICS
from harness.types import CellResult, Corpus

pytestmark = pytest.mark.filterwarnings("ignore")  # MLflow's own imports warn
GRID = ("embedder=hashing", "scoring.resamples=60", "unit=words", "-m", "strategy=fixed,recursive", "size=12,24", "overlap=0,25%")


@pytest.fixture(scope="session")
def empty_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store without experiments; to make one takes seconds, to copy one does not."""
    from mlflow.tracking import MlflowClient

    path = tmp_path_factory.mktemp("store") / "mlflow.db"
    MlflowClient(f"sqlite:///{path}").search_experiments()
    return path


@pytest.fixture
def outputs(tmp_path: Path, empty_store: Path) -> Path:
    folder = tmp_path / "out puts"
    folder.mkdir()
    shutil.copy(empty_store, folder / "mlflow.db")
    return folder


class Store:
    """What a store holds, by its own client."""

    def __init__(self, outputs: Path) -> None:
        from mlflow.tracking import MlflowClient

        self.client = MlflowClient(f"sqlite:///{outputs.resolve() / 'mlflow.db'}")

    def runs(self, filter_string: str = "", name: str = "harbour") -> list[Any]:
        experiment = self.client.get_experiment_by_name(name)
        assert experiment is not None
        return list(self.client.search_runs([experiment.experiment_id], filter_string))

    def parents(self) -> list[Any]:
        return [run for run in self.runs() if "mlflow.parentRunId" not in run.data.tags]

    def children(self, parent: Any) -> list[Any]:
        return self.runs(f"tags.`mlflow.parentRunId` = '{parent.info.run_id}'")

    def files(self, run: Any) -> set[str]:
        return {item.path for item in self.client.list_artifacts(run.info.run_id)}


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory, empty_store: Path) -> Path:
    """One sweep of eight cells, told to MLflow."""
    folder = tmp_path_factory.mktemp("swept")
    write_corpus(folder / "harbour", documents=4)
    (folder / "outputs").mkdir()
    shutil.copy(empty_store, folder / "outputs" / "mlflow.db")
    from harness.cli.main import main

    assert main(["run", "dataset=folder", f"dataset.path={folder}/harbour", f"outputs={folder}/outputs", *GRID]) == 0
    return folder


def words_of(swept: Path) -> tuple[str, ...]:
    return ("run", "dataset=folder", f"dataset.path={swept}/harbour", f"outputs={swept}/outputs", *GRID)


def test_one_experiment_a_dataset_a_parent_a_sweep_a_child_a_cell(swept: Path) -> None:
    store = Store(swept / "outputs")
    assert [experiment.name for experiment in store.client.search_experiments() if experiment.name != "Default"] == ["harbour"]
    (parent,) = store.parents()
    children = store.children(parent)
    assert len(children) == 8
    assert {run.info.status for run in [parent, *children]} == {"FINISHED"}
    assert "fixed size=12 overlap=25% hashing" in {run.info.run_name for run in children}
    assert "Chunking sweeps on **harbour**" in store.client.get_experiment_by_name("harbour").tags["mlflow.note.content"]


def test_parameters_and_metrics_are_those_of_the_files(swept: Path) -> None:
    store = Store(swept / "outputs")
    for run in store.children(store.parents()[0]):
        record = json.loads((swept / "outputs" / "cells" / run.data.tags["chunk_sweep.cell_key"][:20] / "result.json").read_text())
        assert {name: run.data.params[name] for name in ("strategy", "embedder", "unit", "dataset")} == {
            **{name: record["cell"][name] for name in ("strategy", "embedder", "unit")},
            "dataset": "harbour",
        }
        assert (run.data.params["size"], run.data.params["overlap"]) == (str(record["cell"]["size"]), str(record["cell"]["overlap"]))
        assert json.loads(run.data.params["config"])["size"] == record["cell"]["size"]
        for name in LOGGED_METRICS:
            assert run.data.metrics.get(name) == record["metrics"].get(name), name
        points = {point.step: point.value for point in store.client.get_metric_history(run.info.run_id, "complete_at_k")}
        assert points == {k: record["metrics"][f"complete_at_{k}"] for k in (1, 3, 5, 10, 20)}


def test_the_parent_has_curves_over_size_and_the_verdict(swept: Path) -> None:
    store = Store(swept / "outputs")
    (parent,) = store.parents()
    for name in ("answer_existence", "complete_within_2048"):
        points = store.client.get_metric_history(parent.info.run_id, f"{name}/recursive/hashing/overlap_25pct")
        assert {point.step for point in points} == {12, 24}
    assert {"leaderboard.csv", "verdict.md", "size_discrimination.png", "corpus_card.md"} <= store.files(parent)
    assert "### Leaderboard" in parent.data.tags["mlflow.note.content"]
    assert parent.data.params["corpus_digest"]
    assert parent.data.tags["chunk_sweep.command"].startswith("chunk-sweep run ")


def test_winner_and_ties_are_tags(swept: Path) -> None:
    store = Store(swept / "outputs")
    children = store.children(store.parents()[0])
    sweep = json.loads(next(swept.glob("outputs/sweeps/*/sweep.json")).read_text())
    by_key = {run.data.tags["chunk_sweep.cell_key"]: run.data.tags for run in children}
    assert {key for key, tags in by_key.items() if tags["winner"] == "true"} == {sweep["winner"]}
    assert {key for key, tags in by_key.items() if tags["cheapest_of_tied"] == "true"} == {sweep["cheapest"]}
    assert {key for key, tags in by_key.items() if tags["tied_with_winner"] == "true"} == set(sweep["tied"])


def test_children_hold_tables_and_configuration(swept: Path) -> None:
    store = Store(swept / "outputs")
    child = store.children(store.parents()[0])[0]
    assert {"result.json", "config.json", "questions.parquet"} <= store.files(child)
    table = pd.read_parquet(store.client.download_artifacts(child.info.run_id, "questions.parquet"))
    assert table["question"].str.startswith(("What of", "Who painted")).all()


def test_an_equal_sweep_is_not_told_again_and_loads_no_mlflow(swept: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in (swept / "outputs").rglob("*") if path.suffix == ".db" or "mlruns" in path.parts}
    program = "import sys; from harness.cli.main import main; s = main(sys.argv[1:]); sys.exit(s or 9 * ('mlflow' in sys.modules))"
    again = subprocess.run([sys.executable, "-c", program, *words_of(swept)], cwd=ROOT, capture_output=True, text=True, timeout=100)
    assert again.returncode == 0, again.stderr
    assert "8 reused" in again.stdout
    after = {path: path.stat().st_mtime_ns for path in (swept / "outputs").rglob("*") if path.suffix == ".db" or "mlruns" in path.parts}
    assert after == before


def test_another_choice_of_winner_is_told(swept: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(capsys, *words_of(swept), "select.metric=complete_at_5").status == 0
    (parent,) = Store(swept / "outputs").parents()
    assert "complete_at_5" in parent.data.metrics
    assert call(capsys, *words_of(swept)).status == 0


def test_a_cell_of_another_sweep_is_a_child_that_says_so(swept: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = [word for word in words_of(swept) if not word.startswith(("size=", "overlap="))]
    assert call(capsys, *words, "size=12,18", "overlap=0").status == 0
    store = Store(swept / "outputs")
    newest = max(store.parents(), key=lambda run: run.info.start_time)
    reused = {run.info.run_name: run.data.tags.get("reused") for run in store.children(newest)}
    assert reused == {
        f"{strategy} size={size} overlap=0 hashing": "true" if size == 12 else None for strategy in ("fixed", "recursive") for size in (12, 18)
    }


def told(corpus: Corpus, outputs: Path, **changes: Any) -> CellResult:
    """A small result with its files in `outputs`/cell."""
    experiment = experiment_on(corpus, **changes)
    plan = planned(experiment)
    result = evaluate(experiment, retrieve(experiment, lambda name: None, lambda done, total: None), plan.scoring, plan.cell, plan.key)
    write_cell(outputs / "cell", result, {})
    return result


def open_sweep(outputs: Path, corpus: Corpus, *, key: str = "k", **changes: Any) -> MlflowTracker:
    tracker = MlflowTracker(str(outputs), **changes)
    tracker.start(SweepInfo("try", key, corpus, 1, "chunk-sweep run"))
    return tracker


def test_undefined_metrics_are_left_out(tmp_path: Path, outputs: Path) -> None:
    """The store would keep NaN as 0 and infinity as the largest float, and rank such runs first or last."""
    corpus = small_corpus(tmp_path / "harbour")
    result = told(corpus, outputs)
    odd: dict[str, float | None] = {"discrimination": None, "auc": np.nan, "selectivity_bits": np.inf, "tokens_to_answer_median": -np.inf}
    result = replace(result, metrics={**result.metrics, **odd, "complete_at_5": np.nan})
    assert all(np.isfinite(metric.value) for metric in metric_entities(result))
    tracker = open_sweep(outputs, corpus)
    tracker.cell_started(result.cell, result.key)
    tracker.cell_finished(result, outputs / "cell")
    tracker.finish(SweepOutcome("note", {"discrimination/a b%=c": [(1, np.nan), (2, 0.5)]}, metrics={"complete_at_5": np.nan}))
    store = Store(outputs)
    for name in odd:
        for bound in ("< 1000", "> -1000", f"> {10**300}"):
            assert store.runs(f"metrics.{name} {bound}") == []
    (parent,) = store.parents()
    assert set(parent.data.metrics) == {"discrimination/a b__c"}
    assert [point.step for point in store.client.get_metric_history(store.children(parent)[0].info.run_id, "complete_at_k")] == [1, 3]


def test_long_values_do_not_break_the_log(tmp_path: Path, outputs: Path) -> None:
    corpus = small_corpus(tmp_path / "harbour", documents=1)
    result = told(corpus, outputs)
    cell = replace(result.cell, label="x" * 3000, config={"dataset": {"path": "y" * 30_000}})
    result = replace(result, cell=cell, warnings=tuple("w" * 900 for _ in range(20)))
    tracker = open_sweep(outputs, corpus)
    tracker.cell_finished(result, outputs / "cell")
    tracker.cell_failed(replace(cell, label="other"), "other", "z" * 20_000)
    curves = {f"answer_existence/{number}": [(size, 0.5) for size in range(30)] for number in range(50)}
    tracker.finish(SweepOutcome("n" * 50_000, curves, complete=False))
    store = Store(outputs)
    (parent,) = store.parents()
    assert parent.info.status == "FAILED"
    assert sorted(run.info.status for run in store.children(parent)) == ["FAILED", "FINISHED"]
    assert len(parent.data.metrics) == 50


@pytest.mark.parametrize("ending", ["killed", "stopped"])
def test_what_was_open_never_looks_finished(tmp_path: Path, outputs: Path, ending: str) -> None:
    corpus = small_corpus(tmp_path / "harbour", documents=1)
    result = told(corpus, outputs)
    tracker = open_sweep(outputs, corpus)
    tracker.cell_started(result.cell, result.key)
    if ending == "stopped":
        tracker.abort()
    store = Store(outputs)
    (parent,) = store.parents()
    expected = {"killed": "RUNNING", "stopped": "KILLED"}[ending]
    assert [run.info.status for run in [parent, *store.children(parent)]] == [expected, expected]
    again = open_sweep(outputs, corpus)
    again.cell_started(result.cell, result.key)
    again.cell_finished(result, outputs / "cell")
    again.finish(SweepOutcome("note", {}))
    (parent,) = store.parents()
    assert parent.info.status == "FINISHED"
    assert sorted(run.info.status for run in store.children(parent)) == sorted(["FINISHED", "FAILED" if ending == "killed" else "KILLED"])


SECRET = "zanzibarmole"


def secret_corpus(folder: Path) -> Path:
    """A corpus whose every sentence and question holds one word that no file name or id has; one label does not agree with its document."""
    write_corpus(folder, documents=2)
    for path in folder.glob("documents/*.md"):
        path.write_text(path.read_text().replace("is about", f"is {SECRET} about"))
    rows = [json.loads(line.replace("is about", f"is {SECRET} about")) for line in (folder / "questions.jsonl").read_text().splitlines()]
    for row in rows:
        row["question"] += f" {SECRET}"
    rows[0]["answers"] = [{"evidence": [{"doc": "notice-0.md", "quote": f"{SECRET} is nowhere"}]}]
    (folder / "questions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "own" / "strategy").mkdir(parents=True)
    (folder / "own" / "strategy" / "leaking.yaml").write_text("_target_: leaking_pier.Leaking\n")
    (folder / "leaking_pier.py").write_text(
        "class Leaking:\n    def split(self, text, ruler):\n        raise ValueError('can not cut ' + text[-90:])\n", encoding="utf-8"
    )
    return folder


def holds_secret(path: Path) -> bool:
    data = pd.read_parquet(path).to_csv().encode() if path.suffix == ".parquet" else path.read_bytes()
    return SECRET.encode() in data


@pytest.mark.parametrize("store_text", [True, False])
def test_text_stays_out_where_it_is_asked_to(
    tmp_path: Path, outputs: Path, store_text: bool, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus = secret_corpus(tmp_path / "harbour")
    monkeypatch.syspath_prepend(str(corpus))
    words = ["dataset=folder", f"dataset.path={corpus}", "dataset.on_label_problem=warn", f'outputs="{outputs}"', "embedder=hashing", "unit=words"]
    words += ["--config-dir", str(corpus / "own"), f"tracking.store_text={str(store_text).lower()}", "-m", "strategy=fixed,leaking", "size=12,24"]
    said = call(capsys, "run", *words)
    assert said.status == 1
    assert SECRET in said.err, "the failure is told in full on the console"
    places = [outputs / "mlflow.db", *(path for path in (outputs / "mlruns").rglob("*") if path.is_file())]
    assert len(places) > 8
    assert any(holds_secret(path) for path in places) == store_text, [path for path in places if holds_secret(path)]


def test_a_server_that_is_away_costs_a_line_and_little_time(tmp_path: Path) -> None:
    corpus, began = write_corpus(tmp_path / "harbour", documents=2), time.monotonic()
    words = ["run", "dataset=folder", f"dataset.path={corpus}", f"outputs={tmp_path}/outputs", "tracking.uri=http://127.0.0.1:9", *GRID]
    away = subprocess.run([sys.executable, "-m", "harness", *words], cwd=ROOT, capture_output=True, text=True, timeout=100)
    assert away.returncode == 0, away.stderr
    assert time.monotonic() - began < 60
    warned = [line for line in away.stderr.splitlines() if "not tracked" in line]
    assert len(warned) == 1
    assert "http://127.0.0.1:9" in warned[0]
    assert not [line for line in away.stderr.splitlines() if "Traceback" in line or "WARNING" in line]
    assert len(list(tmp_path.glob("outputs/cells/*/result.json"))) == 8
    assert "not tracked" in away.stdout, "the verdict says so too"
    assert json.loads(next(tmp_path.glob("outputs/sweeps/*/sweep.json")).read_text())["untracked"] is True


def test_a_store_that_fails_costs_a_line_and_no_trace(tmp_path: Path, outputs: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """MLflow itself would print the whole trace of an error of its database: here a table that is gone, in earnest a disk that is full."""
    corpus = small_corpus(tmp_path / "harbour", documents=1)
    tracker = open_sweep(outputs, corpus)
    with closing(sqlite3.connect(outputs / "mlflow.db")) as database:
        database.execute("DROP TABLE runs")
    with pytest.raises(StoreError, match="MLflow at sqlite"):
        tracker.cell_started(planned(experiment_on(corpus)).cell, "k")
    assert "Traceback" not in "".join(capfd.readouterr())


def test_a_tracker_that_was_not_started_says_so(tmp_path: Path) -> None:
    corpus = small_corpus(tmp_path / "harbour", documents=1)
    plan = planned(experiment_on(corpus))
    with pytest.raises(StoreError, match="not started"):
        MlflowTracker(str(tmp_path)).cell_started(plan.cell, plan.key)


def test_home_is_understood(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert MlflowTracker("~/outputs").address == f"sqlite:///{tmp_path}/outputs/mlflow.db"


PROGRAM = """
import sys
from pathlib import Path
sys.path.insert(0, {tests!r})
from test_mlflow_tracker import open_sweep, small_corpus, told
from dataclasses import replace
number, folder, outputs = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
corpus = small_corpus(folder, documents=1)
result = told(corpus, folder)
tracker = open_sweep(outputs, corpus, key=number)
for cell in range(5):
    one = replace(result, key=f"{{number}}-{{cell}}")
    tracker.cell_started(one.cell, one.key)
    tracker.cell_finished(one, folder / "cell")
"""


@pytest.mark.slow
def test_four_processes_at_once(tmp_path: Path, outputs: Path) -> None:
    corpus = small_corpus(tmp_path / "first", documents=1)
    open_sweep(outputs, corpus, key="first")
    program = PROGRAM.format(tests=str(ROOT / "tests"))
    started = [
        subprocess.Popen([sys.executable, "-c", program, str(number), str(tmp_path / str(number)), str(outputs)], cwd=ROOT, stderr=subprocess.PIPE)
        for number in range(4)
    ]
    assert [process.wait(timeout=120) for process in started] == [0] * 4, [process.stderr.read() for process in started if process.stderr]
    assert len([run for run in Store(outputs).runs("attributes.status = 'FINISHED'") if "mlflow.parentRunId" in run.data.tags]) == 20
