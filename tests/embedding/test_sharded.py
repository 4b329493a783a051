"""Texts embedded in shards: the vectors, tokens and counts of one call, nothing embedded twice, and cells that are equal in everything but times."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from front_cases import call, experiment_on, small_corpus
from stored_cases import cells, leaderboard

from harness.chunking.fixed import FixedChunker
from harness.chunking.surroundings import Surroundings
from harness.embedding import CachedEmbedder, HashingEmbedder, StaticEmbedder
from harness.embedding.base import passed
from harness.embedding.reading import Inputs
from harness.embedding.sharded import Here, Read, Source, Texts, embed_in_shards, first_met
from harness.embedding.stored import stored
from harness.errors import ConfigError, PartError
from harness.evaluation import Scoring, evaluate
from harness.experiment import Experiment, retrieve
from harness.retrieval.bm25 import Bm25Retriever
from harness.retrieval.dense import DenseRetriever
from harness.retrieval.hybrid import HybridRetriever
from harness.retrieval.mmr import MmrRetriever
from harness.sharding import Sharding
from harness.shards import ShardFolder, shard_bounds
from harness.types import Bools, Embedded, Ints, Vectors

WORDS = ["anchor", "bilge", "cleat", "dory", "écluse", "fender", "🚢", "galley", "hawser", "helm", "ΐ", "jetty", "keel\r\n"]


class Counting(HashingEmbedder):
    """Counts what goes through it."""

    def __init__(self) -> None:
        super().__init__()
        self.worked = 0

    def vectors(self, inputs: Inputs, rows: Ints) -> Any:
        self.worked += len(rows)
        yield from super().vectors(inputs, rows)


def some_texts(count: int) -> list[str]:
    """Half of them repeats, some the same words with other spaces between: another text, the same reading."""
    random = np.random.default_rng(count)
    texts: list[str] = []
    for number in range(count):
        words = random.choice(WORDS, random.integers(1, 9)).tolist()
        texts.append(texts[random.integers(number)] if number and random.random() < 0.5 else random.choice([" ", "  ", "\t"]).join(words))
    return texts


def in_shards(
    texts: Sequence[str], shards: int, folder: Path, embedder: Any = None, crew: Any = None, progress: Any = None
) -> tuple[Vectors, Embedded]:
    work = Texts(shard_bounds(len(texts), shards), lambda start, stop: texts[start:stop])
    source = Source(embedder or CachedEmbedder(HashingEmbedder()))
    vectors, took = embed_in_shards(source, work, ShardFolder(folder), crew or Here(), progress)
    return np.asarray(vectors), took


@pytest.mark.parametrize("shards", [2, 3, 9, 250])
def test_as_one_call(tmp_path: Path, shards: int) -> None:
    texts, counting = some_texts(200), Counting()
    plain = CachedEmbedder(HashingEmbedder()).embed(texts, "passage")
    vectors, took = in_shards(texts, shards, tmp_path, CachedEmbedder(counting))
    assert np.array_equal(vectors, plain.vectors)
    for name in ("tokens", "unread", "cached"):
        assert np.array_equal(getattr(took, name), getattr(plain, name)), name
    assert passed(took) == passed(plain)
    assert counting.worked == int((~plain.cached).sum()) < len(set(texts)), "each reading once, in whatever shard"


def test_what_a_cache_holds_counts_as_in_one_call(tmp_path: Path) -> None:
    texts, embedder = some_texts(120), CachedEmbedder(HashingEmbedder())
    embedder.embed(texts[:40], "passage")
    again = CachedEmbedder(HashingEmbedder())
    again.embed(texts[:40], "passage")
    _, took = in_shards(texts, 4, tmp_path, again)
    assert np.array_equal(took.cached, embedder.embed(texts, "passage").cached)


def test_stored_shorter_and_coarser(tmp_path: Path) -> None:
    texts = some_texts(60)
    embedder = stored(CachedEmbedder(HashingEmbedder()), 32, "int8")
    vectors, _ = in_shards(texts, 5, tmp_path, embedder)
    assert np.array_equal(vectors, embedder.embed(texts, "passage").vectors)


class Mixed(Here):
    """Names the readings of a shard in another order: what must not go unnoticed."""

    def read(self, source: Source, texts: Texts, folder: Path) -> Any:
        for shard, found in enumerate(super().read(source, texts, folder)):
            yield Read(found.names[::-1], found.tokens, found.unread) if shard == 1 else found


class Forgetful(Here):
    """Embeds every text that it is given as if none had been seen before."""

    def embed(self, source: Source, texts: Texts, folder: Path, wanted: Sequence[Ints], progress: Any) -> Any:
        for held in super().embed(source, texts, folder, wanted, progress):
            found: Bools = np.zeros_like(held)
            yield found


def test_the_comparisons_notice(tmp_path: Path) -> None:
    texts = some_texts(200)
    embedder = CachedEmbedder(HashingEmbedder())
    plain = embedder.embed(texts, "passage")
    assert not np.array_equal(in_shards(texts, 3, tmp_path, crew=Mixed())[0], plain.vectors)
    assert not np.array_equal(in_shards(texts, 3, tmp_path, embedder, Forgetful())[1].cached, embedder.embed(texts, "passage").cached)


def test_progress_goes_up_to_all(tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    in_shards(some_texts(90), 4, tmp_path, progress=lambda done, total: seen.append((done, total)))
    done = [one for one, _ in seen]
    assert done == sorted(done)
    assert len({total for _, total in seen}) == 1
    assert seen[-1][0] == seen[-1][1] > 0


def test_first_met_keeps_names_that_end_in_zeros_apart() -> None:
    names = np.array([b"b" * 15 + b"\0", b"b" * 15 + b"a", b"b" * 15 + b"\0", b"\0" * 16], dtype="S16")
    place, first = first_met(names)
    assert place.tolist() == [0, 1, 0, 2]
    assert first.tolist() == [0, 1, 3]


def test_no_texts(tmp_path: Path) -> None:
    vectors, took = in_shards([], 3, tmp_path)
    assert vectors.shape == (0, HashingEmbedder().dim)
    assert len(took.tokens) == 0


def measured(experiment: Experiment) -> dict[str, Any]:
    from front_cases import planned

    plan = planned(experiment)
    result = evaluate(experiment, retrieve(experiment, lambda name: None, lambda done, total: None), Scoring(60), plan.cell, plan.key)
    return {"key": result.key, "rows": result.questions.to_json(), **{n: v for n, v in result.metrics.items() if not n.startswith("seconds_")}}


@pytest.mark.parametrize("around", [Surroundings(), Surroundings(context="title", vectors="heading+body")])
def test_a_cell_in_shards(tmp_path: Path, around: Surroundings, monkeypatch: pytest.MonkeyPatch) -> None:
    """All metrics and the key, with narrow blocks so that there is something to merge; with a second vector for some chunks."""
    monkeypatch.setattr("harness.retrieval.products._FEWEST_COLUMNS", 8)
    monkeypatch.setattr("harness.retrieval.products._MOST_COLUMNS", 8)
    corpus = small_corpus(tmp_path / "corpus", documents=8)

    def cell(sharding: Sharding | None) -> dict[str, Any]:
        embedder = CachedEmbedder(HashingEmbedder())
        return measured(experiment_on(corpus, FixedChunker(9), embedder=embedder, retriever=DenseRetriever(), around=around, sharding=sharding))

    plain = cell(None)
    for count in (2, 7, 500):
        assert cell(Sharding(count, tmp_path / "shards")) == plain
    assert not list((tmp_path / "shards").iterdir())


def test_what_can_not_be_sharded_is_refused(tmp_path: Path) -> None:
    sharding, embedder = Sharding(3, tmp_path), CachedEmbedder(HashingEmbedder())
    for retriever in (DenseRetriever(), Bm25Retriever(), HybridRetriever(DenseRetriever(), Bm25Retriever())):
        sharding.check(embedder, retriever, "it")
    with pytest.raises(ConfigError, match="retriever=hybrid"):
        sharding.check(embedder, HybridRetriever(MmrRetriever(DenseRetriever()), Bm25Retriever()), "hybrid")
    with pytest.raises(ConfigError, match=r"^shards=3: retriever=mmr looks at all vectors in one place; retriever=dense would do, or shards=1$"):
        sharding.check(embedder, MmrRetriever(DenseRetriever()), "mmr")
    static = object.__new__(StaticEmbedder)
    static.model = "static"
    with pytest.raises(ConfigError, match="reads whole documents"):
        sharding.check(static, DenseRetriever(), "dense")


class Holes(HashingEmbedder):
    def vectors(self, inputs: Inputs, rows: Ints) -> Any:
        for block, found in super().vectors(inputs, rows):
            yield block, found * np.nan


def test_vectors_that_are_none_never_reach_a_file(tmp_path: Path) -> None:
    with pytest.raises(PartError, match="length nan"):
        in_shards(some_texts(20), 2, tmp_path, CachedEmbedder(Holes()))
    assert not list(tmp_path.rglob("*.npy"))


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from front_cases import write_corpus

    words = ["run", "embedder=hashing", "report=false", "tracking=files", "scoring.resamples=60", "unit=words"]
    words += ["dataset=folder", f"dataset.path={write_corpus(tmp_path / 'harbour')}"]
    for name, shards in (("here", "1"), ("there", "4")):
        said = call(capsys, *words, f"shards={shards}", f"outputs={tmp_path}/{name}", "-m", "size=10", "retriever=dense,random,hybrid")
        assert said.status == 0, said.err
    assert cells(tmp_path / "there") == cells(tmp_path / "here")
    assert leaderboard(tmp_path / "there") == leaderboard(tmp_path / "here")
    for wrong, told in (
        (["shards=0"], "shards=0"),
        (["shards=2", "retriever=mmr"], "retriever=mmr"),
        (["shards=2", "hydra/launcher=joblib"], "hydra/launcher=ray"),
    ):
        said = call(capsys, *words, *wrong, f"outputs={tmp_path}/wrong")
        assert (said.status, len(said.lines)) == (2, 1), said.err
        assert told in said.err
    said = call(capsys, *words, f"outputs={tmp_path}/wrong", "-m", "shards=1,2")
    assert said.status == 2
    assert "one value for the whole grid" in said.err


def test_a_vector_of_another_place_is_another_cell(tmp_path: Path) -> None:
    """The comparison of cells would notice shards that are read at the wrong rows."""
    corpus = small_corpus(tmp_path / "corpus")
    embedder = CachedEmbedder(HashingEmbedder())

    class Off(Sharding):
        def embedded(self, *given: Any) -> Any:
            shelf, took = super().embedded(*given)
            vectors = shelf.sharded.vectors
            moved = replace(vectors, place=(vectors.place + 1) % len(vectors.files))
            return replace(shelf, sharded=replace(shelf.sharded, vectors=moved)), took

    plain = measured(experiment_on(corpus, embedder=embedder, retriever=DenseRetriever()))
    off = measured(experiment_on(corpus, embedder=embedder, retriever=DenseRetriever(), sharding=Off(3, tmp_path / "shards")))
    assert off["rows"] != plain["rows"]
