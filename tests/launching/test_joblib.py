"""Cells in other processes of this machine: the same numbers as here, in the same order, whatever dies."""

from __future__ import annotations

import signal
import time
from pathlib import Path

import pytest
from front_cases import ROOT, call, finished, start
from launching_cases import Harbour, record
from stored_cases import cells, leaderboard

JOBLIB = ("hydra/launcher=joblib", "hydra.launcher.n_jobs=2")


@pytest.fixture
def harbour(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Harbour:
    made = Harbour(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("HARBOUR_DEATHS", str(made.deaths))
    return made


def test_the_same_as_here_and_failures_come_back(harbour: Harbour, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    grid = [*harbour.words, "embedder=hashing", "-m", "strategy=fixed,sinking,recursive", "size=10,24"]
    here = call(capsys, *grid, f"outputs={tmp_path}/here")
    there = call(capsys, *grid, *JOBLIB, f"outputs={tmp_path}/there")
    assert (here.status, there.status) == (1, 1), there.err
    assert len(cells(tmp_path / "here")) == 4
    assert cells(tmp_path / "there") == cells(tmp_path / "here")
    assert leaderboard(tmp_path / "there") == leaderboard(tmp_path / "here")
    for name in ("cells", "failed", "winner", "tied", "pareto"):
        assert record(tmp_path / "there")[name] == record(tmp_path / "here")[name]
    assert there.err.count("FAILED") == 2
    assert "the hull leaks" in there.err
    log = next(tmp_path.glob("there/sweeps/*/sweep.log")).read_text(encoding="utf-8")
    assert "harbour_parts.py" in log, "the traceback of the other process"


def test_a_killed_process_loses_nothing(harbour: Harbour, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    grid = [*harbour.words, "embedder=mortal", "-m", "strategy=fixed", "size=10,24"]
    assert call(capsys, *grid, f"outputs={tmp_path}/here").status == 0
    harbour.will_die(1)
    there = call(capsys, *grid, *JOBLIB, f"outputs={tmp_path}/there")
    assert there.status == 0, there.err
    assert not list(harbour.deaths.iterdir())
    assert cells(tmp_path / "there") == cells(tmp_path / "here")
    assert leaderboard(tmp_path / "there") == leaderboard(tmp_path / "here")


@pytest.mark.slow
def test_one_that_always_dies_is_told(harbour: Harbour, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    harbour.will_die(2)
    said = call(capsys, *harbour.words, "embedder=mortal", "size=10", *JOBLIB, "hydra.launcher.retries=1", f"outputs={tmp_path}/there")
    assert said.status == 1, said.err
    assert "its process died 2 times" in said.err


@pytest.mark.parametrize(("words", "told"), [(["hydra.launcher.n_jobs=0"], "n_jobs=0"), (["hydra.launcher.retries=some"], "retries=some")])
def test_settings_are_checked(harbour: Harbour, tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str], told: str) -> None:
    said = call(capsys, *harbour.words, "embedder=hashing", "size=10", "hydra/launcher=joblib", *words, f"outputs={tmp_path}/there")
    assert (said.status, len(said.lines)) == (2, 1), said.err
    assert told in said.err


SLOW = """
import time
from harness.embedding import HashingEmbedder


class Slow(HashingEmbedder):
    def vectors(self, inputs, rows):
        for block, found in super().vectors(inputs, rows):
            time.sleep(1)
            Path(os.environ["HARBOUR_DEATHS"], str(os.getpid())).touch()
            yield block, found
"""


@pytest.mark.slow
@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGKILL])
def test_no_process_outlives_the_command(harbour: Harbour, tmp_path: Path, by: signal.Signals) -> None:
    (tmp_path / "slow_harbour.py").write_text(f"import os\nfrom pathlib import Path\n{SLOW}")
    (tmp_path / "own" / "embedder" / "slow.yaml").write_text("_target_: slow_harbour.Slow\n")
    grid = [*harbour.words, "embedder=slow", "-m", "strategy=fixed,recursive", "size=10,16,24", *JOBLIB, f"outputs={tmp_path}/there"]
    process = start(*grid, PYTHONPATH=f"{ROOT}:{tmp_path}")
    while not list(harbour.deaths.iterdir()):
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)
    process.send_signal(by)
    said = finished(process, timeout=60)  # the pipes close when the last process that holds them has ended
    assert said.status == (130 if by == signal.SIGINT else -signal.SIGKILL)
    if by == signal.SIGINT:
        assert "(stopped early)" in said.out
        assert "Traceback" not in said.err
