"""The Dockerfile says what the project says. No image is built here: that needs an engine."""

from __future__ import annotations

import fnmatch
import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
WORDS = [
    line.split(None, 1) for line in (ROOT / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ").splitlines() if re.match("[A-Z]+ ", line)
]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def said(word: str) -> list[str]:
    return [rest for name, rest in WORDS if name == word]


def test_it_starts_the_projects_program_as_nobody_special() -> None:
    assert said("FROM") == [f"python:{PROJECT['requires-python'].removeprefix('>=')}-slim"]
    program = re.fullmatch(r'\["([\w-]+)"\]', said("ENTRYPOINT")[0])
    assert program is not None
    assert program[1] in PROJECT["scripts"]
    assert said("USER")[-1].isdigit(), "a number, so that a cluster can see that it is not root"
    assert int(said("USER")[-1]) > 0
    assert said("VOLUME") == [said("WORKDIR")[-1]]


def test_what_a_build_needs_is_sent_and_nothing_else() -> None:
    lines = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    kept = {line.removeprefix("!") for line in lines if line.startswith("!")}
    assert "*" in lines
    assert {
        "harness",
        "conf",
        "datasets",
        "pyproject.toml",
        "setup.py",
        "packaging_steps.py",
        "constraints.txt",
        PROJECT["readme"],
        "LICENSE",
    } == kept
    assert all((ROOT / name).exists() for name in kept)
    assert not [name for name in (".git", ".env", "outputs", ".venv") if any(fnmatch.fnmatch(name, pattern) for pattern in kept)]
    assert not re.search(r"ADD |https?://|TOKEN|PASSWORD|SECRET", (ROOT / "Dockerfile").read_text(encoding="utf-8"))
