"""Questions that give their answer away: in words that stand in the evidence."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from rapidfuzz import fuzz

from harness.corpus.check import quotes_answer
from harness.corpus.counts import evidence_of, words_in
from harness.types import Corpus, Question

_ALIKE = 85.0
_LONG_ENOUGH = 40
_READ = 20_000


@dataclass(frozen=True, slots=True)
class Wording:
    """Ids of questions that `quote` 8 words in a row of their evidence, or are `near` a passage of it; `shared` is the median share of a
    question's words that stand in its evidence (None without answerable questions)."""

    quote: list[str]
    near: list[str]
    shared: float | None


def wording(corpus: Corpus) -> Wording:
    """Look at every answerable question. Of evidence the first 20,000 characters are read."""
    answerable = [question for question in corpus.questions if question.answers]
    quote = [question.id for question in answerable if quotes_answer(corpus, question)]
    known = set(quote)
    passages = {question.id: _passages(corpus, question) for question in answerable}
    near = [it.id for it in answerable if it.id not in known and any(is_near(it.text, passage) for passage in passages[it.id])]
    shares = [_shared(question.text, passages[question.id]) for question in answerable]
    return Wording(quote, near, float(np.median(shares)) if shares else None)


def is_near(question: str, passage: str) -> bool:
    """Whether a question is, but for 15 of 100 characters, a stretch of the passage (or the passage a stretch of it), case and punctuation aside.
    Both must measure 40 bytes, which is some 8 words in Latin script and 13 characters in Japanese."""
    asked, told = " ".join(words_in(question)), " ".join(words_in(passage))
    shorter = min(asked, told, key=len)
    return len(shorter.encode("utf-8", "surrogatepass")) >= _LONG_ENOUGH and fuzz.partial_ratio(asked, told, score_cutoff=_ALIKE) > 0


def _passages(corpus: Corpus, question: Question) -> list[str]:
    return [corpus.documents[it.span.doc].text[it.span.start : min(it.span.end, it.span.start + _READ)] for it in evidence_of([question])]


def _shared(question: str, passages: list[str]) -> float:
    asked = set(words_in(question))
    told = {word for passage in passages for word in words_in(passage)}
    return len(asked & told) / len(asked) if asked else 0.0
