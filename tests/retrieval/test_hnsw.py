"""The graph index: what it finds, what it says about itself, and that the rest of the ranking does not depend on it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from harness.errors import ConfigError
from harness.retrieval.base import Queries, Reports, Shelf
from harness.retrieval.collapse import CollapseRetriever
from harness.retrieval.dense import DenseRetriever
from harness.retrieval.hnsw import HnswRetriever
from harness.retrieval.hybrid import HybridRetriever
from harness.retrieval.mmr import MmrRetriever
from harness.types import Candidates, Probes, Ranking

DIM, CHUNKS, QUESTIONS = 32, 6000, 150


def world(seed: int = 0, more: int = 0) -> tuple[Shelf, Queries, Candidates]:
    """Without clusters, which is what a graph finds hardest; a tenth are copies. Filter 0: all; 1: half of the documents; 2: two of them; 3: none."""
    random = np.random.default_rng(seed)
    vectors = random.standard_normal((CHUNKS + more, DIM)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    vectors[random.integers(0, CHUNKS, CHUNKS // 10)] = vectors[random.integers(0, 40, CHUNKS // 10)]
    entry = random.permutation(np.concatenate([np.arange(CHUNKS), random.integers(0, CHUNKS, more)])) if more else None
    shelf = Shelf(np.arange(CHUNKS) // 60, ("",) * CHUNKS, vectors, entry)
    masks = np.stack([np.ones(100, dtype=bool), random.random(100) < 0.5, np.arange(100) < 2, np.zeros(100, dtype=bool)])
    asked = random.standard_normal((QUESTIONS, DIM)).astype(np.float32)
    return shelf, Queries(("",) * QUESTIONS, asked / np.linalg.norm(asked, axis=1, keepdims=True)), Candidates(np.arange(QUESTIONS) % 4, masks)


PROBES = Probes(np.arange(QUESTIONS), np.arange(QUESTIONS))


def run(by: HnswRetriever, seed: int = 0, depth: int = 30, more: int = 0) -> tuple[Ranking, Mapping[str, float]]:
    shelf, queries, candidates = world(seed, more)
    index = by.build(shelf)
    assert isinstance(index, Reports)
    return index.search(queries, candidates, depth, PROBES), index.facts()


@pytest.mark.parametrize("more", [0, 2000])
def test_with_much_care_the_ranking_is_the_exact_one(more: int) -> None:
    shelf, queries, candidates = world(more=more)
    ranking, facts = run(HnswRetriever(m=32, ef_construction=200, ef_search=600, exact_below=500), more=more)
    exact = DenseRetriever().build(shelf).search(queries, candidates, 30, PROBES)
    assert facts["index_recall_at_10"] > 0.999
    assert (ranking.chunk == exact.chunk).mean() > 0.99
    np.testing.assert_allclose(ranking.score, exact.score, atol=1e-5)
    for name in ("candidates", "score_mean", "score_m2", "probe_score", "probe_below", "probe_tied"):
        assert np.array_equal(getattr(ranking, name), getattr(exact, name), equal_nan=True)


def recall(ranking: Ranking, exact: Ranking) -> float:
    """Found again plainly: share of the exact first ten that the ranking has within its first ten, ties at the tenth counting."""
    shares = []
    for question in np.flatnonzero(exact.candidates):
        rows = slice(exact.indptr[question], exact.indptr[question + 1])
        right = set(exact.chunk[rows][exact.score[rows] >= exact.score[rows][9]].tolist())
        shares.append(len(right & set(ranking.chunk[ranking.indptr[question] :][:10].tolist())) / 10)
    return float(np.mean(shares))


def test_recall_is_what_it_says_and_falls_with_narrow_walks() -> None:
    shelf, queries, candidates = world()
    exact = DenseRetriever().build(shelf).search(queries, candidates, 200, PROBES)
    told = {}
    for breadth in (10, 20, 80, 400):
        ranking, facts = run(HnswRetriever(ef_search=breadth, exact_below=500))
        told[breadth] = facts["index_recall_at_10"]
        assert told[breadth] == pytest.approx(recall(ranking, exact), abs=0.02)
    assert told[10] < told[20] < told[80] < told[400]
    assert told[10] < 0.8 < 0.97 < told[400]


def test_the_recall_of_a_graph_of_other_vectors_is_low() -> None:
    """The figure is a comparison with exact search, not a property of the graph: over other vectors, it finds next to nothing of what is wanted."""
    shelf, queries, candidates = world()
    index = HnswRetriever(ef_search=400, exact_below=0).build(shelf)
    index._graph = _other_graph(index._graph.ntotal)
    index.search(queries, candidates, 30, PROBES)
    assert index.facts()["index_recall_at_10"] < 0.5  # two documents have 120 chunks: ten of them are soon found by chance


def _other_graph(nodes: int) -> Any:
    vectors = np.random.default_rng(9).standard_normal((nodes, DIM)).astype(np.float32)
    return HnswRetriever().build(Shelf(np.zeros(nodes, dtype=np.int64), ("",) * nodes, vectors))._graph


def test_narrow_filters_are_searched_exactly() -> None:
    shelf, queries, candidates = world()
    exact = DenseRetriever().build(shelf).search(queries, candidates, 30, PROBES)
    narrow, _ = run(HnswRetriever(m=4, ef_construction=8, ef_search=10, exact_below=500))
    few = np.repeat(candidates.group == 2, np.diff(exact.indptr))
    head = few & (np.arange(len(few)) - np.repeat(exact.indptr[:-1], np.diff(exact.indptr)) < 10)
    assert np.array_equal(narrow.chunk[few], exact.chunk[few])
    assert np.array_equal(narrow.score[head], exact.score[head])
    astray, _ = run(HnswRetriever(m=4, ef_construction=8, ef_search=10, exact_below=0))
    assert not np.array_equal(astray.score[head], exact.score[head])


@pytest.mark.parametrize("depth", [0, 5, 70, 900])
def test_a_deeper_search_begins_with_the_shallower_one(depth: int) -> None:
    shelf, queries, candidates = world()
    index = HnswRetriever(ef_search=20).build(shelf)
    found, deep = index.search(queries, candidates, depth, PROBES), index.search(queries, candidates, 1000, PROBES)
    fresh = HnswRetriever(ef_search=20).build(world()[0]).search(queries, candidates, 1000, PROBES)
    assert np.array_equal(fresh.chunk, deep.chunk)
    for question in range(QUESTIONS):
        begin, end = found.indptr[question], found.indptr[question + 1]
        begun = deep.indptr[question]
        assert np.array_equal(found.chunk[begin:end], deep.chunk[begun : begun + end - begin])
        np.testing.assert_array_equal(found.score[begin:end], deep.score[begun : begun + end - begin])
        assert end - begin == min(depth, found.candidates[question])


def test_other_questions_are_not_answered_from_the_last_walks() -> None:
    shelf, queries, candidates = world()
    index = HnswRetriever().build(shelf)
    first = index.search(queries, candidates, 10, PROBES)
    turned = Queries(queries.texts, -queries.vectors)
    second = index.search(turned, candidates, 10, PROBES)
    assert not np.array_equal(first.chunk, second.chunk)
    assert np.array_equal(second.chunk, HnswRetriever().build(world()[0]).search(turned, candidates, 10, PROBES).chunk)


_DIGEST = """
import hashlib, json, sys
sys.path.insert(0, sys.argv[1])
from test_hnsw import HnswRetriever, run
ranking, facts = run(HnswRetriever(ef_search=16))
print(json.dumps([hashlib.sha256(ranking.chunk.tobytes()).hexdigest(), facts["index_recall_at_10"]]))
"""


def test_the_same_chunks_give_the_same_graph_in_every_process(request: pytest.FixtureRequest) -> None:
    said: list[Any] = []
    for threads in ("1", "2"):
        done = subprocess.run(
            [sys.executable, "-c", _DIGEST, str(request.path.parent)],
            capture_output=True,
            text=True,
            check=True,
            env={"OMP_NUM_THREADS": threads, "PATH": ""},
        )
        said.append(json.loads(done.stdout))
    assert said[0] == said[1]


def test_bytes_are_those_of_vectors_as_stored_and_of_links() -> None:
    shelf, _, _ = world()
    plain, small = HnswRetriever().build(shelf).nbytes, HnswRetriever().build(replace(shelf, vector_bytes=8.0, _built={})).nbytes
    assert plain - small == CHUNKS * (DIM * 4 - 8)
    assert HnswRetriever(m=32).build(shelf).nbytes > plain > CHUNKS * DIM * 4 + CHUNKS * 0.85 * 2 * 16 * 4


def test_figures_say_what_a_question_costs() -> None:
    _, facts = run(HnswRetriever())
    assert set(facts) == {"index_recall_at_10", "search_ms_per_question", "exact_ms_per_question", "seconds_graph"}
    assert min(facts.values()) > 0


@pytest.mark.parametrize(("name", "value"), [("m", 1), ("m", 2.5), ("ef_construction", 0), ("ef_search", True), ("exact_below", -1)])
def test_parameters_that_cannot_work_are_refused(name: str, value: Any) -> None:
    with pytest.raises(ConfigError, match=rf"retriever\.{name}="):
        HnswRetriever(**{name: value})


@pytest.mark.parametrize("around", ["mmr", "collapse_duplicates", "hybrid"])
def test_what_it_says_comes_through_whatever_stands_around_it(around: str) -> None:
    shelf, queries, candidates = world()
    within = HnswRetriever(ef_search=16, exact_below=10)
    made = {"mmr": MmrRetriever(within), "collapse_duplicates": CollapseRetriever(within), "hybrid": HybridRetriever(within, DenseRetriever())}[
        around
    ]
    index = made.build(shelf)
    index.search(queries, candidates, 10, PROBES)
    assert isinstance(index, Reports)
    assert 0 < index.facts()["index_recall_at_10"] < 1
