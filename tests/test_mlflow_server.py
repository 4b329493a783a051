"""The same against `mlflow server` with an SQL store: what is told arrives, is read back, and a server that dies takes no result with it."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from front_cases import call, write_corpus

from harness.results import Results
from harness.tracking.mlflow_tracker import MlflowTracker

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]
GRID = ("embedder=hashing", "scoring.resamples=60", "unit=words", "-m", "strategy=fixed,recursive", "size=12,24", "overlap=0,25%")
PATIENCE = 120


class Server:
    """An MLflow server with a store and artifacts of its own, in a process group of its own: it leaves children behind unless the group is ended."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        self.uri, self.log = f"http://127.0.0.1:{port}", folder / "server.log"
        words = ["--backend-store-uri", f"sqlite:///{folder}/store.db", "--artifacts-destination", str(folder / "artifacts")]
        words += ["--host", "127.0.0.1", "--port", str(port), "--workers", "1"]
        known = {**os.environ, "MLFLOW_DISABLE_TELEMETRY": "true", "DO_NOT_TRACK": "true"}
        with self.log.open("wb") as log:
            command = [sys.executable, "-m", "mlflow", "server", *words]
            self.process = subprocess.Popen(command, env=known, stdout=log, stderr=subprocess.STDOUT, start_new_session=True)

    def wait(self) -> None:
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until and self.process.poll() is None:
            try:
                with urllib.request.urlopen(f"{self.uri}/health", timeout=2):
                    return
            except OSError:
                time.sleep(0.3)
        pytest.fail(f"the server did not start: {self.log.read_text()[-2000:]}")

    def kill(self) -> None:
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait(timeout=20)


@contextmanager
def serving(folder: Path) -> Iterator[Server]:
    server = Server(folder)
    try:
        server.wait()
        yield server
    finally:
        server.kill()


def words(folder: Path, uri: str) -> list[str]:
    return ["run", "dataset=folder", f"dataset.path={folder}/harbour", f"outputs={folder}/outputs", f"tracking.uri={uri}", *GRID]


def test_a_sweep_told_to_a_server_is_read_back_equal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_corpus(tmp_path / "harbour", documents=4)
    with serving(tmp_path / "server") as server:
        said = call(capsys, *words(tmp_path, server.uri))
        assert (said.status, said.err.count("not tracked")) == (0, 0)
        files, told = Results.open(tmp_path / "outputs"), Results.open(server.uri)
        assert told.sweeps()["cells"].tolist() == [8]
        pd.testing.assert_frame_equal(files.cells(), told.cells())
        pd.testing.assert_frame_equal(files.questions(), told.questions())
        pd.testing.assert_frame_equal(files.sweeps().drop(columns="date"), told.sweeps().drop(columns="date"))
    assert list((tmp_path / "server" / "artifacts").rglob("leaderboard.csv")), "artifacts went through the server"
    assert not (tmp_path / "outputs" / "mlruns").exists()


def test_a_server_that_dies_half_way_takes_no_result_with_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    write_corpus(tmp_path / "harbour", documents=4)
    told, began = MlflowTracker.cell_finished, []
    with serving(tmp_path / "server") as server:

        def then_die(self: Any, *given: Any) -> None:
            told(self, *given)
            began.append(time.monotonic())
            if len(began) == 3:
                server.kill()

        monkeypatch.setattr(MlflowTracker, "cell_finished", then_die)
        said = call(capsys, *words(tmp_path, server.uri))
    assert said.status == 0
    assert time.monotonic() - began[-1] < 60, "a server that is away does not hold up the sweep"
    assert len(list(tmp_path.glob("outputs/cells/*/result.json"))) == 8
    assert "not tracked" in said.err
    assert "Traceback" not in said.err
    (record,) = (json.loads(path.read_text()) for path in tmp_path.glob("outputs/sweeps/*/sweep.json"))
    assert (record["status"], record["untracked"]) == ("finished", True)
    assert len(Results.open(tmp_path / "outputs").cells()) == 8

    monkeypatch.undo()
    with serving(tmp_path / "second") as server:
        assert call(capsys, *words(tmp_path, server.uri)).status == 0
        assert Results.open(server.uri).sweeps()["cells"].tolist() == [8], "the same command tells another server all of it"
