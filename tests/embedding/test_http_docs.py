"""Every command of docs/http-embedders.md is run, in miniature, with a server of our own in place of the one it names."""

from __future__ import annotations

import re
import shlex
from dataclasses import fields
from pathlib import Path

import pytest
import yaml
from fake_endpoint import KEY, serving
from front_cases import ROOT, call, write_corpus

from harness.embedding.http_embedder import HttpEmbedder
from harness.embedding.sentence_transformer import minilm_package

PAGE = ROOT / "docs" / "http-embedders.md"
YAMLS = [path for path in sorted((ROOT / "conf" / "embedder").glob("*.yaml")) if "from_endpoint" in path.read_text(encoding="utf-8")]


def commands() -> list[str]:
    blocks = re.findall(r"^```sh\n(.*?)^```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    return [line for block in blocks for line in block.splitlines() if line.startswith("chunk-sweep ")]


def test_there_are_commands_for_every_choice() -> None:
    for path in YAMLS:
        assert any(f"embedder={path.stem} " in command for command in commands())


@pytest.mark.parametrize("command", commands())
def test_the_command_runs(command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    (tmp_path / "bge-m3").mkdir()
    (tmp_path / "bge-m3" / "tokenizer.json").write_bytes((minilm_package().files.reader / "tokenizer.json").read_bytes())
    write_corpus(tmp_path / "harbour", documents=2, sections=3)
    with serving(key=KEY if "embedder=openai" in command else None) as fake:
        small = ["dataset=folder", "dataset.path=harbour", "scoring.resamples=50", "report=false", "tracking=files", f"embedder.base_url={fake.url}"]
        said = call(capsys, *shlex.split(command)[1:], *small)
        assert said.status == 0, said.err
        assert fake.served
        prompt = re.search(r'passage_prompt="([^"]*)"', command)
        assert any(text.startswith(prompt[1] if prompt else "#") for text in fake.served)
        assert {request["key"] for request in fake.requests} == {f"Bearer {KEY}" if "embedder=openai" in command else None}


@pytest.mark.parametrize("path", YAMLS, ids=lambda path: path.stem)
def test_every_setting_is_in_the_yaml_and_on_the_page(path: Path) -> None:
    names = {field.name for field in fields(HttpEmbedder)}
    assert set(yaml.safe_load(path.read_text(encoding="utf-8"))) == names | {"_target_", "dim", "storage"}
    page = PAGE.read_text(encoding="utf-8")
    assert [name for name in names if f"`{name}`" not in page] == []
