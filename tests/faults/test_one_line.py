"""What the table of faults found: each told in one line, by the kind of the fault."""

from __future__ import annotations

import io
import logging
from pathlib import Path

import pytest
from front_cases import QUICK, call, write_corpus

from harness.hydra_front.log_file import log, log_file


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("retriever=1.5",), "retriever=1.5: one of"),
        (("retriever=1.5", "--cfg", "job"), "retriever=1.5: one of"),
        (("~strategy",), "strategy="),
        (("~size",), "size="),
        (("=5",), "KEY=VALUE"),
        (("-m", "size=range(1,100,0)"), "range(1,100,0)"),
        (("cache_gigabytes=1e300",), "cache_gigabytes"),
        (("scoring.resamples=99999999999999999999",), "to 1000000"),
    ],
)
def test_a_word_that_means_nothing(words: tuple[str, ...], told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = call(capsys, "run", *QUICK, f"outputs={tmp_path}", *words)
    assert (said.status, len(said.lines), said.out) == (2, 1, ""), said
    assert told in said.err


def test_a_word_that_refers_to_another_key(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = call(capsys, "run", *QUICK, "dataset.documents=1", f"outputs={tmp_path}", "scoring.seed=${size}")
    assert said.status == 0, said.err


@pytest.mark.parametrize("name", ["documents/notice-0.md", "questions.jsonl", "metadata.jsonl"])
@pytest.mark.parametrize("target", ["itself", "nothing"])
def test_a_link_that_leads_nowhere(name: str, target: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    link = write_corpus(tmp_path / "harbour") / name
    link.unlink(missing_ok=True)
    link.symlink_to(link.name if target == "itself" else "nowhere")
    said = call(capsys, "data", "check", str(tmp_path / "harbour"))
    assert said.status == 2, said
    assert "Error" not in said.err
    assert "link" in said.err


def test_what_nobody_foresaw(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*given: object, **named: object) -> None:
        raise ZeroDivisionError("nobody\nforesaw")

    monkeypatch.setattr("harness.hydra_front.app.first_look", broken)
    said = call(capsys, "run", *QUICK, f"outputs={tmp_path}")
    assert (said.status, len(said.lines)) == (1, 1), said
    assert "ZeroDivisionError: nobody foresaw at test_one_line.py:" in said.err
    assert "HYDRA_FULL_ERROR=1" in said.err


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device that is always full is Linux's")
def test_a_log_on_a_full_disk_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with log_file(Path("/dev/full")):
        log.info("a line")
    assert capsys.readouterr().err == ""
    plain = logging.StreamHandler(Full())  # the mutation: logging's own handler shows a traceback
    log.addHandler(plain)
    log.info("a line")
    log.removeHandler(plain)
    assert "Traceback" in capsys.readouterr().err


class Full(io.StringIO):
    """A stream without room."""

    def write(self, text: str) -> int:
        raise OSError(28, "No space left on device")
