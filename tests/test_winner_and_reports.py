"""What a person does after a sweep: run the winner again, use it in code, export it, compare cells, choose under limits, make room."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from front_cases import QUICK, write_corpus

import harness
from harness import results
from harness.cli.main import main
from harness.errors import ConfigError, DataError

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def swept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> Path:
    """A folder with a corpus and the results of a grid of four cells; the program runs in it."""
    write_corpus(tmp_path / "docs")
    monkeypatch.chdir(tmp_path)
    words = ["run", "--multirun", "dataset=folder", "dataset.path=./docs", *QUICK, "size=12,30", "overlap=0,20%"]
    assert main(words) == 0
    capsys.readouterr()
    return tmp_path


def sweep_folder(place: Path) -> Path:
    return max((place / "outputs" / "sweeps").iterdir(), key=lambda folder: len(json.loads((folder / "sweep.json").read_text())["cells"]))


def test_the_winner_runs_as_it_is_and_is_the_cell_that_was_measured(swept: Path, capsys: Capture) -> None:
    folder = sweep_folder(swept)
    assert main(["run", "--config-dir", str(folder), "--config-name", "winner", "tracking=files"]) == 0
    assert "1 reused" in capsys.readouterr().out
    assert main(["run", "--config-dir", str(folder), "--config-name", "winner", "tracking=files", "size=17"]) == 0
    assert "1 ran" in capsys.readouterr().out, "its size can still be changed"


def test_the_winner_splits_text_in_anybodys_code(swept: Path) -> None:
    folder = sweep_folder(swept)
    cheapest = json.loads((folder / "sweep.json").read_text())["cheapest"]
    stored = results.cell(swept / "outputs" / "cells" / cheapest[:20])
    splitter = harness.load(folder / "winner.yaml")
    pieces = [piece for path in sorted((swept / "docs" / "documents").iterdir()) for piece in splitter.split(path.read_text(encoding="utf-8"))]
    assert len(pieces) == stored.metrics["chunks"]
    text = "One notice.\r\nنص عربي 日本語 👩‍👩‍👧 end."
    assert all(piece.text == text[piece.start : piece.end] for piece in splitter.split(text))
    assert splitter.split(" \n ") == []


def test_a_file_that_is_no_winner_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="can't be read"):
        harness.load(tmp_path / "missing.yaml")
    (tmp_path / "other.yaml").write_text("strategy: 3\n")
    with pytest.raises(ConfigError, match="must have strategy"):
        harness.load(tmp_path / "other.yaml")
    (tmp_path / "torn.yaml").write_text("strategy: [")
    with pytest.raises(DataError, match="can't be read"):
        harness.load(tmp_path / "torn.yaml")


def test_a_cell_is_exported_with_exact_offsets_and_its_vectors(swept: Path, capsys: Capture) -> None:
    label = "recursive size=12 overlap=20% hashing"
    assert main(["report", "export", label, "--to", "store"]) == 0
    assert "note:" not in capsys.readouterr().out
    table = pq.read_table(swept / "store" / "chunks.parquet").to_pylist()
    lines = [json.loads(line) for line in (swept / "store" / "chunks.jsonl").read_text(encoding="utf-8").splitlines()]
    assert len(table) == len(lines) > 10
    texts = {path.name: path.read_text(encoding="utf-8") for path in (swept / "docs" / "documents").iterdir()}
    for row, line in zip(table, lines, strict=True):
        assert texts[row["document"]][row["start"] : row["end"]] == row["text"] == line["text"]
        assert np.allclose(row["vector"], line["vector"])
        assert abs(np.linalg.norm(row["vector"]) - 1) < 1e-5
    assert len({row["id"] for row in table}) == len(table)
    (swept / "docs" / "documents" / "notice-0.md").write_text("Rewritten.", encoding="utf-8")
    (swept / "docs" / "questions.jsonl").write_text('{"id": "q", "question": "What?", "answers": []}\n', encoding="utf-8")
    assert main(["report", "export", label, "--to", "store"]) == 0
    assert "have changed since" in capsys.readouterr().out


def test_cells_are_compared_and_the_flips_named(swept: Path, capsys: Capture) -> None:
    small, large = "recursive size=12 overlap=0 hashing", "recursive size=30 overlap=0 hashing"
    assert main(["report", "compare", large, small, "--metric", "complete_within_512"]) == 0
    there = capsys.readouterr().out
    assert main(["report", "compare", small, large, "--metric", "complete_within_512"]) == 0
    back = capsys.readouterr().out
    gained, lost = there.splitlines()[2:4]
    assert back.splitlines()[2] == lost.replace("second", "first")
    assert back.splitlines()[3] == gained.replace("first", "second")
    assert int(gained.split()[0]) + int(lost.split()[0]) > 0


@pytest.mark.parametrize("words", [["compare", "nope", "nope"], ["compare", "recursive size=12 overlap=0 hashing"], ["export", "nope", "--to", "x"]])
def test_mistakes_are_told_in_one_line(swept: Path, capsys: Capture, words: list[str]) -> None:
    assert main(["report", *words]) == 2
    assert len(capsys.readouterr().err.strip().splitlines()) == 1


def test_limits_choose_again_from_stored_results(swept: Path, capsys: Capture) -> None:
    name = sweep_folder(swept).name
    assert main(["report", name, "--max", "storage_ratio=1.05"]) == 0
    shown = capsys.readouterr().out
    assert "Left out by a limit (2)" in shown
    assert main(["report", name, "--min", "answer_existence=1.1"]) == 0
    assert "No cell keeps the limits" in capsys.readouterr().out
    assert main(["report", name, "--max", "nope=1"]) == 2
    assert main(["report", name, "--max", "storage_ratio"]) == 2


def test_prune_keeps_what_the_kept_sweeps_need(swept: Path, capsys: Capture) -> None:
    outputs, first = swept / "outputs", sweep_folder(swept)
    assert main(["run", "dataset=folder", "dataset.path=./docs", *QUICK, "size=12", "overlap=0", "strategy=fixed"]) == 0
    cells = {path.name for path in (outputs / "cells").iterdir()}
    capsys.readouterr()
    assert main(["report", "prune", "--keep", "1"]) == 0
    assert "would delete 1 sweeps, 4 cells, 4 rankings" in capsys.readouterr().out
    assert {path.name for path in (outputs / "cells").iterdir()} == cells
    assert main(["report", "prune", "--keep", "1", "--yes"]) == 0
    assert not first.exists()
    assert len(list((outputs / "cells").iterdir())) == len(list((outputs / "rankings").iterdir())) == 1
    assert main(["report", "list"]) == 0
    assert len(capsys.readouterr().out.strip().splitlines()) == 2


def test_prune_leaves_a_sweep_that_is_unfinished_and_files_being_written(swept: Path) -> None:
    outputs, first = swept / "outputs", sweep_folder(swept)
    keys = [entry["key"] for entry in json.loads((first / "sweep.json").read_text())["cells"]]
    (first / "sweep.json").unlink()
    draft = outputs / "cells" / ".half-written"
    draft.mkdir()
    assert not list(outputs.glob("sweeps/*/running.json")), "a finished sweep leaves no such mark"
    (first / "running.json").write_text(json.dumps({"cells": keys, "rankings": []}))
    assert main(["report", "prune", "--keep", "1", "--yes"]) == 0
    assert len(list((outputs / "cells").iterdir())) == 5
    assert first.exists()
    week_ago = time.time() - 8 * 86_400
    os.utime(first / "running.json", (week_ago, week_ago))
    os.utime(draft, (week_ago, week_ago))
    assert main(["report", "prune", "--keep", "1", "--yes"]) == 0
    assert not list((outputs / "cells").iterdir())


def test_cells_with_other_labels_are_not_compared(swept: Path, capsys: Capture) -> None:
    questions = swept / "docs" / "questions.jsonl"
    lines = [json.loads(line) for line in questions.read_text(encoding="utf-8").splitlines()]
    lines[0]["question"] = "Asked otherwise?"
    questions.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), encoding="utf-8")
    assert main(["run", "dataset=folder", "dataset.path=./docs", *QUICK, "size=17", "overlap=0"]) == 0
    capsys.readouterr()
    assert main(["report", "compare", "recursive size=17 overlap=0 hashing", "recursive size=12 overlap=0 hashing"]) == 2
    assert "same questions with the same labels" in capsys.readouterr().err


def test_a_question_is_explained_while_its_text_and_ranking_are_there(swept: Path, capsys: Capture) -> None:
    label = "recursive size=12 overlap=0 hashing"
    assert main(["report", "explain", label, "q0-1"]) == 0
    shown = capsys.readouterr().out
    assert label in shown
    assert "notice-0.md" in shown
    assert main(["report", "explain", label, "nope"]) == 2
    (swept / "docs" / "documents" / "notice-4.md").write_text("Rewritten.", encoding="utf-8")
    questions = (swept / "docs" / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    (swept / "docs" / "questions.jsonl").write_text("\n".join(line for line in questions if "notice-4" not in line) + "\n", encoding="utf-8")
    capsys.readouterr()
    assert main(["report", "explain", label, "q0-1"]) == 2
    assert "changed since" in capsys.readouterr().err
