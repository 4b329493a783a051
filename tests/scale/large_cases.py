"""What the suites of large corpora share: a small corpus loaded both ways, and cells over it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from front_cases import experiment_on, planned

from harness import scratch
from harness.corpus import stored
from harness.corpus.folder import load_folder
from harness.embedding import reading
from harness.evaluation import evaluate
from harness.experiment import Experiment, Retrieved, retrieve
from harness.types import CellResult, Corpus

_BOATS = "# Boats\n\nThe ferry goes at nine.\n\n## Fog\n\nThen it stays. "
_HORN = "Nobody may cast off before the horn has sounded twice, and then only by day. "
TEXTS = {
    "plain.md": _BOATS + _HORN * 9,
    "harbour/crlf.md": "First line\r\n\r\nSecond line, with caf\u00e9 and a\u0308 and \U0001f986.\r\n" + "It is told to all who come by sea. " * 30,
    "harbour/marked.txt": "\ufeffA mark stands before this. " + "Ropes are dried and coiled before they are stowed below. " * 40,
    "blank.md": " \n\n ",
    "empty.md": "",
    "again.md": _BOATS + _HORN * 9,
}
QUOTES = {
    "plain.md": "The ferry goes at nine.",
    "harbour/crlf.md": "with caf\u00e9 and a\u0308 and \U0001f986.",
    "harbour/marked.txt": "A mark stands before this.",
}


def questions() -> str:
    rows = [
        {"id": name, "question": f"What of {quote[:12]}?", "answers": [{"evidence": [{"doc": name, "quote": quote}]}]}
        for name, quote in QUOTES.items()
    ]
    long = (TEXTS["plain.md"][60:].strip())[:150]
    start = TEXTS["plain.md"].index(long)
    rows.append({"id": "long", "question": "Before what?", "answers": [{"evidence": [{"doc": "plain.md", "start": start, "end": start + 150}]}]})
    return "".join(json.dumps(row) + "\n" for row in rows)


def as_files(folder: Path) -> Path:
    for name, text in TEXTS.items():
        (folder / "documents" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "documents" / name).write_bytes(text.encode())
    (folder / "metadata.jsonl").write_text('{"id": "plain.md", "title": "On boats", "metadata": {"year": 2026}}\n')
    (folder / "questions.jsonl").write_text(questions())
    return folder


def as_lines(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    rows = [{"id": name, "text": text.removeprefix("\ufeff"), "title": name, "metadata": {"n": len(text)}} for name, text in TEXTS.items()]
    (folder / "corpus.jsonl").write_text(
        "\ufeff" + "\n".join(json.dumps(row, ensure_ascii=number % 2 == 0) for number, row in enumerate(rows)), encoding="utf-8"
    )
    (folder / "questions.jsonl").write_text(questions())
    return folder


def both(folder: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Corpus, Corpus]:
    """The corpus held in memory, and as if it were too large for that."""
    held = load_folder(folder)
    with monkeypatch.context() as small:
        small.setattr(stored, "LARGE", 0)
        return held, load_folder(folder)


def everything_small(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Parts of seven texts, scratch from the first byte on, in `folder`."""
    monkeypatch.setattr(reading, "TEXTS_AT_ONCE", 7)
    monkeypatch.setattr(scratch, "LARGE", 1)
    monkeypatch.setattr(scratch, "_folder", [folder])


def ran(experiment: Experiment) -> tuple[Retrieved, CellResult]:
    plan, found = planned(experiment), retrieve(experiment, lambda name: None, lambda done, total: None)
    return found, evaluate(experiment, found, plan.scoring, plan.cell, plan.key)


def assert_same(one: tuple[Retrieved, CellResult], other: tuple[Retrieved, CellResult]) -> None:
    """All but the times, to the last bit."""
    assert one[1].chunk_digest == other[1].chunk_digest
    for name in ("indptr", "chunk", "score", "candidates", "score_mean", "score_m2", "probe_score", "probe_below", "probe_tied"):
        assert np.array_equal(getattr(one[0].ranking, name), getattr(other[0].ranking, name), equal_nan=name.startswith("s")), name
    first, second = ({name: value for name, value in result.metrics.items() if not name.startswith("seconds_")} for _, result in (one, other))
    assert first == second
    pd.testing.assert_frame_equal(one[1].questions, other[1].questions)


__all__ = ["as_files", "as_lines", "assert_same", "both", "everything_small", "experiment_on", "ran"]
