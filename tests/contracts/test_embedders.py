"""The contract of harness.embedding.base, for every YAML in conf/embedder (models of the hub with a tiny one made here in their place)."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from embedding_cases import ALL, CONF, EMBEDDERS, PRESETS, TEXTS, here, load_embedder

from harness.embedding import CachedEmbedder
from harness.embedding.base import Kind
from harness.embedding.reading import Encoder


@pytest.fixture(scope="module", params=EMBEDDERS)
def changes(request: pytest.FixtureRequest, tiny_model_folder: Path, tiny_long_folder: Path, endpoint: str) -> tuple[str, dict[str, Any]]:
    """The YAML's name, and what has to be changed in it here."""
    return request.param, here(request.param, tiny_model_folder, tiny_long_folder, endpoint)


@pytest.fixture(scope="module")
def embedder(changes: tuple[str, dict[str, Any]]) -> Encoder:
    return load_embedder(changes[0], **changes[1])


@pytest.fixture(scope="module")
def plain(embedder: Encoder) -> CachedEmbedder:
    """The embedder through its usual front, without a disk and without memory."""
    return CachedEmbedder(embedder, memory_bytes=0)


@pytest.mark.parametrize("kind", ["query", "passage"])
def test_rows_are_float32_of_unit_length_in_the_order_asked(plain: CachedEmbedder, kind: Kind) -> None:
    found = plain.embed(TEXTS, kind)
    assert found.vectors.shape == (len(TEXTS), plain.dim)
    assert found.vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(found.vectors, axis=1), 1, atol=1e-5)
    backwards = plain.embed(TEXTS[::-1], kind)
    assert (np.einsum("ij,ij->i", found.vectors, backwards.vectors[::-1]) >= 0.999999).all()


def test_a_text_alone_has_the_vector_it_has_in_company(plain: CachedEmbedder) -> None:
    together = plain.embed(TEXTS, "passage").vectors
    alone = np.concatenate([plain.embed([text], "passage").vectors for text in TEXTS])
    assert (np.einsum("ij,ij->i", together, alone) >= 0.999999).all()


def test_different_texts_differ(plain: CachedEmbedder) -> None:
    vectors = plain.embed(TEXTS[:2], "passage").vectors
    assert vectors[0] @ vectors[1] < 0.9999


def test_repeats_are_worked_on_once(plain: CachedEmbedder) -> None:
    found = plain.embed(["one gauge", "two gauges", "one gauge"], "passage")
    assert found.cached.tolist() == [False, False, True]
    assert np.array_equal(found.vectors[0], found.vectors[2])


def test_no_texts_give_no_rows(plain: CachedEmbedder) -> None:
    found = plain.embed([], "query")
    assert found.vectors.shape == (0, plain.dim)
    assert len(found.tokens) == len(found.unread) == len(found.cached) == 0


def test_what_is_not_read_is_counted(plain: CachedEmbedder) -> None:
    """Around the limit exactly, in the embedder's own unit; a text that differs only behind the limit has the same vector."""
    limit = min(plain.limit, 3000)
    texts = [" ".join("a" * limit), " ".join("a" * (limit + 1)), "a " * (limit + 40) + "b"]
    found = plain.embed(texts, "passage")
    assert found.tokens.tolist() == [plain.unit.measure(text).total for text in texts] == [limit, limit + 1, limit + 41]
    assert found.unread.tolist() == ([0, 1, 41] if limit == plain.limit else [0, 0, 0])
    if limit == plain.limit:
        assert np.array_equal(found.vectors[1], found.vectors[0])
        assert found.cached.tolist() == [False, True, True]


def test_progress_rises_to_its_total(plain: CachedEmbedder) -> None:
    told: list[tuple[int, int]] = []
    plain.embed([f"gauge number {number} " * (number % 7 + 1) for number in range(90)], "passage", lambda done, total: told.append((done, total)))
    done = [step[0] for step in told]
    assert done == sorted(done)
    assert {step[1] for step in told} == {done[-1]}


def test_identity_is_the_same_for_the_same_parts(embedder: Encoder, changes: tuple[str, dict[str, Any]]) -> None:
    assert load_embedder(changes[0], **changes[1]).identity == embedder.identity
    assert embedder.identity


def test_every_embedder_can_be_kept_in_less_room(embedder: Encoder, changes: tuple[str, dict[str, Any]]) -> None:
    """By the YAML's own keys, over the same vectors."""
    name, values = changes
    small = load_embedder(name, **values, storage="int8", **({} if name == "hashing" else {"dim": 3}))
    if name != "hashing":
        inputs = embedder.read(TEXTS[:2], "query")
        first = np.empty((len(inputs.keys), 3), dtype=np.float32)
        for rows, block in embedder.vectors(inputs, np.arange(len(inputs.keys))):
            first[rows] = block[:, :3]
        np.testing.assert_allclose(small.embed(TEXTS[:2], "query").vectors, first / np.linalg.norm(first, axis=1, keepdims=True), atol=1e-5)
    assert small.identity != embedder.identity
    assert set(ALL[name]) >= {"dim", "storage"}


def test_work_taken_up_after_its_first_blocks_comes_out_the_same_bit_for_bit(embedder: Encoder) -> None:
    texts = [f"Gauge {number} is read {'again ' * (number % 40)}in the evening." for number in range(300)]
    inputs = embedder.read(texts, "passage")
    rows = np.arange(len(inputs.keys))
    blocks = list(embedder.vectors(inputs, rows))
    whole = np.empty((len(rows), embedder.dim), dtype=np.float32)
    for places, vectors in blocks:
        whole[places] = vectors
    done = np.concatenate([places for places, _ in blocks[: len(blocks) // 2]]) if len(blocks) > 1 else np.zeros(0, dtype=np.int64)
    for places, vectors in embedder.vectors(inputs, np.setdiff1d(rows, done)):
        assert np.array_equal(whole[places], vectors)


@pytest.mark.parametrize("name", sorted(PRESETS))
def test_a_preset_names_its_source_and_has_its_prompts(name: str, tiny_long_folder: Path) -> None:
    head = "".join(line for line in (CONF / f"{name}.yaml").read_text(encoding="utf-8").splitlines(keepends=True) if line.startswith("#"))
    assert f"https://huggingface.co/{ALL[name]['model']}. " in head
    assert "Not run here: no network." in head
    assert re.search(r"[\d,]+ (tokens|word pieces)", head)
    embedder = load_embedder(name, model=str(tiny_long_folder))
    bare = load_embedder(name, model=str(tiny_long_folder), query_prompt="", passage_prompt="")
    for kind in ("query", "passage"):
        prompt, read = ALL[name][f"{kind}_prompt"], embedder.read(["gauge"], kind)
        assert read.ids.tolist() == bare.read([f"{prompt}gauge"], kind).ids.tolist()
