"""The contract of harness.retrieval.base for every YAML in conf/retriever, and dense search against a reference in plain NumPy."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cross_encoder_toys import shared_toy
from hydra import compose, initialize_config_dir
from hydra.utils import instantiate
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.errors import ConfigError, PartError
from harness.retrieval.base import Queries, Retriever, Shelf
from harness.retrieval.controls import RandomRetriever
from harness.retrieval.dense import DenseRetriever
from harness.types import Candidates, Document, Ints, Probes, Ranking, Vectors

CONF = Path(__file__).resolve().parents[2] / "conf"
RETRIEVERS = sorted(path.stem for path in (CONF / "retriever").glob("*.yaml"))
NO_PROBES = Probes(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))


def load_retriever(name: str) -> Retriever:
    """As the command line makes it, with the retrievers that it holds."""
    with initialize_config_dir(str(CONF), version_base="1.3"):
        needed = [f"retriever.model={shared_toy()}"] if name == "rerank" else []
        made: Retriever = instantiate(compose(None, overrides=[f"+retriever={name}", *needed]).retriever)
    return made


def unit_vectors(random: np.random.Generator, count: int, dim: int = 16) -> Vectors:
    found = random.standard_normal((count, dim)).astype(np.float32)
    return found / np.linalg.norm(found, axis=1, keepdims=True)


def whole_numbers(random: np.random.Generator, count: int) -> Vectors:
    """Vectors whose inner products float32 holds exactly, so that different vectors tie as well and the reference needs no tolerance."""
    return random.integers(-3, 4, (count, 16)).astype(np.float32)


WORDS = [f"{stem}{ending}" for stem in ("lamp", "rent", "tax", "boat", "snow", "card") for ending in ("", "s", "er", "ing", "less")]


def texts_of(random: np.random.Generator, count: int) -> tuple[str, ...]:
    texts: list[str] = []
    for _ in range(count):
        words = random.choice(WORDS, random.integers(1, 40)).tolist()
        if texts and random.random() < 0.3:
            words = texts[random.integers(len(texts))].split()
        if random.random() < 0.5:
            words[random.integers(len(words))] = str(random.choice(WORDS))
        texts.append(" ".join(words))
    return tuple(texts)


def dated_and_related(count: int) -> tuple[Document, ...]:
    """Every third has no date; each links to the next and to one that is not there, but for the last."""
    dates: list[dict[str, Any]] = [{"date": f"20{20 + number % 7}-03-{1 + number % 28:02d}"} if number % 3 else {} for number in range(count)]
    links: list[dict[str, Any]] = [{"related": [f"{number + 1}.md", "gone.md"]} for number in range(count - 1)]
    return tuple(Document(f"{number}.md", "", metadata=date | link) for number, (date, link) in enumerate(zip(dates, [*links, {}], strict=True)))


class Case:
    """`chunks` chunks over `documents` documents, a share of them copies of others (by vector, and some by text, word for word or nearly); questions
    behind `groups` filters.

    Filter 0 lets everything through, filter 1 nothing, the others a few documents each. With `more`, so many further vectors lead to chunks, some of
    them to the same one, and equal ones to several; entries stand in no order. Most documents have a date and link to others.
    """

    def __init__(self, seed: int, *, chunks: int, questions: int, documents: int = 7, groups: int = 4, more: int = 0) -> None:
        random = np.random.default_rng(seed)
        self.doc: Ints = np.sort(random.integers(0, documents, chunks)).astype(np.int64)
        vectors = whole_numbers(random, chunks)
        if chunks:
            copies = random.random(chunks) < 0.4
            vectors[copies] = vectors[random.integers(0, min(chunks, 5), int(copies.sum()))]
        masks = random.random((groups, documents)) < 0.3
        masks[0], masks[1:2] = True, False
        self.shelf = Shelf(self.doc, texts_of(random, chunks), vectors, documents=dated_and_related(documents))
        self.owner: Ints = np.arange(chunks, dtype=np.int64)
        if more and chunks:
            shuffled = random.permutation(chunks + more)
            self.owner = np.concatenate([self.owner, random.integers(0, chunks, more)]).astype(np.int64)[shuffled]
            further = np.where(random.random((more, 1)) < 0.4, vectors[random.integers(0, chunks, more)], whole_numbers(random, more))
            self.shelf = replace(self.shelf, vectors=np.concatenate([vectors, further])[shuffled], entry=self.owner)
        self.queries = Queries(tuple(" ".join(random.choice(WORDS, 4)) for _ in range(questions)), whole_numbers(random, questions))
        self.candidates = Candidates(random.integers(0, groups, questions).astype(np.int64), masks)
        pairs = 3 * questions if chunks else 0
        self.probes = Probes(
            random.integers(0, max(questions, 1), pairs).astype(np.int64), random.integers(0, max(chunks, 1), pairs).astype(np.int64)
        )

    def pool(self, question: int) -> Ints:
        return np.flatnonzero(self.candidates.documents[self.candidates.group[question]][self.doc])

    def scores(self, question: int) -> np.ndarray:
        """Of every chunk: the best of its entries."""
        best = np.full(len(self.doc), -np.inf)
        np.maximum.at(best, self.owner, self.shelf.vectors.astype(np.float64) @ self.queries.vectors[question].astype(np.float64))
        return best


def search(case: Case, retriever: Retriever, depth: int, probes: Probes = NO_PROBES) -> Ranking:
    return retriever.build(case.shelf).search(case.queries, case.candidates, depth, probes)


@pytest.mark.parametrize("name", RETRIEVERS)
@pytest.mark.parametrize("depth", [0, 1, 6, 1000])
@pytest.mark.parametrize("more", [0, 30])
@pytest.mark.parametrize(("chunks", "questions"), [(0, 3), (1, 2), (60, 12), (60, 0)])
def test_the_contract(name: str, depth: int, more: int, chunks: int, questions: int) -> None:
    case = Case(chunks + questions, chunks=chunks, questions=questions, more=more)
    ranking = search(case, load_retriever(name), depth, case.probes)
    assert len(ranking) == questions
    assert ranking.indptr[0] == 0
    assert ranking.indptr[-1] == len(ranking.chunk) == len(ranking.score)
    assert np.isfinite(ranking.score).all()
    for question in range(questions):
        pool = case.pool(question)
        rows = slice(ranking.indptr[question], ranking.indptr[question + 1])
        assert ranking.candidates[question] == len(pool)
        assert len(ranking.chunk[rows]) == min(depth, len(pool)) == len(set(ranking.chunk[rows].tolist()))
        assert set(ranking.chunk[rows].tolist()) <= set(pool.tolist())
        assert (np.diff(ranking.score[rows]) <= 0).all()
        assert (np.diff(ranking.chunk[rows])[np.diff(ranking.score[rows]) == 0] > 0).all(), "ties keep chunk order"
    assert len(ranking.probe_score) == len(ranking.probe_below) == len(ranking.probe_tied) == len(case.probes.chunk)
    again = search(case, load_retriever(name), depth, case.probes)
    assert np.array_equal(again.chunk, ranking.chunk)


@pytest.mark.parametrize("name", RETRIEVERS)
@pytest.mark.parametrize("more", [0, 200])
def test_a_deeper_search_begins_with_the_shallower_one(name: str, more: int) -> None:
    """The harness doubles the depth until every question has read enough: what was read must stay where it was."""
    case = Case(11, chunks=400, questions=9, more=more, groups=3)
    index = load_retriever(name).build(case.shelf)
    deep = index.search(case.queries, case.candidates, 1000, NO_PROBES)
    for depth in (1, 3, 40, 99, 100, 101, 170, 250, 399):
        shallow = load_retriever(name).build(case.shelf).search(case.queries, case.candidates, depth, NO_PROBES)
        assert begins_with(deep, shallow, depth)
        assert begins_with(deep, index.search(case.queries, case.candidates, depth, NO_PROBES), depth)
    assert not begins_with(replace(deep, chunk=deep.chunk[::-1]), shallow, 399)


def begins_with(deep: Ranking, shallow: Ranking, depth: int) -> bool:
    places = np.arange(len(deep.chunk)) - np.repeat(deep.indptr[:-1], np.diff(deep.indptr))
    first = places < depth
    return np.array_equal(deep.chunk[first], shallow.chunk) and np.array_equal(deep.score[first], shallow.score)


def agrees(case: Case, ranking: Ranking, depth: int) -> bool:
    """Whether order, statistics and probes are those of a plain sort of all scores."""
    for question in range(len(ranking)):
        pool, scores = case.pool(question), case.scores(question)
        best = pool[np.argsort(-scores[pool], kind="stable")][:depth]
        rows = slice(ranking.indptr[question], ranking.indptr[question + 1])
        if not np.array_equal(ranking.chunk[rows], best) or not np.array_equal(ranking.score[rows], scores[best]):
            return False
        if len(pool):
            mean, m2 = scores[pool].mean(), ((scores[pool] - scores[pool].mean()) ** 2).sum()
            if not np.allclose([ranking.score_mean[question], ranking.score_m2[question]], [mean, m2]):
                return False
    for number, (question, chunk) in enumerate(zip(ranking.probes.question, ranking.probes.chunk, strict=True)):
        pool, scores = case.pool(question), case.scores(question)
        held = chunk in pool
        expected = ((scores[pool] < scores[chunk]).sum(), (scores[pool] == scores[chunk]).sum()) if held else (-1, -1)
        if (ranking.probe_below[number], ranking.probe_tied[number]) != expected or np.isnan(ranking.probe_score[number]) == held:
            return False
    return True


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 10**6), chunks=st.integers(0, 150), questions=st.integers(0, 25), depth=st.integers(1, 60))
def test_dense_search_is_a_stable_sort_of_all_scores(seed: int, chunks: int, questions: int, depth: int) -> None:
    case = Case(seed, chunks=chunks, questions=questions)
    assert agrees(case, search(case, DenseRetriever(), depth, case.probes), depth)


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 10**6), chunks=st.integers(1, 80), more=st.integers(1, 120), questions=st.integers(1, 20), depth=st.integers(1, 60))
def test_a_chunk_with_several_vectors_is_ranked_by_the_best_of_them(seed: int, chunks: int, more: int, questions: int, depth: int) -> None:
    case = Case(seed, chunks=chunks, questions=questions, more=more)
    index = DenseRetriever().build(case.shelf)
    assert agrees(case, index.search(case.queries, case.candidates, depth, case.probes), depth)
    assert index.nbytes == (chunks + more) * 16 * 4


def test_the_comparison_notices_entries_that_lead_elsewhere() -> None:
    case = Case(3, chunks=60, questions=12, more=60)
    astray = replace(case.shelf, entry=np.roll(case.owner, 1))
    assert agrees(case, DenseRetriever().build(case.shelf).search(case.queries, case.candidates, 10, case.probes), 10)
    assert not agrees(case, DenseRetriever().build(astray).search(case.queries, case.candidates, 10, case.probes), 10)


def test_the_best_of_a_chunk_does_not_crowd_out_others() -> None:
    """Each of three chunks has forty vectors, all better than those of the next: the first places of the vectors alone would be one chunk."""
    base = np.eye(4, dtype=np.float32)
    vectors = np.concatenate([np.repeat(base[:1] * height, 40, axis=0) + 0.001 * base[1] * np.arange(40)[:, None] for height in (3, 2, 1)])
    shelf = Shelf(np.zeros(3, dtype=np.int64), ("",) * 3, vectors.astype(np.float32), np.repeat(np.arange(3), 40))
    queries = Queries(("q",), base[:1])
    ranking = DenseRetriever().build(shelf).search(queries, Candidates(np.zeros(1, dtype=np.int64), np.ones((1, 1), dtype=bool)), 2, NO_PROBES)
    assert ranking.chunk.tolist() == [0, 1]
    assert ranking.candidates.tolist() == [3]


@pytest.mark.parametrize(
    "limit", ["products._MOST_COLUMNS", "dense._QUERIES_AT_ONCE", "dense._WIDE_SCORES", "distinct._ROWS_AT_ONCE", "scores._SLAB_SCORES"]
)
def test_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch, limit: str) -> None:
    monkeypatch.setattr("harness.retrieval.products._FEWEST_COLUMNS", 5)
    monkeypatch.setattr(f"harness.retrieval.{limit}", 7)
    for case in (Case(8, chunks=400, questions=60, groups=3), Case(8, chunks=400, questions=30, groups=3, more=500)):
        assert agrees(case, search(case, DenseRetriever(), 20, case.probes), 20)


def test_the_comparison_notices_a_shuffled_index() -> None:
    """Every check of `agrees` fails where vectors belong to other chunks: without this the tests above would prove nothing."""
    case = Case(3, chunks=90, questions=12)
    shuffled = replace(case.shelf, vectors=np.roll(case.shelf.vectors, 1, axis=0))
    ranking = DenseRetriever().build(shuffled).search(case.queries, case.candidates, 10, case.probes)
    assert not agrees(case, ranking, 10)


@pytest.mark.parametrize("chunks", [37, 1001, 20_011])
@pytest.mark.parametrize("questions", [1, 2, 7])
def test_copies_tie_exactly_and_keep_their_order_at_the_cut(chunks: int, questions: int) -> None:
    """One vector at 40% of the places, wherever a matrix product puts them: all the same score, first come first."""
    random = np.random.default_rng(chunks)
    vectors, count = unit_vectors(random, chunks, 384), int(0.4 * chunks)
    places = np.sort(random.choice(chunks, count, replace=False))
    vectors[places] = vectors[places[0]]
    asked = vectors[places[:1]] + 0.01 * unit_vectors(random, questions, 384)
    everything = Candidates(np.zeros(questions, dtype=np.int64), np.ones((1, 1), dtype=bool))
    probes = Probes(np.arange(questions), places[np.linspace(0, count - 1, questions).astype(np.int64)])
    index = DenseRetriever().build(Shelf(np.zeros(chunks, dtype=np.int64), ("",) * chunks, vectors))
    ranking = index.search(Queries(("",) * questions, asked), everything, 12, probes)
    assert np.array_equal(ranking.chunk.reshape(questions, 12), np.tile(places[:12], (questions, 1)))
    assert (np.ptp(ranking.score.reshape(questions, 12), axis=1) == 0).all()
    assert ranking.probe_tied.tolist() == [count] * questions
    assert ranking.probe_below.tolist() == [chunks - count] * questions


def test_rounding_costs_no_chunk_its_place() -> None:
    """FAISS and NumPy round differently: the scores that are asked for are still all there, and are the highest in float64."""
    random = np.random.default_rng(17)
    vectors, asked = unit_vectors(random, 3000, 384), unit_vectors(random, 400, 384)
    everything = Candidates(np.zeros(400, dtype=np.int64), np.ones((1, 1), dtype=bool))
    index = DenseRetriever().build(Shelf(np.zeros(3000, dtype=np.int64), ("",) * 3000, vectors))
    ranking = index.search(Queries(("",) * 400, asked), everything, 25, NO_PROBES)
    assert (np.diff(ranking.indptr) == 25).all()
    exact = asked.astype(np.float64) @ vectors.T.astype(np.float64)
    np.testing.assert_allclose(ranking.score.reshape(400, 25), -np.sort(-exact, axis=1)[:, :25], atol=1e-6)
    np.testing.assert_allclose(ranking.score, exact[np.repeat(np.arange(400), 25), ranking.chunk], atol=1e-6)


def test_many_probes_of_one_question_stand_as_one_by_one() -> None:
    case = Case(21, chunks=120, questions=2, groups=1)
    every = Probes(np.ones(120, dtype=np.int64), np.arange(120))
    assert agrees(case, search(case, DenseRetriever(), 5, every), 5)


def test_equal_scores_have_no_spread_at_all() -> None:
    shelf = Shelf(np.zeros(9, dtype=np.int64), ("same",) * 9, np.tile(unit_vectors(np.random.default_rng(1), 1), (9, 1)))
    queries = Queries(("q",), unit_vectors(np.random.default_rng(2), 1))
    ranking = DenseRetriever().build(shelf).search(queries, Candidates(np.zeros(1, dtype=np.int64), np.ones((1, 1), dtype=bool)), 4, NO_PROBES)
    assert ranking.chunk.tolist() == [0, 1, 2, 3]
    assert ranking.score_m2.tolist() == [0.0]


def test_rows_that_share_a_hash_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.retrieval.distinct._multipliers", lambda count: np.zeros(count, dtype=np.uint64))
    case = Case(4, chunks=80, questions=9)
    assert agrees(case, search(case, DenseRetriever(), 12, case.probes), 12)


def test_filters_of_one_document_each_are_ranked_within_it() -> None:
    case = Case(5, chunks=300, questions=40, documents=40)
    case.candidates = Candidates(np.arange(40, dtype=np.int64), np.eye(40, dtype=bool))
    assert agrees(case, search(case, DenseRetriever(), 100, case.probes), 100)


@pytest.mark.parametrize(("vectors", "problem"), [(np.zeros((2, 4), np.float32), "one row a chunk"), (np.full((3, 4), np.nan, np.float32), "NaN")])
def test_vectors_that_cannot_be_searched_are_refused(vectors: Vectors, problem: str) -> None:
    with pytest.raises(PartError, match=problem):
        DenseRetriever().build(Shelf(np.zeros(3, dtype=np.int64), ("a", "b", "c"), vectors))


def test_a_chunk_without_any_vector_is_refused() -> None:
    with pytest.raises(PartError, match="chunks without any vector"):
        DenseRetriever().build(Shelf(np.zeros(3, dtype=np.int64), ("a", "b", "c"), np.eye(2, dtype=np.float32), np.array([0, 2])))
    with pytest.raises(PartError, match="one row an entry"):
        DenseRetriever().build(Shelf(np.zeros(1, dtype=np.int64), ("a",), np.eye(3, dtype=np.float32), np.array([0, 0])))


def test_index_bytes_count_every_chunk() -> None:
    assert DenseRetriever().build(Case(2, chunks=50, questions=1).shelf).nbytes == 50 * 16 * 4


def test_random_rankings_follow_their_seed_and_favour_no_place() -> None:
    case = Case(6, chunks=20, questions=2000, groups=1)
    ranking = search(case, RandomRetriever(seed=1), 1)
    assert np.bincount(ranking.chunk, minlength=20).min() > 50
    assert not np.array_equal(ranking.chunk, search(case, RandomRetriever(seed=2), 1).chunk)
    assert np.isnan(ranking.score_mean).all()
    with pytest.raises(ConfigError, match=r"retriever\.seed=-1"):
        RandomRetriever(seed=-1)


def test_every_retriever_is_loaded_by_its_yaml() -> None:
    made: list[Any] = [load_retriever(name) for name in RETRIEVERS]
    assert {"DenseRetriever", "RandomRetriever"} <= {type(part).__name__ for part in made}
