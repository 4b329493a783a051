"""Who may import whom: the contracts in pyproject.toml."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from front_cases import ROOT


def lint(folder: Path) -> subprocess.CompletedProcess[str]:
    program = "import sys; from importlinter.cli import lint_imports_command as run; sys.exit(run(['--no-cache']))"
    return subprocess.run([sys.executable, "-c", program], cwd=folder, capture_output=True, text=True, timeout=100)


def test_every_import_follows_the_arrows() -> None:
    found = lint(ROOT)
    assert found.returncode == 0, found.stdout


WRONG = {
    "chunking/overlap.py": "import harness.embedding",
    "metrics/cost.py": "import mlflow",
    "runner.py": "import hydra",
    "sweep.py": "import faiss",
}


@pytest.mark.parametrize("module", WRONG)
def test_an_import_against_them_is_seen(tmp_path: Path, module: str) -> None:
    """A copy of the package with one wrong line breaks a contract; without this the test above would prove nothing."""
    shutil.copytree(ROOT / "harness", tmp_path / "harness", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    path = tmp_path / "harness" / module
    path.write_text(path.read_text(encoding="utf-8") + f"\n{WRONG[module]}\n", encoding="utf-8")
    found = lint(tmp_path)
    assert found.returncode == 1, found.stdout
    assert "BROKEN" in found.stdout
