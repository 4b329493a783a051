"""cluster_semantic: the best division against every division, and what it takes to find it."""

from __future__ import annotations

import time
import tracemalloc
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from semantic_toys import Compass, Watched, chunks_of

from harness.chunking.base import CorpusChunker
from harness.chunking.cluster_semantic import ClusterSemanticChunker, best_runs, mean_similarity
from harness.chunking.recursive import RecursiveChunker
from harness.chunking.similarity import MILLION, millionths
from harness.embedding import CachedEmbedder, HashingEmbedder, minilm
from harness.errors import ConfigError
from harness.types import Document, Ints, Vectors
from harness.units import CharUnit, WordUnit, measure_all

# Paragraphs of one line: their pieces at 40 characters are the lines.
LINES = ["Aaaa is the first thing said.", "And it is said again: Aaaa.", "Jjjj is far from Aaaa and alone.", "Jjjj once more, Jjjj indeed."]
LINED = "\n\n".join(LINES)


def unit_rows(random: np.random.Generator, count: int, dim: int) -> Vectors:
    rows = random.standard_normal((count, dim))
    made: Vectors = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    return made


def whole_matrix(vectors: Vectors) -> Ints:
    """All similarities less their mean, in millionths, the diagonal 0: what is never made in the strategy."""
    similar = np.array([[int(millionths(np.dot(one, two))) for two in vectors] for one in vectors], dtype=np.int64).reshape(len(vectors), -1)
    np.fill_diagonal(similar, 0)
    pairs = max(len(vectors) * (len(vectors) - 1), 1)
    mean = round(float((vectors.astype(float) @ vectors.T.astype(float))[~np.eye(len(vectors), dtype=bool)].sum()) / pairs * MILLION)
    return np.where(np.eye(len(vectors), dtype=bool), 0, similar - mean)


def reward(matrix: Ints, first: tuple[int, ...]) -> int:
    stops = [*first[1:], len(matrix)]
    return sum(int(matrix[a:b, a:b].sum()) for a, b in zip(first, stops, strict=True)) // 2


def every_division(earliest: Ints) -> list[tuple[int, ...]]:
    count = len(earliest)
    found = []
    for cuts in range(count):
        for inner in combinations(range(1, count), cuts):
            first = (0, *inner)
            if all(earliest[stop - 1] <= begin for begin, stop in zip(first, [*inner, count], strict=True)):
                found.append(first)
    return found


def square_time_divisions(matrix: Ints, earliest: Ints) -> list[int]:
    """The same dynamic programme on the whole matrix, run by run."""
    best, first = [0], []
    for piece in range(len(matrix)):
        choices = [(best[a] + int(matrix[a : piece + 1, a : piece + 1].sum()) // 2, -a) for a in range(earliest[piece], piece + 1)]
        value, place = max(choices)
        best.append(value)
        first.append(-place)
    found, piece = [], len(matrix) - 1
    while piece >= 0:
        found.append(first[piece])
        piece = first[piece] - 1
    return found[::-1]


_cases = st.tuples(st.integers(0, 2**32 - 1), st.integers(1, 9), st.sampled_from([2, 3, 8]), st.booleans())


@settings(max_examples=150, deadline=None)
@given(case=_cases, reach=st.lists(st.integers(0, 9), min_size=9, max_size=9))
def test_no_division_is_better(case: tuple[int, int, int, bool], reach: list[int]) -> None:
    seed, count, dim, repeated = case
    random = np.random.default_rng(seed)
    vectors = unit_rows(random, count, dim)
    if repeated:
        vectors = vectors[random.integers(0, 2, count) % count]
    earliest = np.maximum.accumulate(np.maximum(np.arange(count) - np.array(reach[:count]), 0))
    found = best_runs(vectors, earliest)
    matrix = whole_matrix(vectors)
    wanted = max(every_division(earliest), key=lambda first: (reward(matrix, first), [-place for place in first[::-1]]))
    assert reward(matrix, tuple(found.tolist())) == reward(matrix, wanted)
    assert found.tolist() == list(wanted), "of equal sums, the longer last run"


@pytest.mark.parametrize("width", [1, 2, 8, 33, 300])
def test_the_same_as_with_the_whole_matrix(width: int) -> None:
    vectors = unit_rows(np.random.default_rng(width), 120, 5)
    earliest = np.maximum(np.arange(120) - width + 1, 0)
    assert best_runs(vectors, earliest).tolist() == square_time_divisions(whole_matrix(vectors), earliest)


def test_the_mean_of_all_pairs_without_the_pairs() -> None:
    for count, dim in ((0, 3), (1, 3), (2, 2), (50, 7), (300, 384)):
        vectors = unit_rows(np.random.default_rng(count), count, dim)
        pairs = (vectors @ vectors.T)[np.triu_indices(count, 1)]
        assert abs(mean_similarity(vectors) - (pairs.mean() * MILLION if len(pairs) else 0)) < 2


def peak_of(count: int) -> int:
    vectors = unit_rows(np.random.default_rng(0), count, 4)
    earliest = np.maximum(np.arange(count) - 19, 0)
    tracemalloc.start()
    best_runs(vectors, earliest)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak


def test_memory_grows_with_the_pieces_not_with_their_square() -> None:
    small, large = peak_of(5_000), peak_of(20_000)
    assert large < 200 * 20_000, "the whole matrix would take 3.2 GB"
    assert large < 5 * small


def test_time_grows_with_the_pieces() -> None:
    vectors = unit_rows(np.random.default_rng(0), 40_000, 64)
    begun = time.perf_counter()
    best_runs(vectors, np.maximum(np.arange(40_000) - 7, 0))
    assert time.perf_counter() - begun < 5


def cluster(size: int, embedder: Any = None, **changes: Any) -> ClusterSemanticChunker:
    return ClusterSemanticChunker(size, embedder or Compass(), **{"piece": 40, **changes})


def test_chunks_by_hand() -> None:
    # Directions 0, 0, 45 and 90 degrees: cosines 1, .71, .71, 0, 0, .71, mean .52. The first three together are worth .48 + .19 + .19.
    two_and_two = ["\n\n".join(LINES[:2]), "\n\n".join(LINES[2:])]  # worth .48 + .19
    assert chunks_of(cluster(500), LINED) == ["\n\n".join(LINES[:3]), LINES[3]]
    assert chunks_of(cluster(90), LINED) == two_and_two, "three do not fit"
    assert chunks_of(cluster(500, most_pieces=2), LINED) == two_and_two
    assert chunks_of(cluster(500, most_pieces=1), LINED) == LINES


def test_overlap_repeats_whole_pieces() -> None:
    assert chunks_of(cluster(500, overlap=40), LINED) == ["\n\n".join(LINES[:3]), "\n\n".join(LINES[2:])]
    assert chunks_of(cluster(500, overlap=20), LINED) == ["\n\n".join(LINES[:3]), LINES[3]]


def test_vectors_decide() -> None:
    assert chunks_of(cluster(500, Watched(Compass(), shuffled=True)), LINED) != chunks_of(cluster(500), LINED)


def test_pieces_that_are_all_alike_fill_the_size() -> None:
    text = "We are all alike, and so we share a chunk.\n\n" * 30
    sizes = [len(chunk) for chunk in chunks_of(cluster(200, HashingEmbedder(), piece=50), text)]
    assert max(sizes) <= 200
    assert sizes.count(4 * 44 - 2) >= len(sizes) - 1


def test_pieces_are_those_of_recursive_and_embedded_once_for_all_sizes() -> None:
    watched = Watched(CachedEmbedder(HashingEmbedder()))
    documents = [Document("a", LINED), Document("b", ""), Document("c", "Alone."), Document("d", "\n\n".join(LINES[::-1]))]
    rulers = measure_all(CharUnit(), documents)
    made = []
    for size, overlap in ((500, 0), (100, 0), (300, 30)):
        chunker = cluster(size, watched, overlap=overlap)
        assert isinstance(chunker, CorpusChunker)
        made.append(chunker.split_all(documents, rulers))
    assert [len(found.cached) for found in watched.gave] == [8, 8, 8]
    assert all(found.cached.all() for found in watched.gave[1:])
    alone = [cluster(500, watched).split(document.text, ruler) for document, ruler in zip(documents, rulers, strict=True)]
    assert [pieces.start.tolist() for pieces in alone] == [pieces.start.tolist() for pieces in made[0]]
    inner = set(RecursiveChunker(40).split(LINED, rulers[0]).start.tolist())
    assert all(set(pieces[0].start.tolist()) <= inner for pieces in made)


def test_what_the_pieces_cost_is_counted() -> None:
    text = "One two three four. " * 20
    notes = ClusterSemanticChunker(20, HashingEmbedder(), piece=8).split(text, WordUnit().measure(text)).notes
    assert notes == {"strategy_tokens": 80}


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"embedder": None}, "strategy.embedder"),
        ({"piece": 0}, "strategy.piece"),
        ({"piece": 2.5}, "strategy.piece"),
        ({"most_pieces": 0}, "strategy.most_pieces"),
        ({"most_pieces": True}, "strategy.most_pieces"),
        ({"language": ""}, "strategy.language"),
    ],
)
def test_what_cannot_work_is_refused(changes: dict[str, Any], key: str) -> None:
    with pytest.raises(ConfigError) as raised:
        ClusterSemanticChunker(50, **{"embedder": Compass(), **changes})
    assert raised.value.key == key


@pytest.mark.slow
def test_minilm_puts_topics_together() -> None:
    ferry = ["The ferry leaves the quay at six.", "The ferry carries cars and bicycles.", "Ferry tickets are sold at the quay."]
    bread = ["Bread dough needs flour, water and yeast.", "Knead the bread dough until it is smooth.", "Bake the bread dough in a hot oven."]
    chunks = chunks_of(cluster(500, CachedEmbedder(minilm()), piece=45), "\n\n".join(ferry + bread))
    assert chunks == ["\n\n".join(ferry), "\n\n".join(bread)]
