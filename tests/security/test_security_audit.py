"""The audit: a finding without a written answer fails, an answer without a finding too, and a package that was not looked up is no clean one."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
ROW = "| `PYSEC-2026-1` | `jinja2` | not ours: no template comes from outside | 2026-11-30 |\n"


@pytest.fixture(scope="module")
def audit() -> ModuleType:
    spec = importlib.util.spec_from_file_location("audit", ROOT / ".ci" / "audit.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def report(**changes: Any) -> str:
    plain = {"name": "jinja2", "version": "3.1.6", "vulns": [{"id": "GHSA-aaaa-bbbb-cccc", "aliases": ["PYSEC-2026-1", "CVE-2026-1"]}]}
    return json.dumps({"dependencies": [{"name": "numpy", "version": "2.4.6", "vulns": []}, {**plain, **changes}], "fixes": []})


def test_an_answered_finding_passes_by_any_of_its_names(audit: ModuleType) -> None:
    assert audit.judged(report(), ROW)[0] == 0


@pytest.mark.parametrize(
    "row", ["", "| PYSEC-2026-1 | jinja2 |  | 2026-11-30 |\n", "| PYSEC-2026-1 | jinja2 | why | some day |\n", ROW.replace("-1`", "-2`")]
)
def test_a_finding_without_an_answer_fails(audit: ModuleType, row: str) -> None:
    status, lines = audit.judged(report(), row)
    assert status == 1
    assert "jinja2 3.1.6 has no answer" in lines[0]


def test_an_answer_to_nothing_fails(audit: ModuleType) -> None:
    status, lines = audit.judged(report(vulns=[]), ROW)
    assert status == 1
    assert "no finding any more" in lines[0]


def test_what_was_not_looked_up_is_said_and_is_not_clean(audit: ModuleType) -> None:
    status, lines = audit.judged(json.dumps({"dependencies": [{"name": "jinja2", "skip_reason": "not found"}]}), ROW)
    assert status == 0
    assert lines[-1] == "NOT AUDITED: jinja2"


UNKNOWN = json.dumps({"dependencies": [{"name": "some", "skip_reason": "not found"}]})


def told(audit: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], program: Path) -> tuple[int, str]:
    monkeypatch.setattr("sys.argv", ["audit.py", str(program)])
    return audit.main(), capsys.readouterr().out


@pytest.mark.parametrize("says", ["", f"echo '{UNKNOWN}'", "echo 'no network' >&2; exit 1"])
def test_where_the_database_is_away_it_says_so(
    audit: ModuleType, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    program = tmp_path / "pip-audit"
    if says:
        program.write_text(f"#!/bin/sh\n{says}\n", encoding="utf-8")
        program.chmod(0o755)
    status, out = told(audit, monkeypatch, capsys, program)
    assert status == 0
    assert out.startswith("NOT AUDITED: the advisory database can't be asked")


def test_a_finding_in_the_pins_fails(audit: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    program = tmp_path / "pip-audit"
    program.write_text(f"#!/bin/sh\necho '{report()}'\nexit 1\n", encoding="utf-8")
    program.chmod(0o755)
    status, out = told(audit, monkeypatch, capsys, program)
    assert status == 1
    assert "GHSA-aaaa-bbbb-cccc: jinja2 3.1.6 has no answer" in out


def test_the_document_is_one_that_the_audit_reads(audit: ModuleType) -> None:
    text = (ROOT / "docs" / "security-audit.md").read_text(encoding="utf-8")
    rows = [line for line in text.splitlines() if line.startswith("|")][2:]
    assert len(audit.answers(text)) == len(rows), "a row that the audit can't read answers nothing"
