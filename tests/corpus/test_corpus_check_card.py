"""The check before a sweep and the card."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from harness.corpus.card import card, card_markdown
from harness.corpus.check import check, quotes_answer
from harness.corpus.folder import load_folder

Build = Callable[..., Path]
Ask = Callable[..., dict[str, Any]]
STONE = "Each stone is dressed with a steel pick every third week, unless the harvest is in, when the miller dresses it nightly by lamp."
CORPUS = [
    {"id": "a", "text": STONE, "metadata": {"x|y": 1}},
    {"id": "b", "text": STONE},
    {"id": "c", "text": "Flour is weighed."},
    {"id": "d", "text": ""},
]


def _findings(root: Path) -> list[tuple[str, str]]:
    return [(finding.severity, finding.text) for finding in check(load_folder(root))]


def test_nothing_to_score_is_an_error(build: Build, ask: Ask) -> None:
    assert _findings(build([], CORPUS)) == [("error", "there are no questions, so nothing can be scored")]
    assert _findings(build([ask("q"), ask("r")], CORPUS)) == [("error", "none of the 2 questions has an answer, so nothing can be scored")]


def test_what_stands_beside_the_numbers_is_a_warning(build: Build, ask: Ask) -> None:
    both = [{"doc": "a", "quote": "Each stone"}, {"doc": "c", "quote": "Flour"}]
    rows = [ask("multi", both), ask("either", both, [{"doc": "c", "quote": "weighed"}]), ask("none")]
    findings = _findings(build(rows, CORPUS))
    assert {severity for severity, _ in findings} == {"warning"}
    told = "\n".join(text for _, text in findings)
    assert "only 2 questions have an answer" in told
    assert "1 of 3 questions (33%) have no answer" in told
    assert "1 of 2 questions need several documents" in told
    assert "1 documents repeat the text of another" in told
    assert "2 of 4 documents are evidence for no question" in told
    assert "words in a row" not in told


def test_a_clean_corpus_has_no_findings(build: Build, ask: Ask) -> None:
    assert _findings(build([ask(f"q{place}", [{"doc": "c", "quote": "Flour"}]) for place in range(20)], CORPUS[2:3])) == []


def test_questions_that_quote_their_answer_are_found_whatever_case_and_punctuation(build: Build, ask: Ask) -> None:
    stone = [{"doc": "a", "quote": STONE}]
    eight = "True that each STONE is: dressed with a steel pick?"
    seven = "True that each stone is dressed with a steel file?"
    corpus = load_folder(build([{**ask("eight", stone), "question": eight}, {**ask("seven", stone), "question": seven}], CORPUS))
    assert [quotes_answer(corpus, question) for question in corpus.questions] == [True, False]
    assert any("1 questions share 8 or more words" in finding.text and "'eight'" in finding.text for finding in check(corpus))


def test_the_card_counts_and_is_json(build: Build, ask: Ask) -> None:
    rows = [
        ask("one", [{"doc": "a", "quote": STONE, "role": "claim"}], kind="rule", filter={"doc": "a"}),
        ask("two", [{"doc": "c", "quote": "Flour"}, {"doc": "c", "quote": "weighed."}], [{"doc": "c", "quote": "Flour is"}]),
        ask("none"),
    ]
    corpus = load_folder(build(rows, CORPUS))
    values = json.loads(json.dumps(card(corpus)))
    assert values["documents"] == {
        "count": 4,
        "characters": 2 * len(STONE) + 17,
        "characters_median": (len(STONE) + 17) / 2,
        "characters_longest": len(STONE),
        "blank": 1,
        "repeated": 1,
        "evidence_for_no_question": 2,
        "metadata_fields": ["x|y"],
    }
    assert values["questions"] == {
        "count": 3,
        "answerable": 2,
        "unanswerable": 1,
        "multi_document": 0,
        "several_answers": 1,
        "with_filter": 1,
        "by_kind": {"none given": 2, "rule": 1},
    }
    assert values["evidence"]["evidence_per_answer"] == {"1": 2, "2": 1}
    assert values["evidence"]["with_copies"] == 1
    assert (values["digest"], values["questions_digest"]) == (corpus.digest, corpus.questions_digest)
    shown = card_markdown(corpus)
    assert "| evidence per answer | 1: 2, 2: 1 |" in shown
    assert "x\\|y" in shown
    assert corpus.digest in shown
    assert "- 1 of 4 documents are empty or blank" in shown
    assert STONE[:20] not in shown


def test_a_corpus_without_questions_has_a_card(build: Build) -> None:
    assert "| characters median | - |" in card_markdown(load_folder(build([], CORPUS)))
