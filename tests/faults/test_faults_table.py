"""The script behind docs/faults.md: its comparison notices one changed number, and its fuzz notices what it is there for."""

from __future__ import annotations

import copy
import importlib
import sys
from pathlib import Path
from typing import Any

import pytest
from front_cases import ROOT

SAMPLE = range(0, 1000, 64)


@pytest.fixture(scope="module")
def bench() -> Any:
    sys.path.insert(0, str(ROOT / "benchmarks"))
    yield {name: importlib.import_module(name) for name in ("fault_bench", "fault_cases", "fault_fuzz")}
    sys.path.remove(str(ROOT / "benchmarks"))


def test_the_comparison_notices_one_changed_number(bench: Any, tmp_path: Path) -> None:
    there, fuzz = bench["fault_bench"], bench["fault_fuzz"]
    from front_cases import write_corpus

    write_corpus(tmp_path / "harbour", documents=1, sections=2)
    words = ["run", *there.QUICK, "dataset=folder", f"dataset.path={tmp_path}/harbour", f"outputs={tmp_path}/outputs", "size=12"]
    assert fuzz.said(words)[0] == 0
    whole = there.results(tmp_path / "outputs")
    assert there.differences(whole, whole) == []
    (key,) = whole["cells"]
    changed = copy.deepcopy(whole)
    changed["cells"][key][0]["metrics"]["complete_at_5"] += 1e-12
    assert there.differences(whole, changed) == [f"cells: {key} differs"]
    changed = copy.deepcopy(whole)
    (board,) = whole["boards"]
    changed["boards"][board] = changed["boards"][board].replace("0.", "1.", 1)
    assert there.differences(whole, changed) == [f"boards: {board} differs"]
    assert there.differences(whole, {"cells": {}, "boards": whole["boards"]}) == [f"cells: {key} is missing"]


def test_a_sample_of_the_fuzz(bench: Any, tmp_path: Path) -> None:
    for number in SAMPLE:
        room = tmp_path / f"{number}"
        room.mkdir()
        found = bench["fault_fuzz"].try_case(bench["fault_cases"].case(number), room, number)
        assert found["problem"] == "", found


@pytest.mark.parametrize(
    ("status", "err", "told"),
    [
        ("escaped", "ValueError", "escaped"),
        (1, "Traceback (most recent call last)", "a traceback"),
        (2, "", "without a word"),
        (2, "x\n" * 20, "20 lines"),
        (2, "chunk-sweep: grid: ValueError: nope", "told as ValueError"),
        (0, "", "taken without a word"),
    ],
)
def test_the_fuzz_notices(bench: Any, tmp_path: Path, status: Any, err: str, told: str) -> None:
    case = bench["fault_cases"].Case("labels", lambda room: [], refuse="the quote is nowhere")
    assert told in bench["fault_fuzz"].judged(case, tmp_path, status, "", err)


def test_the_fuzz_notices_a_label_in_the_wrong_place(bench: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from dataclasses import replace

    import harness.corpus.folder
    from harness.types import Span

    case, oracle = bench["fault_cases"], importlib.import_module("fault_oracle")
    case._corpus(tmp_path / "harbour")
    one = case.Case("labels", lambda room: [], reads=True)
    assert oracle.wrong_labels(tmp_path, one) == ""
    load = harness.corpus.folder.load_folder

    def shifted(*given: Any, **named: Any) -> Any:
        corpus = load(*given, **named)
        first = corpus.questions[0]
        (evidence,) = first.answers[0].evidence
        moved = replace(evidence, span=Span(evidence.span.doc, evidence.span.start + 1, evidence.span.end + 1))
        return replace(corpus, questions=(replace(first, answers=(replace(first.answers[0], evidence=(moved,)),)), *corpus.questions[1:]))

    monkeypatch.setattr(harness.corpus.folder, "load_folder", shifted)
    assert "none of the passages" in oracle.wrong_labels(tmp_path, one)
