"""Shorter vectors and lower precision: what they are, that they share the cached vectors, and that the bytes reach the shelf."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from front_cases import QUICK, call, experiment_on, small_corpus, write_corpus

from harness.embedding import HashingEmbedder, StoredEmbedder, hashed, minilm, with_cache
from harness.embedding.base import EmbedsSpans, vector_bytes
from harness.embedding.reading import Inputs
from harness.embedding.stored import STORAGES, stored
from harness.errors import ConfigError
from harness.experiment import embedded
from harness.hydra_front.workshop import Workshop
from harness.types import ChunkSet, Document, Ints, Vectors

DIM = 40
TEXTS = [f"Gauge {number} of the {'lower ' * (number % 4)}river is read at {number * 7 % 24} o'clock." for number in range(60)]


class Counting(HashingEmbedder):
    """Counts the readings that it works on."""

    worked = 0

    def vectors(self, inputs: Inputs, rows: Ints) -> Iterator[tuple[Ints, Vectors]]:
        self.worked += len(rows)
        yield from super().vectors(inputs, rows)


def unit(vectors: Vectors) -> Vectors:
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


@pytest.fixture(scope="module")
def whole() -> Vectors:
    return HashingEmbedder(DIM).embed(TEXTS, "passage").vectors


@pytest.mark.parametrize("dim", [2, 17, DIM])
def test_fewer_numbers_are_the_first_ones_at_unit_length(whole: Vectors, dim: int) -> None:
    small = stored(HashingEmbedder(DIM), dim)
    some = np.abs(whole[:, :dim]).sum(axis=1) > 0
    assert some.sum() > 20
    for kind in ("query", "passage"):
        found = small.embed(TEXTS, kind).vectors  # type: ignore[arg-type]
        np.testing.assert_allclose(found[some], unit(whole[some, :dim]), atol=1e-6)
        assert (found[~some] == np.eye(dim, dtype=np.float32)[0]).all(), "a row of zeros has no direction, so it gets the first axis"
        assert (found.shape, small.dim) == ((60, dim), dim)
    if dim < DIM:
        with pytest.raises(AssertionError):
            np.testing.assert_allclose(found[some], found[some][:, ::-1], atol=1e-6)


def test_what_is_stored_is_what_a_store_of_that_precision_holds(whole: Vectors) -> None:
    found = {name: stored(HashingEmbedder(DIM), storage=name).embed(TEXTS, "passage").vectors for name in STORAGES}
    assert np.array_equal(found["float32"], whole)
    np.testing.assert_allclose(found["float16"], unit(whole.astype(np.float16).astype(np.float32)), atol=1e-7)
    assert not np.array_equal(found["float16"], whole)
    steps = found["int8"] / np.abs(found["int8"]).max(axis=1, keepdims=True) * 127
    np.testing.assert_allclose(steps, np.rint(steps), atol=1e-3)
    assert np.einsum("ij,ij->i", found["int8"], whole).min() > 0.9999
    np.testing.assert_allclose(np.abs(found["binary"]), 1 / np.sqrt(DIM), rtol=1e-5)
    assert np.array_equal(found["binary"] > 0, whole > 0)
    for vectors in found.values():
        assert vectors.dtype == np.float32
        np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


@pytest.mark.parametrize("storage", sorted(STORAGES))
def test_questions_are_not_stored(whole: Vectors, storage: str) -> None:
    assert np.array_equal(stored(HashingEmbedder(DIM), storage=storage).embed(TEXTS, "query").vectors, whole)


def test_every_length_and_precision_is_made_of_the_same_cached_vectors(tmp_path: Path) -> None:
    worked, identities = [], set()
    for dim in (None, 8, 20):
        for storage in STORAGES:
            inner = Counting(DIM)
            with_cache(stored(inner, dim, storage), tmp_path, max_bytes=10**9).embed(TEXTS, "passage")
            worked.append(inner.worked)
            identities.add(stored(inner, dim, storage).identity)
    assert worked == [len(TEXTS), *[0] * 11]
    assert len(identities) == 12
    assert len(list(tmp_path.glob("*.sqlite"))) == 1
    other = Counting(DIM + 1)
    with_cache(stored(other, 8, "int8"), tmp_path, max_bytes=10**9).embed(TEXTS, "passage")
    assert other.worked == len(TEXTS), "another model behind is another cache"


def test_a_workshop_builds_one_cache_for_all_of_them(tmp_path: Path) -> None:
    from omegaconf import OmegaConf

    workshop, nodes = Workshop(tmp_path, 1), [{"storage": "float32"}, {"storage": "int8"}, {"storage": "binary"}]
    made: list[Any] = [workshop.embedder(OmegaConf.create({"_target_": "harness.embedding.hashed", "dim": DIM, **node})) for node in nodes]
    assert made[1].behind is made[0]
    assert made[2].behind is made[0]


def test_late_vectors_can_be_kept_in_less_room(tmp_path: Path) -> None:
    document = Document("d", "Deposits are due on Monday. They are returned within a month, unless the case came back wet.")
    bounds = np.array([0, 27]), np.array([27, len(document.text)])
    chunks = ChunkSet(np.zeros(2, dtype=np.int64), *bounds, *bounds)
    late: Any = with_cache(minilm(pooling="late"), tmp_path / "vectors", max_bytes=10**9)
    small: Any = with_cache(minilm(pooling="late", dim=64, storage="int8"), tmp_path / "vectors", max_bytes=10**9)
    whole = late.embed_spans([document], chunks)
    found = small.embed_spans([document], chunks)
    assert isinstance(small, EmbedsSpans)
    assert small.contextual
    assert (whole.kept, found.worked) == (0, 0), "its states were kept"
    assert np.einsum("ij,ij->i", found.vectors, unit(whole.vectors[:, :64])).min() > 0.9999
    assert not isinstance(with_cache(minilm(storage="int8"), tmp_path / "vectors", max_bytes=10**9), EmbedsSpans)


@pytest.mark.parametrize(("storage", "bytes_each"), [("float32", 84), ("float16", 42), ("int8", 25), ("binary", 3)])
def test_what_a_vector_takes_is_told(storage: str, bytes_each: float) -> None:
    assert vector_bytes(StoredEmbedder(HashingEmbedder(DIM), 21, storage)) == bytes_each
    assert vector_bytes(HashingEmbedder(DIM)) is None


def test_it_reaches_the_shelf(tmp_path: Path) -> None:
    experiment = experiment_on(small_corpus(tmp_path / "harbour"), embedder=stored(HashingEmbedder(DIM), 21, "int8"))
    bounds = np.array([0]), np.array([20])
    shelf, _ = embedded(experiment, ChunkSet(np.zeros(1, dtype=np.int64), *bounds, *bounds))
    assert shelf.vector_bytes == 25


def test_a_sweep_over_them_embeds_once_and_tells_them_apart(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    corpus = write_corpus(tmp_path / "harbour", documents=2)
    swept = ("--multirun", "embedder.storage=float32,int8,binary", f"dataset.path={corpus}", "dataset=folder", f"outputs={tmp_path}/outputs")
    said = call(capsys, "run", *QUICK, "strategy=fixed", *swept)
    assert said.status == 0, said.err
    records = [json.loads(path.read_text(encoding="utf-8")) for path in tmp_path.glob("outputs/cells/*/result.json")]
    by = {record["cell"]["label"].partition("embedder.storage=")[2]: record["metrics"] for record in records}
    assert set(by) == {"float32", "int8", "binary"}
    assert [by[name]["embedded_tokens"] for name in ("int8", "binary")] == [0, 0]
    assert by["float32"]["embedded_tokens"] == by["int8"]["cached_tokens"]


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"storage": "int4"}, r"embedder\.storage=int4: one of float32, float16, int8, binary"),
        ({"dim": 41}, r"embedder\.dim=41: a whole number from 2 to 40"),
        ({"dim": 1}, r"embedder\.dim=1"),
        ({"dim": "half"}, r"embedder\.dim=half"),
    ],
)
def test_values_that_cannot_work_are_refused(values: dict[str, Any], told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        stored(HashingEmbedder(DIM), **values)
    if "storage" in values:
        with pytest.raises(ConfigError, match=told):
            hashed(**values)
