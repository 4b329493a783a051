"""Sweeps with an embedder behind an endpoint: from end to end, killed and taken up, with the server away; and the key is nowhere."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from fake_endpoint import KEY, Fake, serving
from front_cases import ROOT, call, write_corpus

from harness.embedding import http_endpoint as endpoint_module

ALONE = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # a suite in the background has it ignored
from pathlib import Path
from harness.embedding import with_cache
from harness.embedding.http_embedder import HttpEmbedder

toy = HttpEmbedder(sys.argv[1], "toy", "words", 100, texts_a_batch=4, concurrency=2)
with_cache(toy, Path(sys.argv[2]), max_bytes=10**8).embed([f"text number {number}" for number in range(60)], "passage")
"""


PLAIN = ("tracking=files", "report=false")


def words_for(fake: Fake, folder: Path, *more: str) -> list[str]:
    if not (folder / "harbour").exists():
        write_corpus(folder / "harbour", documents=3)
    return [
        *("run", "--multirun", "embedder=openai", f"embedder.base_url={fake.url}", "embedder.key_env=TOY_KEY", "embedder.tokenizer=words"),
        *("embedder.texts_a_batch=5", "embedder.price_per_million_tokens=0.5", "dataset=folder", f"dataset.path={folder}/harbour"),
        *("strategy=fixed", "unit=words", "size=12,24", "scoring.resamples=60", f"outputs={folder}/outputs", *more),
    ]


def written(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoint_module, "_BACKOFF", 0.01)
    monkeypatch.setenv("TOY_KEY", KEY)


@pytest.mark.parametrize("tracking", ["files", pytest.param("mlflow", marks=pytest.mark.slow)])
def test_a_sweep_from_end_to_end(tracking: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With faults under way; then all again from the cache, without a request; and the key is in nothing that was written or said."""
    well = [None] * 6
    with serving(key=KEY) as fake:
        fake.script = [None, (429, "slow down", [("Retry-After", "0.1")]), "nan", *well, (500, f"key {KEY} was good"), *well, "drop", "short"]
        said = call(capsys, *words_for(fake, tmp_path, f"tracking={tracking}", f"report={str(tracking == 'mlflow').lower()}"))
        assert said.status == 0, said.err
        assert "2 ran" in said.out
        assert "text-embedding-3-small: about" in said.err
        assert "tokens to embed, about $0.00" in said.err
        assert fake.texts()
        assert set(fake.texts().values()) == {1}, "no text was paid twice, in neither cell"
        paid = len(fake.requests)
        again = call(capsys, *words_for(fake, tmp_path, "rerun=true", *PLAIN))
        assert again.status == 0
        assert "2 ran" in again.out
        assert len(fake.requests) == paid
    away = call(capsys, *words_for(fake, tmp_path, "rerun=true", *PLAIN))
    assert away.status == 0, "the server is not needed where the cache has everything"
    files = written(tmp_path)
    assert any(path.name == "mlflow.db" for path in files) == (tracking == "mlflow")
    assert any(b"asking again" in content for path, content in files.items() if path.name == "sweep.log"), "the fault with the key in it was logged"
    assert not [path for path, content in files.items() if KEY.encode() in content]
    assert KEY not in said.out + said.err + again.out + again.err
    same = {path: json.loads(content) for path, content in files.items() if path.name == "result.json" and "cells" in path.parts}
    assert len(same) == 2
    assert all(result["metrics"]["embedded_tokens"] == 0 for result in same.values())


def test_the_search_for_the_key_would_find_it(tmp_path: Path) -> None:
    (tmp_path / "some.log").write_text(f"Authorization: Bearer {KEY}")
    assert [path for path, content in written(tmp_path).items() if KEY.encode() in content]


def test_a_server_that_is_away_fails_the_cells_in_a_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with serving() as fake:
        words = words_for(fake, tmp_path, *PLAIN, "embedder.retries=1")
    said = call(capsys, *words)
    assert said.status == 1
    assert f"embedder text-embedding-3-small at {fake.url}: can't be reached" in " ".join(said.err.split())
    assert "2 FAILED" in " ".join(said.out.split())
    assert "Traceback" not in said.err + said.out


def test_a_key_of_no_use_fails_the_cells_in_a_line(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(key="another") as fake:
        said = call(capsys, *words_for(fake, tmp_path, *PLAIN))
        assert said.status == 1
        assert "401 Unauthorized: Incorrect API key provided: Bearer …" in " ".join(said.err.split())
        assert len(fake.requests) == 2, "one for each cell"
    assert not [path for path, content in written(tmp_path).items() if KEY.encode() in content]
    typed = [f"embedder.key_env={KEY}" if word.startswith("embedder.key_env") else word for word in words_for(fake, tmp_path)]
    refused = call(capsys, *typed)
    assert (refused.status, len(refused.lines)) == (2, 1)
    assert KEY not in refused.err
    assert not [path for path, content in written(tmp_path).items() if KEY.encode() in content]


def process_for(fake: Fake, folder: Path) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-c", ALONE, fake.url, str(folder)], cwd=ROOT, stderr=subprocess.PIPE, text=True)


def until(when: Any) -> None:
    deadline = time.monotonic() + 30
    while not when():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def test_a_process_killed_without_warning_pays_again_for_at_most_what_was_under_way(tmp_path: Path) -> None:
    with serving(slow=0.05) as fake:
        process = process_for(fake, tmp_path)
        until(lambda: sum(fake.texts().values()) >= 28)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        until(lambda: not fake.at_once)
        before = fake.texts()
        process = process_for(fake, tmp_path)
        process.communicate()
        assert process.returncode == 0
        twice = Counter({text: count for text, count in fake.texts().items() if count > 1})
        assert set(fake.texts()) == {f"text number {number}" for number in range(60)}
        assert sum(fake.texts().values()) - 60 <= 2 * 4, "two requests under way, four texts each"
        assert len(before) >= 20
        assert len(twice) <= 2 * 4
        assert fake.served["a"] == 1, "the length of a vector is known from the cache"


def test_ctrl_c_does_not_wait_for_a_slow_server(tmp_path: Path) -> None:
    with serving(slow=5) as fake:
        process = process_for(fake, tmp_path)
        until(lambda: len(fake.requests) >= 1)
        began = time.monotonic()
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=20)
        assert time.monotonic() - began < 3
        assert "KeyboardInterrupt" in err
