"""A cheap look at a corpus before a sweep: what would make its numbers empty or misleading, found in seconds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from harness.corpus.counts import evidence_of, is_multi_document, repeated, unasked, words_in
from harness.corpus.problems import excerpt
from harness.types import Corpus, Question

FEW_QUESTIONS = 20
COPIED_WORDS = 8


@dataclass(frozen=True, slots=True)
class Finding:
    """One line about a corpus. An error makes a sweep pointless; a warning stands beside its numbers."""

    severity: Literal["error", "warning"]
    text: str


def check(corpus: Corpus) -> list[Finding]:
    """What was found, errors first. Empty where nothing was. Time is linear in the text of questions, evidence and documents."""
    answerable = [question for question in corpus.questions if question.answers]
    if not corpus.questions:
        return [Finding("error", "there are no questions, so nothing can be scored")]
    if not answerable:
        return [Finding("error", f"none of the {len(corpus.questions)} questions has an answer, so nothing can be scored")]
    return [Finding("warning", text) for text in (*_about_questions(corpus, answerable), *_about_documents(corpus))]


def _about_questions(corpus: Corpus, answerable: list[Question]) -> Iterator[str]:
    total = len(corpus.questions)
    if len(answerable) < FEW_QUESTIONS:
        yield f"only {len(answerable)} questions have an answer; with fewer than {FEW_QUESTIONS} hardly any difference can be told from chance"
    if len(answerable) < total:
        unanswerable = total - len(answerable)
        yield f"{unanswerable} of {total} questions ({unanswerable / total:.0%}) have no answer and are in no mean but their own"
    multi = sum(map(is_multi_document, answerable))
    if multi:
        only = "no single chunk can answer them, so they are only in recall, complete and the char metrics"
        yield f"{multi} of {len(answerable)} questions need several documents: {only}"
    given_away = [question for question in answerable if quotes_answer(corpus, question)]
    if given_away:
        yield (
            f"{len(given_away)} questions share {COPIED_WORDS} or more words in a row with their evidence, so lexical search finds them too easily"
            f" (first: {excerpt(given_away[0].id)})"
        )


def _about_documents(corpus: Corpus) -> Iterator[str]:
    again = repeated(corpus.documents)
    if again:
        yield f"{again} documents repeat the text of another word for word; their chunks tie"
    without = unasked(corpus.documents, corpus.questions)
    if without:
        yield f"{without} of {len(corpus.documents)} documents are evidence for no question"


def quotes_answer(corpus: Corpus, question: Question) -> bool:
    """Whether 8 words of the question stand in a row in its evidence, case and punctuation aside. Blind to scripts without spaces."""
    asked = _runs(question.text)
    if not asked:
        return False
    passages = (corpus.documents[it.span.doc].text[it.span.start : it.span.end] for it in evidence_of([question]))
    return any(not asked.isdisjoint(_runs(passage)) for passage in passages)


def _runs(text: str) -> set[tuple[str, ...]]:
    words = words_in(text)
    return set(zip(*(words[offset:] for offset in range(COPIED_WORDS)), strict=False))
