"""A process killed at any moment loses the cell in flight and nothing else; the same command then gives what an uninterrupted run would have."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from front_cases import ROOT, finished, start, write_corpus
from stored_cases import cells, leaderboard

SLOW = """
import time
from harness.embedding import HashingEmbedder

class Slow(HashingEmbedder):
    def vectors(self, inputs, rows):
        for block, found in super().vectors(inputs, rows):
            time.sleep(0.25)
            yield block, found
"""


class Sweep:
    """One command with a slow embedder of one's own, run as often as wanted."""

    def __init__(self, folder: Path, tracking: str) -> None:
        self.folder = folder
        (folder / "own" / "embedder").mkdir(parents=True)
        (folder / "own" / "embedder" / "slow.yaml").write_text("_target_: slow_harbour.Slow\n")
        (folder / "slow_harbour.py").write_text(SLOW)
        corpus = write_corpus(folder / "harbour", documents=4)
        self.words = ["run", "--config-dir", str(folder / "own"), "embedder=slow", f"tracking={tracking}", "scoring.resamples=60", "unit=words"]
        self.words += ["dataset=folder", f"dataset.path={corpus}", "-m", "strategy=fixed,recursive", "size=10,16,24"]

    def start(self, outputs: Path) -> Any:
        return start(*self.words, f"outputs={outputs}", PYTHONPATH=f"{self.folder}:{ROOT}")

    def kill(self, outputs: Path, when: Callable[[], bool]) -> None:
        """Start, and end without warning as soon as `when` holds."""
        process = self.start(outputs)
        deadline = time.monotonic() + 60
        while not when():
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < deadline
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
        process.communicate()


def count(outputs: Path, pattern: str) -> int:
    return len([path for path in outputs.glob(pattern) if not path.name.startswith(".")])


def test_killed_at_several_moments(tmp_path: Path) -> None:
    sweep, outputs = Sweep(tmp_path, "files"), tmp_path / "outputs"
    began: list[float] = []

    def a_moment_after_the_third_ranking() -> bool:
        if count(outputs, "rankings/*") >= 3 and not began:
            began.append(time.monotonic())
        return bool(began) and time.monotonic() - began[0] > 0.1

    moments: list[Callable[[], bool]] = [
        lambda: count(outputs, "cells/*") >= 1,
        a_moment_after_the_third_ranking,
    ]
    for moment in moments:
        sweep.kill(outputs, moment)
    kept = {path: path.stat().st_mtime_ns for path in outputs.glob("cells/*/result.json")}
    assert 1 <= len(kept) < 6
    last, whole = sweep.start(outputs), sweep.start(tmp_path / "whole")
    said, plain = finished(last), finished(whole)
    assert said.status == plain.status == 0, said.err + plain.err
    assert f"{len(kept)} reused" in said.out
    assert all(path.stat().st_mtime_ns == before for path, before in kept.items())
    assert len(cells(outputs)) == 6
    assert cells(outputs) == cells(tmp_path / "whole")
    assert leaderboard(outputs) == leaderboard(tmp_path / "whole")


@pytest.mark.slow
def test_stopped_by_the_person(tmp_path: Path) -> None:
    """Ctrl-C: one word, the status that shells have for it, what is done is kept and told, and the same command goes on."""
    sweep, outputs = Sweep(tmp_path, "files"), tmp_path / "outputs"
    process = sweep.start(outputs)
    while not count(outputs, "cells/*"):
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    said = finished(process)
    assert said.status == 130, said.err
    assert "Traceback" not in said.err
    assert "(stopped early)" in said.out
    record = json.loads(next(outputs.glob("sweeps/*/sweep.json")).read_text(encoding="utf-8"))
    assert record["status"] == "stopped"
    assert 1 <= len(record["cells"]) < 6
    again = finished(sweep.start(outputs))
    assert again.status == 0, again.err
    assert f"{len(record['cells'])} reused" in again.out
    assert len(cells(outputs)) == 6


@pytest.mark.slow
def test_killed_while_mlflow_is_told(tmp_path: Path) -> None:
    from mlflow.tracking import MlflowClient

    sweep, outputs = Sweep(tmp_path, "mlflow"), tmp_path / "outputs"
    sweep.kill(outputs, lambda: count(outputs, "cells/*") >= 2)
    client = MlflowClient(f"sqlite:///{outputs / 'mlflow.db'}")
    experiment = client.get_experiment_by_name("harbour")

    def statuses() -> list[str]:
        found = client.search_runs([experiment.experiment_id])
        return sorted(run.info.status for run in found if "mlflow.parentRunId" in run.data.tags)

    assert statuses().count("FINISHED") <= 2
    assert "RUNNING" in statuses()
    said = finished(sweep.start(outputs))
    assert said.status == 0, said.err
    assert "RUNNING" not in statuses()
    assert statuses().count("FINISHED") == 6
    runs = client.search_runs([experiment.experiment_id])
    parents = [run for run in runs if "mlflow.parentRunId" not in run.data.tags]
    assert [run.info.status for run in parents] == ["FINISHED"]
    for run in runs:
        if run.info.status == "FAILED":
            assert "complete_within_2048" not in run.data.metrics or "problem" in str(run.data.tags)
            assert run.data.tags["chunk_sweep.problem"] == "the process ended before this cell did"
