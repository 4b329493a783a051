"""The contract of harness.embedding.base, for every YAML in conf/embedder (the open one with a tiny model made here)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from embedding_cases import EMBEDDERS, TEXTS, load_embedder

from harness.embedding import CachedEmbedder
from harness.embedding.base import Kind
from harness.embedding.reading import Encoder


@pytest.fixture(scope="module", params=EMBEDDERS)
def embedder(request: pytest.FixtureRequest, tiny_model_folder: Path) -> Encoder:
    changes: dict[str, Any] = {"model": str(tiny_model_folder)} if request.param == "sentence_transformer" else {}
    return load_embedder(request.param, **changes)


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
    texts = ["a " * limit, "a " * (limit + 1), "a " * (limit + 40) + "b"]
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


def test_identity_is_the_same_for_the_same_parts(embedder: Encoder, request: pytest.FixtureRequest, tiny_model_folder: Path) -> None:
    name = request.node.callspec.params["embedder"]
    changes: dict[str, Any] = {"model": str(tiny_model_folder)} if name == "sentence_transformer" else {}
    assert load_embedder(name, **changes).identity == embedder.identity
    assert embedder.identity


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
