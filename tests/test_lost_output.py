"""Standard output that goes away ends the program with one line, or none, and what was measured is kept."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from front_cases import QUICK, ROOT

CODE = "import sys; sys.path.insert(0, sys.argv.pop(1)); from harness.cli.main import main; raise SystemExit(main())"


def command(*words: str) -> list[str]:
    return [sys.executable, "-c", CODE, str(ROOT), *words]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is full")
@pytest.mark.parametrize("words", [("--help",), ("data", "--help"), ("run", "--cfg", "job"), ("report", "--help")], ids=" ".join)
def test_a_full_disk_is_one_line(words: tuple[str, ...]) -> None:
    with Path("/dev/full").open("w") as full:
        said = subprocess.run(command(*words), stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert said.returncode == 2
    assert said.stderr.splitlines() == ["chunk-sweep: standard output can't be written (No space left on device); what is in files already is kept"]


def test_a_closed_pipe_ends_a_run_quietly_and_its_cell_is_kept(tmp_path: Path) -> None:
    words = command("run", *QUICK, "dataset.documents=1", f"outputs={tmp_path / 'outputs'}")
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
        assert run.stdout is not None
        assert run.stderr is not None
        run.stdout.close()
        told = run.stderr.read()
    assert run.returncode == 141
    assert "Traceback" not in told
    assert list((tmp_path / "outputs").glob("cells/*/result.json"))
