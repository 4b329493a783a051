"""The reader: the same frames from plain files and from MLflow, other schema versions refused, nothing read half."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from front_cases import ROOT, write_corpus

from harness import results as functions
from harness.errors import ConfigError, StoreError
from harness.results import Results
from harness.tracking.files import SCHEMA_VERSION, _sums

pytestmark = pytest.mark.filterwarnings("ignore")  # MLflow's own imports warn
GRID = ("embedder=hashing", "scoring.resamples=60", "unit=words", "-m", "strategy=fixed,recursive", "size=12,24", "overlap=0,25%")


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The outputs of two sweeps, told to MLflow: eight cells, and two of them again with two new ones."""
    from harness.cli.main import main

    folder = tmp_path_factory.mktemp("swept")
    write_corpus(folder / "harbour", documents=4)
    words = ["run", "dataset=folder", f"dataset.path={folder}/harbour", f"outputs={folder}/outputs", *GRID]
    assert main(words) == 0
    assert main([*words[:-2], "size=12,18", "overlap=0"]) == 0
    return folder / "outputs"


@pytest.fixture(params=["files", "mlflow"])
def opened(request: pytest.FixtureRequest, swept: Path) -> Results:
    return Results.open(swept if request.param == "files" else f"sqlite:///{swept}/mlflow.db")


def larger(found: Results) -> str:
    """The name of the sweep of eight cells."""
    table = found.sweeps()
    return str(table.loc[table["cells"] == 8, "name"].item())


def record_of(swept: Path, name: str) -> dict:
    return json.loads((swept / "sweeps" / name / "sweep.json").read_text())


def test_sweeps_are_listed_the_newest_first(opened: Results) -> None:
    table = opened.sweeps()
    assert table.columns.tolist() == ["name", "dataset", "date", "cells", "status", "key", "command"]
    assert table["cells"].tolist() == [4, 8]
    assert table["date"].is_monotonic_decreasing
    assert set(table["status"]) == {"finished"}
    assert table["command"].str.contains(" dataset=folder ").all()


def test_a_row_a_cell_with_axes_tags_and_every_metric(opened: Results, swept: Path) -> None:
    name = larger(opened)
    table, record = opened.cells(name), record_of(swept, name)
    assert table["key"].tolist() == [entry["key"] for entry in record["cells"]], "grid order"
    assert table.loc[table["winner"], "key"].tolist() == [record["winner"]]
    assert set(table.loc[table["tied_with_winner"], "key"]) == set(record["tied"])
    assert set(table.loc[table["pareto"], "key"]) == set(record["pareto"])
    assert {(row.size, row.overlap, row.overlap_typed) for row in table[["size", "overlap", "overlap_typed"]].itertuples(index=False)} == {
        (12, 0, "0"), (12, 3, "25%"), (24, 0, "0"), (24, 6, "25%")
    }  # fmt: skip
    first = json.loads((swept / "cells" / table["key"][0][:20] / "result.json").read_text())
    for metric, value in first["metrics"].items():
        assert pd.isna(table[metric][0]) if value is None else table[metric][0] == value, metric


def test_files_and_mlflow_give_equal_frames(swept: Path) -> None:
    files, mlflow = Results.open(str(swept)), Results.open(f"sqlite:///{swept}/mlflow.db")
    for name in files.sweeps()["name"]:
        pd.testing.assert_frame_equal(files.cells(name), mlflow.cells(name))
        pd.testing.assert_frame_equal(files.questions(name), mlflow.questions(name))
        assert files.summary(name).winner.result.key == mlflow.summary(name).winner.result.key
    pd.testing.assert_frame_equal(files.sweeps().drop(columns="date"), mlflow.sweeps().drop(columns="date"))


def test_the_newest_sweep_is_what_no_name_means(opened: Results) -> None:
    assert len(opened.cells()) == 4
    assert opened.record().name == opened.sweeps()["name"][0]
    assert len(opened.results()) == 4
    assert opened.scoring().resamples == 60


def test_questions_by_cell_and_column(opened: Results) -> None:
    name = larger(opened)
    every = opened.questions(name)
    assert len(every) == 8 * 20
    assert every.columns[:4].tolist() == ["cell", "key", "id", "question"]
    assert every["question"].str.startswith(("What of", "Who painted")).all()
    label = opened.cells(name)["cell"][3]
    few = opened.questions(name, cells=[label, every["key"][0][:10]], columns=["attribution", "complete_at_5"])
    assert few["cell"].unique().tolist() == [label, every["cell"][0]]
    assert few.columns.tolist() == ["cell", "key", "id", "question", "attribution", "complete_at_5"]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (lambda found: found.questions(columns=["recall_at_7"]), "recall_at_7: there is no such column"),
        (lambda found: found.questions(cells=["no such"]), "there is no such cell; there are fixed size=12"),
        (lambda found: found.cells("harbour"), "several sweeps begin so; stored: harbour-"),
        (lambda found: found.cells("elsewhere"), "elsewhere: there is no such sweep"),
        (lambda found: found.summary(metric="chunks"), "not a metric with a value for each question"),
    ],
)
def test_what_is_not_there_is_named(opened: Results, wrong: object, said: str) -> None:
    with pytest.raises((ConfigError, StoreError), match=said):
        wrong(opened)  # type: ignore[operator]


def test_the_winner_can_be_chosen_by_another_metric(opened: Results) -> None:
    summary = opened.summary(larger(opened), metric="answer_existence")
    assert summary.select.metric == "answer_existence"
    assert summary.winner.value == opened.cells(larger(opened))["answer_existence"].max()


def other_version(swept: Path, place: Path, pattern: str) -> Path:
    """A copy where the first file that fits has another schema version, sealed as a program of that version would have."""
    shutil.copytree(swept, place, ignore=shutil.ignore_patterns("mlflow.db", "mlruns", "cache"))
    path = sorted(place.glob(pattern))[0]
    path.write_text(json.dumps({**json.loads(path.read_text()), "schema_version": 99}))
    if (path.parent / "SHA256SUMS").exists():
        (path.parent / "SHA256SUMS").write_text(_sums(path.parent))
    return path


@pytest.mark.parametrize("pattern", ["cells/*/result.json", "sweeps/*/sweep.json"])
def test_another_schema_version_is_refused_by_name(swept: Path, tmp_path: Path, pattern: str) -> None:
    path = other_version(swept, tmp_path / "outputs", pattern)
    found, said = Results.open(tmp_path / "outputs"), f"{path.name}: schema_version 99, this program reads {SCHEMA_VERSION}"
    with pytest.raises(StoreError, match=said):
        [found.cells(name) for name in found.sweeps()["name"]]
    if path.name == "sweep.json":
        assert found.sweeps()["status"].str.contains("schema_version 99").sum() == 1, "the list says so, and goes on"
        assert len(functions.sweeps(tmp_path / "outputs")) == 1
    else:
        with pytest.raises(StoreError, match=said):
            functions.cell(path)


def test_another_schema_version_in_mlflow_is_refused_by_name(swept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.results.schema.READABLE", (7, 8))
    with pytest.raises(StoreError, match=r"result.json: schema_version 1, this program reads 7, 8"):
        Results.open(f"sqlite:///{swept}/mlflow.db").cells()


def test_a_damaged_cell_is_named_with_its_command(swept: Path, tmp_path: Path) -> None:
    shutil.copytree(swept / "sweeps", tmp_path / "sweeps")
    with pytest.raises(StoreError, match="fixed size=12 overlap=0 hashing is gone or damaged; run its command again: chunk-sweep run "):
        Results.open(tmp_path).cells()


def test_no_folder_no_sweeps_no_store(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="there is no such folder"):
        Results.open(tmp_path / "nothing")
    empty = Results.open(tmp_path)
    assert empty.sweeps().empty
    with pytest.raises(StoreError, match="no sweeps yet"):
        empty.cells()
    with pytest.raises(StoreError, match="MLflow at http"):
        Results.open("http://127.0.0.1:9").sweeps()


def test_text_that_is_not_at_hand_is_none(swept: Path, tmp_path: Path) -> None:
    """The corpus was changed since: what is asked now is not what was measured."""
    shutil.copytree(swept, tmp_path / "outputs", ignore=shutil.ignore_patterns("mlflow.db", "mlruns", "cache"))
    labels = swept.parent / "harbour" / "questions.jsonl"
    before = labels.read_text()
    try:
        labels.write_text(before.replace("What of", "And what of", 1))
        assert Results.open(tmp_path / "outputs").questions()["question"].isna().all()
    finally:
        labels.write_text(before)
    assert Results.open(tmp_path / "outputs").questions()["question"].notna().all()


def test_files_are_read_without_mlflow(swept: Path) -> None:
    program = "import sys; from harness.results import Results; Results.open(sys.argv[1]).cells(); sys.exit(9 * ('mlflow' in sys.modules))"
    assert subprocess.run([sys.executable, "-c", program, str(swept)], cwd=ROOT, timeout=100).returncode == 0
