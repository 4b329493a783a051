"""A smaller corpus is a corpus: labels still point at their words, digests are its own, what went is counted."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.corpus.folder import dataset, load_folder
from harness.corpus.subset import limit
from harness.errors import ConfigError
from harness.types import Corpus

Build = Callable[..., Path]
Ask = Callable[..., dict[str, Any]]
CLAUSE = "Sacks are stacked four high at most, on the dry side of the loft, with the seams turned away from the hatch, always."


@pytest.fixture
def corpus(build: Build, ask: Ask) -> Corpus:
    documents = [{"id": f"d{place}", "text": f"Room {place}. {CLAUSE}", "metadata": {"floor": place}} for place in range(6)]
    rows = [ask(f"q{place}", [{"doc": f"d{place}", "quote": CLAUSE}], filter={"floor": place}) for place in range(6)]
    rows += [ask(f"none{place}") for place in range(6)]
    rows.append(ask("both", [{"doc": "d0", "quote": "Room 0."}, {"doc": "d5", "quote": "Room 5."}]))
    rows.append(ask("either", [{"doc": "d1", "quote": "Room 1."}], [{"doc": "d5", "quote": "Room 5."}]))
    rows.append(ask("unanswerable-here", filter={"floor": 5}))
    return load_folder(build(rows, documents))


def _quotes(corpus: Corpus) -> dict[str, list[list[str]]]:
    def text(doc: int, start: int, end: int) -> str:
        return corpus.documents[doc].text[start:end]

    return {it.id: [[text(*evidence.span) for evidence in answer.evidence] for answer in it.answers] for it in corpus.questions}


def test_without_limits_or_with_more_than_there_is_nothing_changes(corpus: Corpus) -> None:
    assert limit(corpus) is corpus
    assert limit(corpus, documents=6, questions=99, seed=3) is corpus


def test_questions_stay_where_one_answer_lies_inside(corpus: Corpus) -> None:
    small = limit(corpus, documents=2)
    assert [document.id for document in small.documents] == ["d0", "d1"]
    # 3 of 8 answerable ones stay, so of 7 unanswerable ones 3 do: round(2.6).
    assert _quotes(small) == {"q0": [[CLAUSE]], "q1": [[CLAUSE]], "none0": [], "none1": [], "none2": [], "either": [["Room 1."]]}
    assert small.warnings[-1] == "mill: limited to 2 of 6 documents and 6 of 15 questions (9 had no place in those documents)"
    assert small.digest != corpus.digest
    assert small.questions_digest != corpus.questions_digest


def test_spans_and_copies_follow_their_documents(corpus: Corpus) -> None:
    small = limit(corpus, documents=3, seed=1)
    kept = [document.id for document in small.documents]
    assert kept == sorted(kept)
    assert kept != ["d0", "d1", "d2"]
    assert all(
        quote in (CLAUSE, *(f"Room {place}." for place in range(6))) for answers in _quotes(small).values() for answer in answers for quote in answer
    )
    (evidence,) = next(question for question in small.questions if question.id == f"q{kept[0][1]}").answers[0].evidence
    assert [(copy.doc, small.documents[copy.doc].text[copy.start : copy.end]) for copy in evidence.copies] == [(1, CLAUSE), (2, CLAUSE)]


def test_samples_are_repeatable_and_in_order(corpus: Corpus) -> None:
    names = [question.id for question in limit(corpus, questions=5, seed=7).questions]
    order = [question.id for question in corpus.questions]
    assert names == [question.id for question in limit(corpus, questions=5, seed=7).questions]
    assert names == sorted(names, key=order.index)
    assert len(set(names)) == 5
    assert [question.id for question in limit(corpus, questions=5).questions] == order[:5]


def test_a_limit_equals_the_same_corpus_loaded_small(build: Build, ask: Ask) -> None:
    documents = [{"id": f"d{place}", "text": f"Room {place}."} for place in range(3)]
    rows = [ask(f"q{place}", [{"doc": f"d{place}", "quote": f"Room {place}."}]) for place in range(3)]
    small = dataset(build(rows, documents), documents=2)
    loaded = load_folder(build(rows[:2], documents[:2]))
    assert (small.documents, small.questions, small.digest, small.questions_digest) == (
        loaded.documents,
        loaded.questions,
        loaded.digest,
        loaded.questions_digest,
    )


@pytest.mark.parametrize("wanted", [{"documents": 0}, {"questions": -1}])
def test_numbers_below_one_are_refused(corpus: Corpus, wanted: dict[str, int]) -> None:
    with pytest.raises(ConfigError, match=r"dataset\.\w+=(0|-1): a whole number, 1 or more"):
        limit(corpus, **wanted)
