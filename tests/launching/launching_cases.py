"""What the suites of the launchers share: a corpus of our own, parts that fail or die, and sweeps compared in all but times."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from front_cases import write_corpus
from stored_cases import cells, leaderboard

PARTS = """
import os
import signal
from pathlib import Path

from harness.chunking.fixed import FixedChunker
from harness.embedding import HashingEmbedder


class Sinking(FixedChunker):
    def split(self, text, ruler):
        raise ValueError("the hull leaks")


class Mortal(HashingEmbedder):
    '''Its process is killed in the middle of a cell, so often as there are files in a folder: each death takes one away.'''

    def vectors(self, inputs, rows):
        for block, found in super().vectors(inputs, rows):
            deaths = sorted(Path(os.environ["HARBOUR_DEATHS"]).glob("*"))
            if deaths:
                deaths[0].unlink()
                os.kill(os.getpid(), signal.SIGKILL)
            yield block, found
"""


class Harbour:
    """A folder with a corpus and parts of a person's own; `words` of a command over it."""

    def __init__(self, folder: Path, documents: int = 3) -> None:
        self.folder, self.deaths = folder, folder / "deaths"
        self.deaths.mkdir()
        for group, name, target in (("strategy", "sinking", "Sinking"), ("embedder", "mortal", "Mortal")):
            place = folder / "own" / group
            place.mkdir(parents=True, exist_ok=True)
            size = "\nsize: ${size}\noverlap: ${overlap}" if group == "strategy" else ""
            (place / f"{name}.yaml").write_text(f"_target_: harbour_parts.{target}{size}\n")
        (folder / "harbour_parts.py").write_text(PARTS)
        corpus = write_corpus(folder / "harbour", documents=documents)
        self.words = ["run", "--config-dir", f"{folder}/own", "report=false", "tracking=files", "scoring.resamples=60", "unit=words"]
        self.words += ["dataset=folder", f"dataset.path={corpus}"]

    def will_die(self, times: int) -> None:
        for number in range(times):
            (self.deaths / str(number)).touch()


def record(outputs: Path) -> dict[str, Any]:
    (path,) = outputs.glob("sweeps/*/sweep.json")
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def deadly(folder: Path, monkeypatch: pytest.MonkeyPatch, **changes: int) -> Harbour:
    """A harbour whose embedder may be told to kill its process, in reach of Ray's workers."""
    made = Harbour(folder, **changes)
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.setenv("HARBOUR_DEATHS", str(made.deaths))
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    return made


def the_same(here: Path, there: Path) -> None:
    """Results, leaderboard and record of two folders of outputs."""
    assert cells(there) == cells(here)
    assert leaderboard(there) == leaderboard(here)
    for name in ("cells", "failed", "winner", "tied"):
        assert record(there)[name] == record(here)[name]
