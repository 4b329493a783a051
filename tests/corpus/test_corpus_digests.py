"""Digests: equal content, equal digest; anything that can move a number changes one."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness.corpus.digests import documents_digest, questions_digest
from harness.types import Answer, Document, Evidence, Question, Span

DOCUMENTS = (Document("a", "One. Two.", "A", {"version": 1, "tags": ["x"]}), Document("b", "Three.", "", {}))
EVIDENCE = Evidence(Span(0, 0, 4), "claim")
QUESTION = Question("q", "How many?", (Answer((EVIDENCE,)),), {"version": 1}, "count")


def test_the_order_of_keys_does_not_count() -> None:
    assert documents_digest(DOCUMENTS) == documents_digest((replace(DOCUMENTS[0], metadata={"tags": ["x"], "version": 1}), DOCUMENTS[1]))


@pytest.mark.parametrize(
    "changed",
    [
        (DOCUMENTS[1], DOCUMENTS[0]),
        DOCUMENTS[:1],
        (replace(DOCUMENTS[0], id="c"), DOCUMENTS[1]),
        (replace(DOCUMENTS[0], text="One. Two. "), DOCUMENTS[1]),
        (replace(DOCUMENTS[0], title=""), DOCUMENTS[1]),
        (replace(DOCUMENTS[0], metadata={"version": "1", "tags": ["x"]}), DOCUMENTS[1]),
    ],
)
def test_every_part_of_a_document_counts(changed: tuple[Document, ...]) -> None:
    assert documents_digest(changed) != documents_digest(DOCUMENTS)


@pytest.mark.parametrize(
    "changed",
    [
        replace(QUESTION, id="r"),
        replace(QUESTION, text="How much?"),
        replace(QUESTION, kind=None),
        replace(QUESTION, filter={}),
        replace(QUESTION, answers=()),
        replace(QUESTION, answers=(Answer((replace(EVIDENCE, role=None),)),)),
        replace(QUESTION, answers=(Answer((replace(EVIDENCE, span=Span(0, 1, 5)),)),)),
        replace(QUESTION, answers=(Answer((replace(EVIDENCE, span=Span(1, 0, 4)),)),)),
        replace(QUESTION, answers=(*QUESTION.answers, Answer((Evidence(Span(1, 0, 6)),)))),
    ],
)
def test_everything_of_a_question_that_moves_a_number_counts(changed: Question) -> None:
    assert questions_digest([changed], DOCUMENTS) != questions_digest([QUESTION], DOCUMENTS)


def test_copies_do_not_count() -> None:
    copied = replace(QUESTION, answers=(Answer((replace(EVIDENCE, copies=(Span(1, 0, 4),)),)),))
    assert questions_digest([copied], DOCUMENTS) == questions_digest([QUESTION], DOCUMENTS)
