"""Every command that the README and the docs show is run, in miniature: on three documents or a tiny labelled folder, with few resamples."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from import_samples import write_samples

from harness.cli.main import main

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
RETURNS = "# Returns\n\nItems may be returned within 30 days of delivery, in their box.\n\nWhatever was bought in a sale stays with the buyer.\n"
QUESTIONS = (
    '{"id": "q1", "question": "Can I send back a lamp from the sale?", "answers": [{"evidence": ['
    '{"doc": "returns.md", "quote": "Items may be returned within 30 days of delivery, in their box.", "role": "claim"}, '
    '{"doc": "returns.md", "quote": "Whatever was bought in a sale stays with the buyer.", "role": "exception"}]}]}\n'
    '{"id": "q2", "question": "Who pays the carrier?", "answers": []}\n'
)


def commands() -> list[str]:
    found = []
    for page in PAGES:
        for block in re.findall(r"^```bash\n(.*?)^```", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE):
            found += [line.split("  #")[0].strip() for line in block.splitlines() if line.startswith("chunk-sweep ")]
    for path in sorted((ROOT / "conf" / "experiment").glob("*.yaml")):
        found.append(path.read_text(encoding="utf-8").splitlines()[1].removeprefix("# "))
    return list(dict.fromkeys(found))


def in_miniature(words: list[str]) -> list[str]:
    if words[0] != "run" or "--help" in words:
        return words
    small = ["scoring.resamples=50"]
    if words != ["run", "experiment=quickstart"]:  # one of them makes the report too
        small.append("report=false")
    if "dataset=folder" not in words:
        small.append("dataset.documents=2")
    if not any(word.startswith("tracking") for word in words):
        small.append("tracking=files")
    return [*words, *small]


@pytest.fixture
def beside_a_labelled_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "my-labelled-docs"
    (folder / "documents").mkdir(parents=True)
    (folder / "documents" / "returns.md").write_text(RETURNS, encoding="utf-8")
    (folder / "questions.jsonl").write_text(QUESTIONS, encoding="utf-8")
    write_samples(tmp_path)
    monkeypatch.chdir(tmp_path)


def test_there_are_commands_to_test() -> None:
    assert len(commands()) >= 8


def costly(command: str) -> bool:
    """Named sweeps have many cells; tests/test_configs.py runs each over a tiny corpus in any case."""
    return ("experiment=" in command and "quickstart" not in command) or command.startswith(MANY_CELLS)


MANY_CELLS = ("chunk-sweep run --multirun strategy=fixed,sentence,recursive", "chunk-sweep run --multirun strategy=recursive,langchain")


@pytest.mark.usefixtures("beside_a_labelled_folder")
@pytest.mark.parametrize("command", [pytest.param(word, marks=pytest.mark.slow if costly(word) else ()) for word in commands()])
def test_the_command_runs(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    program, *words = shlex.split(command)
    assert program == "chunk-sweep"
    try:
        status = main(in_miniature(words))
    except SystemExit as end:
        status = int(end.code or 0)
    assert status == 0, capsys.readouterr().err
