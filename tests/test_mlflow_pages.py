"""What MLflow's pages say: the data set with its digest, what to click, and a note that suffices to run a cell again."""

from __future__ import annotations

import json
import shlex
from dataclasses import replace
from pathlib import Path

import pytest
from front_cases import call, experiment_on, planned, small_corpus, write_corpus

from harness.evaluation import evaluate
from harness.experiment import retrieve
from harness.results import Results
from harness.tracking.base import SweepInfo
from harness.tracking.mlflow_notes import NOTE_LIMIT, cell_command, cell_note, description_of, failure_note
from harness.types import Cell, CellResult, Corpus

pytestmark = pytest.mark.filterwarnings("ignore")
COMMAND = (
    "chunk-sweep run -m dataset=folder 'dataset.path=\"~/my docs\"' strategy=fixed,recursive size=12,24 overlap=0,25% strategy.keep_tail=true,false"
)


def cell(label: str = "fixed size=24 overlap=25% hashing strategy.keep_tail=false") -> Cell:
    choices = {"dataset": "folder", "strategy": "fixed", "embedder": "hashing", "retriever": "dense"}
    return Cell("fixed", 24, 6, "hashing", "dense", "words", label, {"size": 24, "overlap": "25%", "choices": choices})


def result_on(corpus: Corpus) -> CellResult:
    plan = planned(experiment_on(corpus))
    found = retrieve(plan.experiment, lambda name: None, lambda done, total: None)
    return evaluate(plan.experiment, found, plan.scoring, plan.cell, plan.key)


def test_the_command_of_a_cell_has_one_value_for_each_axis() -> None:
    words = shlex.split(cell_command(cell(), COMMAND))
    assert words[:3] == ["chunk-sweep", "run", 'dataset.path="~/my docs"']
    named = dict(word.split("=", 1) for word in words[3:])
    assert named == {
        "strategy": "fixed", "size": "24", "overlap": "25%", "embedder": "hashing", "unit": "words", "retriever": "dense", "dataset": "folder",
        "strategy.keep_tail": "false",
    }  # fmt: skip


def test_a_named_experiment_is_not_run_whole_again() -> None:
    assert "experiment=quickstart hydra.mode=RUN" in cell_command(cell(), "chunk-sweep run experiment=quickstart")


@pytest.mark.parametrize("grid", [["-m", "strategy=fixed,recursive", "size=12,24", "overlap=0,25%"], ["size=18"]])
def test_the_command_makes_the_very_same_cell(tmp_path: Path, grid: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    folder = write_corpus(tmp_path / "har bour", documents=3)
    words = ["run", "dataset=folder", f'dataset.path="{folder}"', f"outputs={tmp_path}/outputs", "tracking=files", "embedder=hashing", "unit=words"]
    assert call(capsys, *words, "scoring.resamples=60", *grid).status == 0
    results = Results.open(tmp_path / "outputs")
    command, found = results.sweeps()["command"][0], results.results()[-1]
    again = shlex.split(cell_command(found.cell, command))
    assert again[0] == "chunk-sweep"
    told = call(capsys, *again[1:])
    assert told.status == 0, told.err
    assert "0 ran, 1 reused" in told.out


def test_a_cells_note_suffices(tmp_path: Path) -> None:
    corpus = small_corpus(tmp_path / "harbour", documents=2)
    result, info = result_on(corpus), SweepInfo("try", "k", corpus, 1, COMMAND)
    note = cell_note(replace(result, warnings=("3 questions are odd",)), info)
    for part in (corpus.digest, corpus.questions_digest, result.chunk_digest, result.key, "Python 3", "faiss-cpu 1", "- 3 questions are odd"):
        assert part in note
    block = note.split("```")[1].strip()
    assert shlex.split(block.replace("\\\n", " ")) == shlex.split(cell_command(result.cell, COMMAND)), "what is folded reads the same to a shell"
    assert not [question.text for question in corpus.questions if question.text in note]


def test_notes_fit(tmp_path: Path) -> None:
    corpus = small_corpus(tmp_path / "harbour", documents=1)
    result = replace(result_on(corpus), warnings=tuple("w" * 900 for _ in range(20)))
    info = SweepInfo("try", "k", corpus, 1, f"{COMMAND} a={'x' * 5000}")
    assert len(cell_note(result, info)) <= NOTE_LIMIT
    assert len(failure_note(result.cell, info, "z" * 20_000)) <= NOTE_LIMIT


def test_runs_have_the_data_set_and_no_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from mlflow.tracking import MlflowClient

    write_corpus(tmp_path / "harbour", documents=2)
    words = ["run", "dataset=folder", f"dataset.path={tmp_path}/harbour", f"outputs={tmp_path}/outputs", "embedder=hashing", "unit=words"]
    assert call(capsys, *words, "scoring.resamples=60", "-m", "size=12,24").status == 0
    corpus, client = small_corpus(tmp_path / "harbour", documents=2), MlflowClient(f"sqlite:///{tmp_path}/outputs/mlflow.db")
    experiment = client.get_experiment_by_name("harbour")
    assert experiment.tags["mlflow.note.content"] == description_of(corpus)
    runs = client.search_runs([experiment.experiment_id])
    assert len(runs) == 3
    for run in runs:
        (used,) = run.inputs.dataset_inputs
        assert used.dataset.name == "harbour"
        assert used.dataset.digest == f"{corpus.digest[:17]}-{corpus.questions_digest[:17]}"
        assert json.loads(used.dataset.profile) == {"documents": 2, "questions": 10, "characters": sum(len(one.text) for one in corpus.documents)}
        assert run.data.params["questions_digest"] == corpus.questions_digest
        assert not used.dataset.schema


def test_a_description_of_ones_own_stays(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from mlflow.tracking import MlflowClient

    write_corpus(tmp_path / "harbour", documents=2)
    client = MlflowClient(f"sqlite:///{tmp_path}/mlflow.db")
    place, said = (tmp_path / "mlruns").as_uri(), "Ask Mo before you delete anything."
    known = client.create_experiment("harbour", artifact_location=place, tags={"mlflow.note.content": said})
    words = ["run", "dataset=folder", f"dataset.path={tmp_path}/harbour", f"outputs={tmp_path}/outputs", "embedder=hashing", "unit=words"]
    assert call(capsys, *words, f"tracking.uri=sqlite:///{tmp_path}/mlflow.db", "scoring.resamples=60", "size=12").status == 0
    assert client.get_experiment(known).tags["mlflow.note.content"] == said


def test_artifacts_of_another_sqlite_store_lie_under_outputs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_corpus(tmp_path / "harbour", documents=2)
    words = ["run", "dataset=folder", "dataset.path=harbour", "outputs=kept", "embedder=hashing", "unit=words", "scoring.resamples=60", "size=12"]
    assert call(capsys, *words, "tracking.uri=sqlite:///other.db").status == 0
    assert not (tmp_path / "mlruns").exists()
    assert list(tmp_path.glob("kept/mlruns/harbour/**/result.json"))
