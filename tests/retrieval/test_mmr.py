"""Maximal marginal relevance against its definition, pick by pick."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from retrieval_toys import NO_PROBES, Written, everything, lists, numbered, pool_of, ranked, shelf_of, some, written

from harness.errors import ConfigError
from harness.retrieval import mmr
from harness.retrieval.mmr import MmrRetriever


def picked(order: list[int], scores: tuple[float, ...], vectors: np.ndarray, weight: float, depth: int) -> list[int]:
    """The definition, one pick after the other."""
    head, out = sorted(order[:depth]), list[int]()
    high, low = (max(scores[chunk] for chunk in head), min(scores[chunk] for chunk in head)) if head else (0, 0)
    unit = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    while head:
        worth = []
        for chunk in head:
            relevance = (scores[chunk] - low) / (high - low) if high > low else 0.0
            closest = max([0.0, *(float(np.float32(unit[chunk] @ unit[other])) for other in out)])
            worth.append(weight * relevance - (1 - weight) * closest)
        out.append(head.pop(int(np.argmax(worth))))
    return out + order[depth:]


@pytest.mark.parametrize("weight", [0.0, 0.3, 0.7, 1.0])
@pytest.mark.parametrize("depth", [1, 10, 100])
@pytest.mark.parametrize("block", [1, 2**26])
def test_it_is_its_definition(weight: float, depth: int, block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mmr, "_BLOCK_BYTES", block)
    random = np.random.default_rng(depth)
    vectors = random.integers(0, 2, (45, 4)).astype(np.float32) * 2  # lengths and products that float32 mostly holds exactly
    vectors[:, :2] = 0
    shelf, candidates = shelf_of([""] * 45, vectors=vectors), some(random, 12, 45)
    inner = written(random, 12, 45)
    found, before = (ranked(way, shelf, numbered(12), candidates) for way in (MmrRetriever(inner, weight, depth), inner))
    expected = [picked(order, inner.scores[question], vectors, weight, depth) for question, order in enumerate(before)]
    assert found == expected
    if weight == 1:
        assert found == before
    elif depth > 1:
        others = np.roll(vectors, 1, axis=0)
        assert found != [picked(order, inner.scores[question], others, weight, depth) for question, order in enumerate(before)]
    assert all(sorted(order) == pool_of(shelf, candidates, question) for question, order in enumerate(found))


def test_what_was_said_stands_further_down() -> None:
    vectors = np.array([[1, 0, 0, 0], [1, 0, 0, 0], [0, 1, 0, 0]], dtype=np.float32)
    shelf, inner = shelf_of([""] * 3, vectors=vectors), Written(((10.0, 9.0, 8.0),))
    ranking = MmrRetriever(inner, weight=0.3).build(shelf).search(numbered(1), everything(1, 3), 3, NO_PROBES)
    assert lists(ranking) == [[0, 2, 1]]
    assert ranking.score.tolist() == pytest.approx([10.0, 10 - 0.3 + 0.0, 10 - 0.3 + 0.15 - 0.7])


def test_the_vector_of_a_chunk_is_that_of_its_own_text() -> None:
    """Chunk 1 has a second entry, equal to chunk 0: its first one counts, in whatever order entries stand."""
    rows = np.array([[0, 1, 0, 0], [1, 0, 0, 0], [1, 0, 0, 0], [0, 0, 1, 0]], dtype=np.float32)
    shelf = replace(shelf_of([""] * 3, vectors=rows), entry=np.array([1, 0, 1, 2]))
    inner = Written(((10.0, 9.0, 8.0),))
    assert ranked(MmrRetriever(inner, weight=0.3), shelf, numbered(1), everything(1, 3)) == [[0, 1, 2]]
    astray = replace(shelf, vectors=rows[[2, 1, 0, 3]])
    assert ranked(MmrRetriever(inner, weight=0.3), astray, numbered(1), everything(1, 3)) == [[0, 2, 1]]


@pytest.mark.parametrize(("settings", "problem"), [({"weight": -0.1}, r"retriever\.weight=-0\.1: a number from 0 to 1"), ({"depth": 0}, "depth=0")])
def test_values_that_mean_nothing_are_refused(settings: dict[str, float], problem: str) -> None:
    with pytest.raises(ConfigError, match=problem):
        MmrRetriever(Written(()), **settings)  # type: ignore[arg-type]
