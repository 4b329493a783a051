"""The bundled corpora and the dataset YAMLs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hydra.utils import instantiate
from omegaconf import OmegaConf

import harness.bundled
from harness.bundled import bundled_folder
from harness.corpus.bundled import bundled, bundled_names
from harness.errors import DataError
from harness.types import Corpus

CONF = Path(__file__).resolve().parents[2] / "conf" / "dataset"


@pytest.mark.parametrize("name", bundled_names())
def test_every_bundled_corpus_loads_without_left_out_questions(name: str) -> None:
    corpus = bundled(name)
    assert corpus.name == name
    assert not any("left out" in warning or "passed over" in warning for warning in corpus.warnings)


def test_a_name_that_is_not_bundled_is_refused_with_those_that_are() -> None:
    with pytest.raises(DataError, match="no bundled corpus has this name; there are: "):
        bundled("atlantis")
    with pytest.raises(DataError, match="no bundled corpus"):
        bundled("../datasets/handbook")


def test_an_installed_package_uses_its_own_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert bundled_folder("datasets") == Path(harness.__file__).parent.parent / "datasets"
    monkeypatch.setattr(harness.bundled, "_PACKAGE", tmp_path / "harness")
    stranger, own = tmp_path / "datasets", tmp_path / "harness" / "_bundled" / "datasets"
    stranger.mkdir()
    own.mkdir(parents=True)
    assert bundled_folder("datasets") == own


def test_the_folder_yaml_gives_a_corpus(build: Callable[..., Path], ask: Callable[..., dict[str, Any]]) -> None:
    config = OmegaConf.load(CONF / "folder.yaml")
    config.path = str(build([ask("q", [{"doc": "a", "quote": "x"}])], [{"id": "a", "text": "x"}, {"id": "b", "text": "y"}]))
    config.documents = 1
    corpus = instantiate(config)
    assert isinstance(corpus, Corpus)
    assert [document.id for document in corpus.documents] == ["a"]


def test_the_handbook_yaml_names_the_bundled_loader() -> None:
    assert OmegaConf.load(CONF / "handbook.yaml") == {
        "_target_": "harness.corpus.bundled.bundled",
        "name": "handbook",
        "documents": None,
        "questions": None,
        "seed": None,
    }


def test_the_handbook_is_the_one_that_was_frozen() -> None:
    """The labels were checked by a second reader and frozen before any sweep ran; whoever changes them writes the new digests on the card."""
    corpus = bundled("handbook")
    card = (CONF.parents[1] / "datasets" / "handbook" / "CARD.md").read_text(encoding="utf-8")
    assert f"`{corpus.digest}`" in card
    assert f"`{corpus.questions_digest}`" in card
