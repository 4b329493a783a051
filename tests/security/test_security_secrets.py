"""Passwords and keys: refused where they would be kept, and in nothing that is shown or written."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from front_cases import QUICK, Said, call, write_corpus

from harness.hydra_front import session
from harness.redaction import redacted

PASSWORD = "hunter2-Very-Long"
HF = "hf_" + "aB3dE6gH9" * 4
STORE = f"postgresql://me:{PASSWORD}@127.0.0.1:1/runs"

SECRETS = {
    f"https://me:{PASSWORD}@host/x": "https://…@host/x",
    f"https://{PASSWORD}@host/x": "https://…@host/x",
    f"mysql+pymysql://me:{PASSWORD}/@:@host:3306/db": "mysql+pymysql://…@host:3306/db",
    f"at https://host/x?a=1&api_key={PASSWORD}&b=2 now": "at https://host/x?a=1&api_key=…&b=2 now",
    f"token {HF}.": "token hf_….",
    "sk-proj-abcdefghijklmnopqrstuvwx": "sk-…",
    f"{{'Authorization': 'Bearer {PASSWORD}'}}": "{'Authorization': '…'}",
    f"Authorization: Basic {PASSWORD}": "Authorization: …",
}
PLAIN = (
    "http://localhost:5000/path/me@here",
    "sqlite:////home/me@work/outputs/mlflow.db",
    "sqlite:///C:/Users/me@work/mlflow.db",
    "mail a@b.org, see https://host/a?page=2#key=3",
    "basic configuration of bearer certificates; risk-averse sk-learn hf_short",
)


@pytest.mark.parametrize("text", SECRETS)
def test_a_secret_goes_and_the_rest_stays(text: str) -> None:
    assert redacted(text) == SECRETS[text]
    assert redacted(redacted(text)) == redacted(text)


@pytest.mark.parametrize("text", PLAIN)
def test_what_is_no_secret_stays(text: str) -> None:
    assert redacted(text) == text


def test_the_value_of_a_variable_named_like_a_secret_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OUR_API_KEY", "plain-words-as-key")
    monkeypatch.setenv("OUR_KEYBOARD", "qwertz-layout")
    assert redacted("it said plain-words-as-key, qwertz-layout") == "it said …, qwertz-layout"


@pytest.mark.parametrize("word", [f"tracking.uri='{STORE}'", f"dataset.path='https://me:{PASSWORD}@host/x'", f"embedder.model={HF}"])
def test_a_secret_on_the_command_line_is_refused_unsaid(word: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    group = {"dataset": ["dataset=folder"], "embedder": ["embedder=sentence_transformer"]}.get(word.split(".")[0], [])
    said = call(capsys, "run", *group, f"outputs={tmp_path / 'out'}", word)
    assert said.status == 2
    assert len(said.lines) == 1
    assert "environment variable" in said.err
    assert PASSWORD not in said.out + said.err
    assert HF not in said.out + said.err
    assert not (tmp_path / "out").exists()


def failing_sweep(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> tuple[Said, list[str]]:
    """A sweep whose store has a password and whose splitter puts keys into what it raises; with the texts of all files that it left."""
    own = tmp_path / "own"
    own.mkdir()
    (own / "leaking_splitter.py").write_text(
        "import os\n\ndef split(text):\n    key = os.environ['LEAK_API_KEY']\n"
        "    raise RuntimeError(f\"first {key}\\nthen Authorization: Bearer {key} at {os.environ['RUNS']}\")\n",
        encoding="utf-8",
    )
    monkeypatch.syspath_prepend(str(own))
    monkeypatch.setenv("RUNS", STORE)
    monkeypatch.setenv("LEAK_API_KEY", HF)
    corpus = write_corpus(tmp_path / "corpus", documents=2, sections=2)
    quick = [word for word in QUICK if not word.startswith(("tracking=", "report="))]
    words = ["run", *quick, "dataset=folder", f"dataset.path={corpus}", f"outputs={tmp_path / 'out'}", 'tracking.uri="${oc.env:RUNS}"']
    said = call(capsys, *words, "--multirun", "strategy=callable,fixed", "+strategy.path=leaking_splitter:split")
    if said.status == 2:  # `fixed` takes no path: one strategy at a time
        said = call(capsys, *words, "strategy=callable", "strategy.path=leaking_splitter:split")
    sys.modules.pop("leaking_splitter", None)
    return said, [path.read_bytes().decode("latin-1") for path in (tmp_path / "out").rglob("*") if path.is_file()]


def test_no_secret_is_shown_or_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    said, files = failing_sweep(tmp_path, monkeypatch, capsys)
    assert "not tracked" in said.err, "the store was asked"
    assert "FAILED" in said.err, "and the splitter failed"
    everything = [said.out, said.err, *files]
    assert any("leaking_splitter.py" in text for text in files), "sweep.log has the traceback"
    assert not [text for text in everything if PASSWORD in text or HF in text]
    assert any("postgresql://…@127.0.0.1:1/runs" in text for text in everything)
    assert any(re.search(r"oc\.env:RUNS", text) for text in files), "the command is kept as it was typed"


def test_the_check_notices_a_log_that_is_not_redacted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(session, "redacted", lambda text: text)
    _, files = failing_sweep(tmp_path, monkeypatch, capsys)
    assert [text for text in files if HF in text]


def test_usage_reports_are_off() -> None:
    from huggingface_hub import constants

    import harness

    assert constants.HF_HUB_DISABLE_TELEMETRY
    source = (Path(harness.__file__)).read_text(encoding="utf-8")
    for name in ("DO_NOT_TRACK", "HF_HUB_DISABLE_TELEMETRY", "MLFLOW_DISABLE_TELEMETRY", "RAY_USAGE_STATS_ENABLED"):
        assert name in source
