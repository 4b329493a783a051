"""The notebooks run from top to bottom on a fresh small sweep, and are kept without outputs."""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
import pytest
from front_cases import ROOT
from nbclient import NotebookClient

from harness.cli.main import main

NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
NAMES = ["01_tradeoff_curves", "02_why_questions_fail", "03_is_the_difference_real", "04_compare_embedders"]
SMALL = ["dataset.documents=6", "scoring.resamples=100"]
GRID = ["--multirun", "strategy=fixed,recursive", "size=64,128,256", "overlap=0"]


def book(path: Path) -> nbformat.NotebookNode:
    return nbformat.read(path, as_version=4)


def run(path: Path, place: str, monkeypatch: pytest.MonkeyPatch) -> nbformat.NotebookNode:
    monkeypatch.setenv("CHUNK_SWEEP_OUTPUTS", place)
    monkeypatch.setenv("MLFLOW_DISABLE_TELEMETRY", "true")
    executed = book(path)
    NotebookClient(executed, timeout=300, resources={"metadata": {"path": str(path.parent)}}).execute()
    return executed


def outputs_of(executed: nbformat.NotebookNode) -> list[nbformat.NotebookNode]:
    return [output for cell in executed.cells for output in cell.get("outputs", [])]


def said(executed: nbformat.NotebookNode) -> str:
    return "".join(output.get("text", "") for output in outputs_of(executed))


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One sweep with both embedders, told to MLflow as well."""
    folder = tmp_path_factory.mktemp("swept") / "outputs"
    assert main(["run", f"outputs={folder}", *SMALL, *GRID, "embedder=minilm,hashing"]) == 0
    return folder


def test_the_four_are_there() -> None:
    assert [path.stem for path in NOTEBOOKS] == NAMES


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_kept_clean_with_one_parameter_and_the_command(path: Path) -> None:
    found = book(path)
    nbformat.validate(found)
    code = [cell for cell in found.cells if cell.cell_type == "code"]
    assert all(cell.outputs == [] and cell.execution_count is None for cell in code), "strip the outputs before committing"
    assert 'OUTPUTS = os.environ.get("CHUNK_SWEEP_OUTPUTS", "../outputs")' in code[0].source
    assert re.search(r"^    chunk-sweep run .+", found.cells[0].source, flags=re.MULTILINE), "the first cell names the command behind the data"
    sources = "\n".join(cell.source for cell in code)
    assert "Results.open(OUTPUTS)" in sources
    assert not re.search(r"import json|import mlflow|read_parquet|read_csv|open\((?!OUTPUTS)", sources), "results are read by harness.results only"
    words = sum(len(cell.source.split()) for cell in found.cells if cell.cell_type == "markdown")
    assert words > 250, "the story is told in words between the plots"


@pytest.mark.parametrize("name", NAMES)
def test_rendered_in_the_docs(name: str) -> None:
    text = (ROOT / "docs" / "notebooks" / f"{name}.md").read_text(encoding="utf-8")
    images = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", text)
    assert len(images) >= 3
    assert all((ROOT / "docs" / "notebooks" / image).stat().st_size < 150_000 for image in images)
    headings = [line for cell in book(ROOT / "notebooks" / f"{name}.ipynb").cells for line in cell.source.splitlines() if line.startswith("## ")]
    missing = [heading for heading in headings if heading not in text.splitlines()]
    assert not missing, f"rendered from an older notebook; benchmarks/render_notebooks.py refreshes it: {missing}"


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_runs_on_a_fresh_sweep(path: Path, swept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    executed = run(path, str(swept), monkeypatch)
    pictures = [output for output in outputs_of(executed) if "image/png" in output.get("data", {})]
    assert len(pictures) >= 3
    assert not [output for output in outputs_of(executed) if output.get("name") == "stderr"], "warnings"
    assert "dataset.documents=6" in said(executed), "the command behind the data is shown"


@pytest.mark.slow
def test_runs_on_mlflow(swept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    executed = run(NOTEBOOKS[1], f"sqlite:///{swept}/mlflow.db", monkeypatch)
    assert len([output for output in outputs_of(executed) if "image/png" in output.get("data", {})]) >= 3


@pytest.mark.slow
def test_embedders_can_not_be_compared_on_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert main(["run", f"outputs={tmp_path}/outputs", "tracking=files", *SMALL, *GRID, "embedder=hashing"]) == 0
    executed = run(NOTEBOOKS[3], str(tmp_path / "outputs"), monkeypatch)
    assert "chunk-sweep run --multirun strategy=fixed,recursive size=128,256,512 overlap=0 embedder=minilm,hashing" in said(executed)
