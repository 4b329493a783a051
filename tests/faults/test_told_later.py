"""What could not be told to MLflow is told by the same command later: no cell runs again, and each is there once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from front_cases import call, write_corpus

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


def test_a_store_that_was_away(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from harness.results import Results

    corpus, store = write_corpus(tmp_path / "harbour"), tmp_path / "store"
    store.write_text("a file where the folder of the store will be")
    uri = f"sqlite:///{store}/mlflow.db"
    words = ["run", "embedder=hashing", "unit=words", "report=false", "scoring.resamples=60", "dataset=folder", f"dataset.path={corpus}"]
    words += [f"outputs={tmp_path}/outputs", f"tracking.uri={uri}", "-m", "size=12,24"]
    first = call(capsys, *words)
    assert first.status == 0, first.err
    assert first.err.count("not tracked: ") == 1, "told once, not for each cell"
    (record,) = (json.loads(path.read_text(encoding="utf-8")) for path in tmp_path.glob("outputs/sweeps/*/sweep.json"))
    assert (record["status"], record["untracked"], len(record["cells"])) == ("finished", True, 2)
    store.unlink()
    store.mkdir()
    second = call(capsys, *words)
    assert (second.status, second.err.count("not tracked")) == (0, 0), second.err
    assert "2 reused" in second.out
    assert Results.open(uri).sweeps()["cells"].tolist() == [2]
    third = call(capsys, *words)
    assert third.status == 0
    assert Results.open(uri).sweeps()["cells"].tolist() == [2], "what was told is not told twice"
