"""Exact search in blocks: statistics near float64, ties across blocks, many places, memory, and what a store of small vectors weighs."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from harness.errors import PartError
from harness.retrieval import distinct
from harness.retrieval.base import Queries, Shelf
from harness.retrieval.dense import DenseRetriever
from harness.retrieval.standing import marked
from harness.types import Candidates, Ints, Probes, Ranking, Vectors

DIM = 384


def unit(random: np.random.Generator, count: int, around: Vectors | float = 0.0, spread: float = 1.0) -> Vectors:
    found = np.asarray(around, dtype=np.float32) + spread * random.standard_normal((count, DIM), dtype=np.float32)
    return (found / np.linalg.norm(found, axis=1, keepdims=True)).astype(np.float32)


def shelf(vectors: Vectors, per_document: int = 50, entry: Ints | None = None, vector_bytes: float | None = None) -> Shelf:
    chunks = len(vectors) if entry is None else int(entry.max()) + 1
    return Shelf(np.arange(chunks) // per_document, ("",) * chunks, vectors, entry, vector_bytes=vector_bytes)


def search(over: Shelf, asked: Vectors, candidates: Candidates, depth: int, probes: Probes | None = None) -> Ranking:
    nothing = np.zeros(0, dtype=np.int64)
    return DenseRetriever().build(over).search(Queries(("",) * len(asked), asked), candidates, depth, probes or Probes(nothing, nothing))


def everything(over: Shelf, questions: int) -> Candidates:
    return Candidates(np.zeros(questions, dtype=np.int64), np.ones((1, int(over.doc[-1]) + 1), dtype=bool))


def deviations(ranking: Ranking, vectors: Vectors, asked: Vectors, pools: list[Ints]) -> tuple[float, float]:
    """Largest relative error of mean and m2, against float64 on scores that are float32, as all scores are."""
    every, worst = (asked @ vectors.T).astype(np.float64), [0.0, 0.0]
    for question, pool in enumerate(pools):
        scores = every[question, pool]
        m2 = ((scores - scores.mean()) ** 2).sum()
        worst[0] = max(worst[0], abs(ranking.score_mean[question] / scores.mean() - 1))
        worst[1] = max(worst[1], abs(ranking.score_m2[question] / m2 - 1))
    return worst[0], worst[1]


@pytest.mark.parametrize("spread", [1.0, 0.02])
def test_statistics_are_those_of_float64(spread: float) -> None:
    """Also where all scores lie close together, far from 0, and the first chunk is the very answer."""
    random = np.random.default_rng(1)
    vectors = unit(random, 20_000, 1.0, spread)
    vectors[random.integers(0, 20_000, 3000)] = vectors[7]
    asked = unit(random, 40, vectors[:1], spread / 4)
    over = shelf(vectors)
    masks = random.random((3, 400)) < 0.5
    candidates = Candidates(random.integers(0, 3, 40), masks)
    ranking = search(over, asked, candidates, 20)
    pools = [np.flatnonzero(masks[group][over.doc]) for group in candidates.group]
    assert max(deviations(ranking, vectors, asked, pools)) < 5e-6
    assert max(deviations(ranking, vectors, asked, pools[1:] + pools[:1])) > 5e-5


def test_copies_in_other_blocks_count_and_stand_in_chunk_order() -> None:
    """One text at every hundredth chunk, many blocks apart, and the first of them in no candidate document."""
    random = np.random.default_rng(2)
    vectors = unit(random, 30_000)
    copies = np.arange(50, 30_000, 100)
    vectors[copies] = vectors[50]
    over = shelf(vectors)
    candidates = everything(over, 700)
    candidates.documents[0, over.doc[copies[:2]]] = False
    asked = unit(random, 700, vectors[50], 0.01)
    ranking = search(over, asked, candidates, 30, Probes(np.arange(700), np.repeat(copies[5], 700)))
    assert np.array_equal(ranking.chunk.reshape(700, 30), np.tile(copies[2:32], (700, 1)))
    assert (np.ptp(ranking.score.reshape(700, 30), axis=1) == 0).all()
    assert (ranking.probe_tied == 298).all()
    assert (ranking.probe_below == ranking.candidates - 298).all()


@pytest.mark.parametrize("depth", [1, 19, 4096, 9000, 20_000])
def test_a_deeper_search_begins_with_the_shallower_one(depth: int) -> None:
    random = np.random.default_rng(3)
    vectors = unit(random, 10_000)
    vectors[5000:7000] = np.sign(vectors[5000:7000]) / np.float32(np.sqrt(DIM))
    vectors[8000:9000] = vectors[:1000]
    over, asked = shelf(vectors), unit(random, 3)
    found, whole = (search(over, asked, everything(over, 3), deep) for deep in (depth, 10_000))
    for question in range(3):
        first = found.chunk[found.indptr[question] : found.indptr[question + 1]]
        assert np.array_equal(first, whole.chunk[whole.indptr[question] :][: min(depth, 10_000)])


def test_places_that_all_tie_are_the_first_ones() -> None:
    """As with vectors of words: a question shares none with most chunks, and these score 0 all alike, in whatever block."""
    vectors = np.eye(DIM, dtype=np.float32)[np.random.default_rng(4).permutation(20_000) % (DIM - 1)]
    vectors = vectors + np.arange(1, 20_001, dtype=np.float32)[:, None] * np.eye(DIM, dtype=np.float32)[-1]  # so that no two are equal
    over, asked = shelf(vectors.astype(np.float32)), np.eye(DIM, dtype=np.float32)[:5]
    ranking = search(over, asked, everything(over, 5), 300)
    for question in range(5):
        scores = over.vectors @ asked[question]
        assert np.array_equal(ranking.chunk[300 * question : 300 * question + 300], np.argsort(-scores, kind="stable")[:300])


def test_probes_have_the_score_that_the_ranking_has() -> None:
    random = np.random.default_rng(5)
    vectors = unit(random, 9000)
    over, asked = shelf(vectors), unit(random, 60)
    first = search(over, asked, everything(over, 60), 12)
    probes = Probes(np.repeat(np.arange(60), 12), first.chunk)
    again = search(over, asked, everything(over, 60), 12, probes)
    known = {(q, c): s for q, c, s in zip(probes.question.tolist(), probes.chunk.tolist(), again.probe_score.tolist(), strict=True)}
    question = np.repeat(np.arange(60), 12).tolist()
    assert all(known.get((q, c), s) == s for q, c, s in zip(question, again.chunk.tolist(), again.score.tolist(), strict=True))
    assert (again.probe_below + again.probe_tied >= 9000 - 12).all()


def test_no_second_copy_of_the_vectors_is_held() -> None:
    random = np.random.default_rng(6)
    over, asked = shelf(unit(random, 60_000)), unit(random, 300)
    masks = Candidates(np.zeros(300, dtype=np.int64), random.random((1, 1200)) < 0.5)
    tracemalloc.start()
    search(over, asked, masks, 20, Probes(np.arange(300), np.arange(300)))
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 0.4 * over.vectors.nbytes


def test_index_bytes_are_those_of_the_store() -> None:
    vectors = unit(np.random.default_rng(7), 100)
    assert DenseRetriever().build(shelf(vectors)).nbytes == 100 * DIM * 4
    assert DenseRetriever().build(shelf(vectors, vector_bytes=DIM + 4)).nbytes == 100 * (DIM + 4)
    assert DenseRetriever().build(shelf(vectors, entry=np.arange(100) // 2, vector_bytes=DIM / 8)).nbytes == 100 * DIM // 8


@pytest.mark.parametrize("clash", [False, True])
def test_equal_rows_have_one_number(monkeypatch: pytest.MonkeyPatch, clash: bool) -> None:
    if clash:
        monkeypatch.setattr(distinct, "_multipliers", lambda count: np.zeros(count, dtype=np.uint64))
    rows = np.random.default_rng(8).integers(0, 2, (3000, 9)).astype(np.float32)
    rows[::2][rows[::2] == 0] = -0.0
    number = distinct.distinct_rows(rows)
    assert number is not None
    _, expected = np.unique(rows + np.float32(0), axis=0, return_inverse=True)
    assert len(np.unique(number * 512 + expected.ravel())) == len(np.unique(number)) == len(np.unique(expected)) == int(number.max()) + 1
    assert clash or distinct.distinct_rows(unit(np.random.default_rng(9), 500)) is None


def test_marks_are_found_at_every_place() -> None:
    random = np.random.default_rng(10)
    for width in (1, 7, 8, 64, 100):
        marks = random.random((13, width)) < 0.05
        row, column = marked(marks)
        assert np.array_equal(np.stack([row, column]), np.stack(np.nonzero(marks)))


def test_infinite_vectors_far_behind_are_refused() -> None:
    vectors = unit(np.random.default_rng(11), 5000)
    vectors[4999, 383] = np.inf
    with pytest.raises(PartError, match="NaN or infinite"):
        DenseRetriever().build(shelf(vectors))
