"""A command that is through leaves at once, and leaves nothing half written: no log beside a database, no text in a buffer."""

from __future__ import annotations

import gc
import gzip
import sqlite3
import subprocess
import sys
import zipfile
from contextlib import closing
from pathlib import Path

import pytest
from front_cases import ROOT

from harness.cli.main import main

CODE = """
import sys; root, folder = sys.argv[1:]; sys.path.insert(0, root); sys.argv = ["chunk-sweep", "--version"]
import gc
from pathlib import Path
from harness.cli.main import main
main()
assert gc.get_threshold()[0] == 20_000, gc.get_threshold()

import gzip, zipfile
import numpy as np
from harness.embedding.cache import VectorCache
from harness.tracking.mlflow_client import quiet_client

class Part:
    pass

part = Part()
part.itself = part  # nobody but the search for cycles would find that it can go
part.notes = open(Path(folder, "notes.txt"), "w")
part.notes.write("what was noted\\n")
part.packed = gzip.open(Path(folder, "notes.gz"), "wt")
part.packed.write("what was noted")
part.zipped = zipfile.ZipFile(Path(folder, "notes.zip"), "w")
part.zipped.writestr("notes", "what was noted")
part.cache = VectorCache(Path(folder), "identity", 4, max_bytes=1 << 20)
part.cache.save([b"key"], np.ones((1, 4), dtype=np.float32))
part.client = quiet_client("sqlite:///" + str(Path(folder, "mlflow.db")))
part.client.create_experiment("harbour")
Part.kept = part
"""


def test_what_was_written_is_whole_after_an_exit_without_a_search_for_cycles(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-W", "ignore", "-c", CODE, str(ROOT), str(tmp_path)], check=True, capture_output=True)
    assert (tmp_path / "notes.txt").read_text(encoding="utf-8") == "what was noted\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["identity.sqlite", "mlflow.db", "notes.gz", "notes.txt", "notes.zip"]
    assert gzip.decompress((tmp_path / "notes.gz").read_bytes()) == b"what was noted"
    assert zipfile.ZipFile(tmp_path / "notes.zip").read("notes") == b"what was noted"
    with closing(sqlite3.connect(tmp_path / "mlflow.db")) as store:
        assert ("harbour",) in store.execute("SELECT name FROM experiments").fetchall()
    with closing(sqlite3.connect(tmp_path / "identity.sqlite")) as cache:
        assert cache.execute("SELECT count(*) FROM vectors").fetchone() == (1,)


def test_a_program_that_calls_the_command_keeps_its_own_search(capsys: pytest.CaptureFixture[str]) -> None:
    before = gc.get_threshold()
    assert main(["--version"]) == 0
    assert gc.get_threshold() == before
    assert capsys.readouterr().out.startswith("chunk-sweep ")
