"""Rankings that are asked for again: the same as a fresh search, and searched once."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cross_encoder_toys import shared_toy
from hydra import compose, initialize_config_dir
from hydra.utils import instantiate

from harness.retrieval.base import Queries, Shelf, reads_vectors
from harness.retrieval.dense import DenseIndex
from harness.retrieval.kept import KeptIndex
from harness.types import Candidates, Document, Probes, Ranking, Vectors

CONF = Path(__file__).resolve().parents[2] / "conf"
RETRIEVERS = sorted(path.stem for path in (CONF / "retriever").glob("*.yaml"))
NOTHING = Probes(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))
WORDLESS = ("bm25", "random")


def retriever(name: str, *words: str) -> Any:
    needed = [f"retriever.model={shared_toy()}"] if name == "rerank" else []
    with initialize_config_dir(str(CONF), version_base="1.3"):
        return instantiate(compose(None, overrides=[f"+retriever={name}", *needed, *words]).retriever)


def rows(random: np.random.Generator, count: int) -> Vectors:
    found = random.standard_normal((count, 16)).astype(np.float32)
    return found / np.linalg.norm(found, axis=1, keepdims=True)


def scene(*, vectors: bool = True) -> tuple[Shelf, Queries, Candidates]:
    random = np.random.default_rng(3)
    doc = np.sort(random.integers(0, 6, 80)).astype(np.int64)
    documents = tuple(
        Document(f"{number}", "", metadata={"date": f"2024-0{number + 1}-01", "related": [str((number + 1) % 6)]}) for number in range(6)
    )
    texts = tuple(" ".join(random.choice(["boat", "oar", "rope", "quay", "tide", "sail", "buoy"], 6)) for _ in range(80))
    every, asked = rows(random, 80), rows(random, 9)
    shelf = Shelf(doc, texts, every if vectors else np.zeros((0, 0), dtype=np.float32), documents=documents)
    queries = Queries(tuple(" ".join(random.choice(["boat", "tide", "buoy"], 2)) for _ in range(9)), asked if vectors else asked[:, :0])
    masks = np.array([[True] * 6, [True, False, True, False, True, False]])
    return shelf, queries, Candidates(random.integers(0, 2, 9).astype(np.int64), masks)


def same(one: Ranking, other: Ranking) -> bool:
    return all(
        np.array_equal(getattr(one, name), getattr(other, name), equal_nan=name not in ("indptr", "chunk", "candidates", "probe_below", "probe_tied"))
        for name in ("indptr", "chunk", "score", "candidates", "score_mean", "score_m2", "probe_score", "probe_below", "probe_tied")
    )


@pytest.mark.parametrize("name", RETRIEVERS)
def test_on_a_shelf_that_others_searched_it_finds_what_it_finds_alone(name: str) -> None:
    shelf, queries, candidates = scene()
    probes = Probes(np.array([0, 4]), np.array([3, 70]))
    for other in RETRIEVERS:
        shelf.index(retriever(other)).search(queries, candidates, 60, NOTHING)
    for depth in (1, 12, 45, 200):
        fresh = scene()[0].index(retriever(name)).search(queries, candidates, depth, probes)
        assert same(shelf.index(retriever(name)).search(queries, candidates, depth, probes), fresh), depth


def test_what_is_held_inside_several_is_searched_once(monkeypatch: pytest.MonkeyPatch) -> None:
    shelf, queries, candidates = scene()
    searched: list[int] = []
    plain = DenseIndex.search
    monkeypatch.setattr(DenseIndex, "search", lambda self, *asked: (searched.append(asked[2]), plain(self, *asked))[1])
    for weight in (0.2, 0.5, 0.8):
        shelf.index(retriever("hybrid", "retriever.method=weighted", f"retriever.weight={weight}")).search(queries, candidates, 20, NOTHING)
    assert len(searched) == 1
    shelf.index(retriever("hybrid")).search(queries, Candidates(candidates.group, candidates.documents), 20, NOTHING)
    assert len(searched) == 2, "other candidates"
    shelf.index(retriever("dense")).search(Queries(queries.texts, queries.vectors), candidates, 20, NOTHING)
    assert len(searched) == 3, "other questions"
    shelf.index(retriever("dense")).search(queries, candidates, 70, Probes(np.array([1]), np.array([2])))
    assert len(searched) == 4, "probes that were not answered"


def test_what_probes_move_does_not_reach_a_search_without() -> None:
    """The scores of probes come of another product, so where texts tie nearly, a ranking with probes may stand in another order."""
    random = np.random.default_rng(5)

    def counted(count: int, words: int) -> Vectors:
        found = np.stack([np.bincount(random.integers(0, 40, words), minlength=512) for _ in range(count)]).astype(np.float32)
        return found / np.linalg.norm(found, axis=1, keepdims=True)

    vectors, queries = counted(2000, 12), Queries(("boat",) * 9, counted(9, 5))
    every = Candidates(np.zeros(9, dtype=np.int64), np.ones((1, 1), dtype=bool))
    probes = Probes(np.repeat(np.arange(9), 200), np.tile(np.arange(0, 2000, 10), 9))
    shelf = Shelf(np.zeros(2000, dtype=np.int64), ("boat",) * 2000, vectors)
    alone = shelf.index(retriever("hybrid")).search(queries, every, 600, NOTHING)
    after = Shelf(shelf.doc, shelf.texts, vectors)
    after.index(retriever("dense")).search(queries, every, 1200, probes)
    assert same(after.index(retriever("hybrid")).search(queries, every, 600, NOTHING), alone)


def test_other_candidates_are_another_ranking() -> None:
    """That the comparison above would notice a memory that looked at the questions alone."""
    shelf, queries, candidates = scene()
    index = KeptIndex(retriever("dense").build(shelf))
    all_of_them = Candidates(np.zeros_like(candidates.group), candidates.documents)
    assert not same(index.search(queries, candidates, 30, NOTHING), index.search(queries, all_of_them, 30, NOTHING))


@pytest.mark.parametrize("name", RETRIEVERS)
def test_who_reads_no_vectors_searches_a_shelf_without(name: str) -> None:
    assert reads_vectors(retriever(name)) == (name not in WORDLESS)
    shelf, queries, candidates = scene(vectors=False)
    inner = retriever(name, "retriever@retriever.first=bm25") if name not in (*WORDLESS, "dense", "hnsw") else retriever(name)
    if reads_vectors(inner):
        assert name in ("dense", "hnsw", "mmr", "hybrid")
        return
    found = shelf.index(inner).search(queries, candidates, 30, NOTHING)
    full, asked, _ = scene()
    assert same(found, full.index(inner).search(asked, candidates, 30, NOTHING))


def test_what_is_told_of_time_is_of_the_search_that_found_it(monkeypatch: pytest.MonkeyPatch) -> None:
    shelf, queries, candidates = scene()
    searched, plain = [0], DenseIndex.search

    def slow(self: DenseIndex, *asked: Any) -> Ranking:
        searched[0] += 1
        time.sleep(0.05)
        return plain(self, *asked)

    monkeypatch.setattr(DenseIndex, "search", slow)
    told = []
    for width in (64, 32):
        index = shelf.index(retriever("hnsw", f"retriever.ef_search={width}", "retriever.exact_below=0"))
        index.search(queries, candidates, 20, NOTHING)
        told.append(index.facts())
    assert searched == [1], "the second was cut from the first"
    assert told[0]["exact_ms_per_question"] == told[1]["exact_ms_per_question"] >= 50 / 9
    assert told[0]["seconds_graph"] == told[1]["seconds_graph"] > 0
