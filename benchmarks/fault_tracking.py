"""The server of MLflow down at the start, and lost in the middle and back."""

from __future__ import annotations

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

from fault_bench import Bench, Row
from fault_damage import missing_in
from fault_disk import empty_store


class Server:
    """`mlflow server` at a port of its own, with a store under `folder`; it can be killed and started again."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.uri, self.store = f"http://127.0.0.1:{self.port}", folder / "mlflow.db"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        words = ["--backend-store-uri", f"sqlite:///{self.store}", "--artifacts-destination", str(self.folder / "artifacts")]
        words += ["--host", "127.0.0.1", "--port", str(self.port), "--workers", "1"]
        command = [sys.executable, "-m", "mlflow", "server", *words]
        with (self.folder / "server.log").open("ab") as log:
            self._process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, start_new_session=True, env={**os.environ})
        until = time.monotonic() + 180
        while time.monotonic() < until:
            try:
                with urllib.request.urlopen(f"{self.uri}/health", timeout=2):
                    return
            except OSError:
                time.sleep(0.2)
        raise RuntimeError(f"the server of MLflow did not start: {(self.folder / 'server.log').read_text()[-600:]}")

    def kill(self) -> None:
        if self._process is not None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            self._process = None


@contextmanager
def a_server(folder: Path, bench: Bench) -> Iterator[Server]:
    folder.mkdir()
    server = Server(folder)
    (folder / "mlflow.db").write_bytes((empty_store(bench) / "mlflow.db").read_bytes())
    try:
        yield server
    finally:
        server.kill()


def server(bench: Bench) -> Iterator[Row]:
    """Files first; what was not told is told by the same command later."""
    with bench.room() as outputs, a_server(bench.scratch / "server", bench) as there:
        words = ("tracking=mlflow", f"tracking.uri={there.uri}", "dataset.name=late")
        ran = bench.run(outputs, *words)
        problems = ran.trouble + [f"status {ran.status}"] * (ran.status != 0) + ["not told"] * ("not tracked" not in ran.err)
        seconds = ran.seconds
        there.start()
        problems += _told(bench, outputs, there, words)
        seen = f'ran in {seconds:.0f} s into files, said "not tracked"; the same command told the server all 6 cells'
        yield Row("MLflow's server down at the start", "no server at the address; then one", seen, not problems, tuple(problems))
        with bench.room() as second:
            yield _lost(bench, second, there)


def _lost(bench: Bench, outputs: Path, there: Server) -> Row:
    words = ("tracking=mlflow", f"tracking.uri={there.uri}", "dataset.name=lost")
    process = bench.start(outputs, *words)
    until = time.monotonic() + 60
    while len(list(outputs.glob("cells/[!.]*"))) < 2 and time.monotonic() < until:
        time.sleep(0.02)
    there.kill()
    while len(list(outputs.glob("cells/[!.]*"))) < 4 and time.monotonic() < until:
        time.sleep(0.02)
    there.start()
    ran = process.wait()
    problems = ran.trouble + [f"status {ran.status}"] * (ran.status != 0) + ["not told"] * ("not tracked" not in ran.err)
    problems += _told(bench, outputs, there, words)
    seen = 'all cells in files, said "not tracked", went on telling when it was back; the same command told it the rest, each cell once'
    return Row("MLflow's server lost and back", "killed after the second cell, started again after the fourth", seen, not problems, tuple(problems))


def _told(bench: Bench, outputs: Path, there: Server, words: tuple[str, ...]) -> list[str]:
    """What is missing in files and at the server after the same command was run again. The name of the corpus is not part of any key."""
    found = bench.again(outputs, *words)
    name = words[-1].split("=")[1]
    return [line for line in found if not line.startswith("boards")] + missing_in(there.store, 6, name)


def ready(bench: Bench, outputs: Path, tracking: str) -> None:
    """A store of MLflow that is there already, where one is wanted: to make one takes seconds."""
    if tracking == "mlflow":
        outputs.mkdir(parents=True, exist_ok=True)
        (outputs / "mlflow.db").write_bytes((empty_store(bench) / "mlflow.db").read_bytes())
