"""Where no chunk was made, or nothing was found, no cell is named a winner, and a part that changes the current folder moves no result."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from front_cases import QUICK, call, write_corpus

QUICKLY = [word for word in QUICK if not word.startswith("size=")]


@pytest.fixture
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    return write_corpus(tmp_path / "corpus", documents=2)


def test_a_sweep_without_any_chunk_names_no_winner(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = (f"dataset.path={corpus}", "outputs=kept", "-m", "strategy=fixed,sentence", "size=24,48", "overlap=0", "min_size=24", "short=drop")
    for document in (corpus / "documents").iterdir():
        document.write_text("One two.", encoding="utf-8")
    question = {"id": "q", "question": "What?", "answers": [{"evidence": [{"doc": "notice-0.md", "quote": "One two."}]}]}
    (corpus / "questions.jsonl").write_text(json.dumps(question) + "\n", encoding="utf-8")
    said = call(capsys, "run", *QUICKLY, "dataset=folder", *words)
    assert said.status == 0, said.err
    assert "No cell made any chunk: nothing could be found" in said.out
    assert "Best by" not in said.out
    record = json.loads(next(Path("kept").glob("sweeps/*/sweep.json")).read_text(encoding="utf-8"))
    assert (record["winner"], record["cheapest"], record["tied"]) == (None, None, [])
    assert not list(Path("kept").glob("sweeps/*/winner.yaml"))


def test_results_stay_where_they_were_asked_for(corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "wandering.py").write_text("import os\n\ndef split(text):\n    os.chdir('/')\n    return [text]\n", encoding="utf-8")
    words = ("dataset=folder", f"dataset.path={corpus}", "outputs=kept", "strategy=callable", "strategy.path=wandering:split")
    said = call(capsys, "run", *QUICK, *words)
    assert said.status == 0, said.err
    assert list((tmp_path / "kept").glob("cells/*/result.json"))
    assert "--outputs kept" in said.out
