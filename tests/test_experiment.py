"""One cell from end to end: how deep it searches, what filters leave, and corpora at the edge of sense."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from front_cases import QUICK, Calls, call, experiment_on, planned, small_corpus, write_corpus
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.chunking.document import DocumentChunker
from harness.chunking.fixed import FixedChunker
from harness.chunking.sentence import SentenceChunker
from harness.corpus.folder import load_folder
from harness.depths import reach_of
from harness.evaluation import evaluate, question_metrics
from harness.experiment import Experiment, Retrieved, fitted, retrieve
from harness.retrieval.bm25 import Bm25Retriever
from harness.retrieval.controls import RandomRetriever
from harness.sweep import Select, summarise
from harness.types import Candidates, CellResult, ChunkSet, Corpus, Document, Ints, Probes, Question, Ranking


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return small_corpus(tmp_path_factory.mktemp("harbour"))


def searched(experiment: Experiment) -> Retrieved:
    return retrieve(experiment, lambda name: None, lambda done, total: None)


def result_of(experiment: Experiment) -> CellResult:
    plan = planned(experiment)
    return evaluate(experiment, searched(experiment), plan.scoring, plan.cell, plan.key)


def ranking_of(rows: Sequence[Sequence[int]], candidates: Sequence[int]) -> Ranking:
    none, counts = np.zeros(0, dtype=np.int64), [len(row) for row in rows]
    flat = np.array([chunk for row in rows for chunk in row], dtype=np.int64)
    unknown = np.full(len(rows), np.nan)
    return Ranking(
        np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        flat,
        -np.arange(len(flat), dtype=np.float64),
        np.array(candidates, dtype=np.int64),
        unknown,
        unknown,
        Probes(none, none),
        np.zeros(0),
        none,
        none,
    )


def deep_enough_by_hand(rows: Sequence[Sequence[int]], candidates: Sequence[int], returned: Sequence[int], tokens: Ints, budget: int, k: int) -> bool:
    """Span by span: `returned` has the number of each chunk's returned span."""
    for row, count in zip(rows, candidates, strict=True):
        read: dict[int, int] = {}
        for chunk in row:
            read.setdefault(returned[chunk], int(tokens[chunk]))
        if len(row) < count and (sum(read.values()) < budget or len(read) < k):
            return False
    return True


@settings(max_examples=60, deadline=None)
@given(data=st.data(), budget=st.integers(1, 60), k=st.integers(1, 8))
def test_deep_enough_is_what_counting_by_hand_says(data: Any, budget: int, k: int) -> None:
    chunks = data.draw(st.integers(1, 12))
    returned = sorted(data.draw(st.lists(st.integers(0, 5), min_size=chunks, max_size=chunks)))
    size = data.draw(st.lists(st.integers(1, 20), min_size=6, max_size=6))
    tokens = np.array([size[span] for span in returned], dtype=np.int64)
    rows = data.draw(st.lists(st.permutations(range(chunks)).flatmap(lambda row: st.integers(0, chunks).map(lambda cut: row[:cut])), max_size=4))
    candidates = [data.draw(st.integers(len(row), chunks)) for row in rows]
    start = np.array(returned, dtype=np.int64)
    place = np.arange(chunks, dtype=np.int64)
    chunk_set = ChunkSet(np.zeros(chunks, dtype=np.int64), place, place + 1, start, start + 1)
    reach = replace(reach_of(chunk_set, Candidates(place[:0], np.ones((1, 1), dtype=bool)), tokens, budget=budget, widest=k), spans=None)
    found = reach.reached_by(ranking_of(rows, candidates))
    assert found == deep_enough_by_hand(rows, candidates, returned, tokens, budget, k)


@pytest.mark.parametrize("size", [3, 20, 1000])
@pytest.mark.parametrize("change", [{}, {"ks": (1, 40)}, {"budgets": (700,)}, {"ks": (10_000,)}, {"budgets": (10**9,)}])
def test_the_search_goes_as_deep_as_it_is_asked(corpus: Corpus, size: int, change: dict[str, Any]) -> None:
    found = result_of(experiment_on(corpus, FixedChunker(size), **change))
    assert not [line for line in found.warnings if "search deeper" in line]


def test_a_stored_ranking_serves_as_long_as_a_fresh_one_would_be_the_same(corpus: Corpus) -> None:
    deep = experiment_on(corpus, FixedChunker(24, 12), budgets=(300,))
    stored = searched(deep)
    for change in ({}, {"budgets": (20,)}, {"ks": (1,)}, {"copies": "labelled"}):
        asked = replace(deep, **change)
        served, fresh = fitted(asked, stored), searched(asked)
        assert served is not None
        for name in ("indptr", "chunk", "score", "candidates"):
            assert np.array_equal(getattr(served.ranking, name), getattr(fresh.ranking, name)), (change, name)
    assert fitted(replace(deep, budgets=(900,)), stored) is None
    assert fitted(replace(deep, ks=(500,)), stored) is None
    fewer = stored.ranking.probes
    lost = replace(stored, ranking=replace(stored.ranking, probes=Probes(fewer.question[1:], fewer.chunk[1:])))
    assert fitted(deep, lost) is None


def test_metrics_with_a_rank_of_their_own_are_deep_enough(corpus: Corpus) -> None:
    """mrr_at_20 looks at 20 places, whatever the ks and budgets."""
    scattered: dict[str, Any] = {"chunker": FixedChunker(30, 15), "retriever": RandomRetriever(), "budgets": (5,)}
    shallow, deep = (result_of(experiment_on(corpus, ks=ks, **scattered)) for ks in ((1,), (60,)))
    assert 0 < (deep.metrics["mrr_at_20"] or 0) < 1
    assert shallow.metrics["mrr_at_20"] == deep.metrics["mrr_at_20"]


def test_filters_hold_from_end_to_end(corpus: Corpus) -> None:
    retrieved = searched(experiment_on(corpus, FixedChunker(7)))
    filtered = 0
    for number, question in enumerate(corpus.questions):
        rows = slice(retrieved.ranking.indptr[number], retrieved.ranking.indptr[number + 1])
        documents = {corpus.documents[doc].id for doc in retrieved.chunks.doc[retrieved.ranking.chunk[rows]]}
        if question.filter:
            filtered += 1
            assert documents == {question.filter["doc"]}
        else:
            assert len(documents) > 1
    assert filtered == len(corpus.documents)


def test_only_unanswerable_questions(corpus: Corpus) -> None:
    questions = tuple(question for question in corpus.questions if not question.answers)
    found = result_of(experiment_on(replace(corpus, questions=questions)))
    assert found.metrics["questions_unanswerable"] == len(questions)
    for name in ("complete_at_5", "answer_existence", "complete_within_120", "discrimination", "complete_at_5_low"):
        assert found.metrics[name] is None, name
    assert len(found.questions) == len(questions)
    summary = summarise([found], Select(metric="complete_at_5"), planned(experiment_on(corpus)).scoring)
    assert (summary.standings, summary.winner, summary.decided) == ((), None, False)
    assert "not ranked" in summary.warnings[0]


def test_no_documents_worth_cutting(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Where no question has an answer nothing can be scored, so nothing is begun."""
    write_corpus(tmp_path, documents=1)
    (tmp_path / "documents" / "notice-0.md").write_text(" \n\n")
    rows = [line for line in (tmp_path / "questions.jsonl").read_text().splitlines() if '"answers": []' in line]
    (tmp_path / "questions.jsonl").write_text("\n".join(rows) + "\n")
    said = call(capsys, "run", *QUICK, "dataset=folder", f"dataset.path={tmp_path}", f"outputs={tmp_path}/outputs")
    assert (said.status, "Traceback" in said.err) == (2, False), said.err
    assert "none of the 1 questions has an answer" in said.err


@pytest.mark.parametrize("text", ["", "  \n ", "\ufeff", "x"])
def test_a_document_with_next_to_nothing_moves_no_other(tmp_path: Path, text: str) -> None:
    plain = write_corpus(tmp_path / "harbour")
    before = result_of(experiment_on(load_folder(plain)))
    (plain / "documents" / "zz.md").write_text(text, encoding="utf-8")
    after = result_of(experiment_on(load_folder(plain)))
    extra = 1 if text == "x" else 0
    assert after.metrics["chunks"] == (before.metrics["chunks"] or 0) + extra
    assert after.metrics["complete_at_5"] == before.metrics["complete_at_5"]
    assert after.metrics["answer_existence"] == before.metrics["answer_existence"]


def test_one_document_in_one_chunk(tmp_path: Path) -> None:
    """Nothing to choose from: everything is found at once, and discrimination is 0."""
    found = result_of(experiment_on(small_corpus(tmp_path, documents=1), DocumentChunker()))
    assert (found.metrics["chunks"], found.metrics["answer_existence"], found.metrics["hit_rate_at_1"]) == (1.0, 1.0, 1.0)
    assert (found.metrics["discrimination"], found.metrics["complete_at_1"]) == (0.0, 1.0)
    assert [line for line in found.warnings if line.startswith("only 1 chunks")]


def test_every_mean_has_its_interval_and_its_n(corpus: Corpus) -> None:
    found = result_of(experiment_on(corpus))
    for name in found.questions.columns:
        if name in found.metrics and found.metrics[name] is not None:
            low, high = found.metrics[f"{name}_low"], found.metrics[f"{name}_high"]
            assert found.counts[name] > 0
            if low is not None and high is not None:
                assert low <= (found.metrics[name] or 0.0) <= high, name


def test_the_toy_knows_every_metric_of_questions(corpus: Corpus) -> None:
    """What can be refused before any work is what a real cell will have."""
    found = result_of(experiment_on(corpus, ks=(2, 7), budgets=(33,)))
    assert question_metrics((2, 7), (33,)) == [name for name in found.questions.columns if name in found.metrics]


def test_random_rankings_stand_beside_every_cell(corpus: Corpus) -> None:
    found = result_of(experiment_on(corpus, SentenceChunker(20)))
    chance, real = found.metrics["random_complete_at_5"], found.metrics["complete_at_5"]
    assert chance is not None
    assert real is not None
    assert 0 <= chance < real


def test_sizes_beyond_every_document_make_the_same_chunks(corpus: Corpus) -> None:
    first, second = (result_of(experiment_on(corpus, FixedChunker(size))) for size in (5000, 6000))
    assert first.chunk_digest == second.chunk_digest
    assert first.metrics["complete_at_5"] == second.metrics["complete_at_5"]


def test_a_question_nobody_may_answer(corpus: Corpus) -> None:
    """A filter that leaves no document: nothing is retrieved, and the question counts as not answered."""
    asked = corpus.questions[0]
    shut = Question("shut", asked.text, asked.answers, {"doc": "nowhere.md"})
    found = result_of(experiment_on(replace(corpus, questions=(*corpus.questions, shut))))
    row = found.questions.set_index("id").loc["shut"]
    assert (row["candidates"], row["complete_at_5"]) == (0, 0.0)


def test_texts_in_many_scripts(tmp_path: Path) -> None:
    accents = "Cafe\u0301 opens at nine, e\u0301te\u0301 at ten \U0001f469\u200d\U0001f467"
    texts = ["受付は九時に開きます。返却は三日以内です。\r\n", "تعاد العربون خلال شهر واحد.\r\n", accents, "a" * 20_000]
    documents = tuple(Document(f"d{number}", text) for number, text in enumerate(texts))
    base = small_corpus(tmp_path, documents=1)
    corpus = replace(base, documents=(*base.documents, *documents))
    found = result_of(experiment_on(corpus, FixedChunker(2)))
    assert found.metrics["chunks"]


def test_what_a_real_model_does_not_read_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """MiniLM reads 254 word pieces; chunks of 400 are cut, and a second run takes every vector from the cache."""
    corpus = write_corpus(tmp_path / "harbour", documents=2)
    words = ("run", "tracking=files", "scoring.resamples=20", "dataset=folder", f"dataset.path={corpus}", f"outputs={tmp_path}/outputs")
    said = call(capsys, *words, "strategy=fixed", "size=400", "overlap=0")
    assert said.status == 0, said.err
    (path,) = tmp_path.glob("outputs/cells/*/result.json")
    metrics = json.loads(path.read_text(encoding="utf-8"))["metrics"]
    assert metrics["embedder_limit"] == 254
    assert 0 < metrics["truncated_token_share"] < 1
    assert metrics["embedded_tokens"] > metrics["cached_tokens"]
    assert "minilm reads 254 tokens of a chunk; never read:" in said.out
    again = call(capsys, *words, "strategy=fixed", "size=400", "overlap=0", "rerun=true")
    assert "1 ran" in again.out
    repeated = json.loads(path.read_text(encoding="utf-8"))["metrics"]
    assert (repeated["embedded_tokens"], repeated["cached_tokens"]) == (0, metrics["embedded_tokens"] + metrics["cached_tokens"])
    same = [name for name in metrics if not name.startswith(("seconds_", "embedded_", "cached_"))]
    assert {name: repeated[name] for name in same} == {name: metrics[name] for name in same}


def fact(found: Retrieved, *names: str) -> list[float]:
    return [found.facts[name] for name in names]


TOKENS = ("embedded_tokens", "cached_tokens", "truncated_token_share")


def test_a_search_by_words_embeds_nothing(corpus: Corpus) -> None:
    calls = Calls()
    found = searched(experiment_on(corpus, calls=calls, retriever=Bm25Retriever()))
    assert calls.embedded == 0
    assert fact(found, *TOKENS) == [0, 0, 0]
    assert searched(experiment_on(corpus, calls=calls)).facts["embedded_tokens"] > 0
    assert calls.embedded > 0
