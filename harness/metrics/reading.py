"""What the reader has seen at each rank: the ranking over distinct returned spans, in ranks and in tokens of the budget's tokenizer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from harness.metrics.held import Relevance, Returned
from harness.types import Bools, Floats, Ints, Ranking
from harness.units.base import Ruler


def measure(rulers: Sequence[Ruler], doc: Ints, start: Ints, end: Ints) -> Ints:
    """Tokens of the spans [start, end) of documents `doc`, each by its document's ruler. One pass over the documents that occur."""
    order = np.arange(len(doc)) if np.all(doc[1:] >= doc[:-1]) else np.argsort(doc, kind="stable")
    numbers, first = np.unique(doc[order], return_index=True)
    out = np.empty(len(doc), dtype=np.int64)
    for number, rows in zip(numbers.tolist(), np.split(order, first[1:]), strict=False):
        out[rows] = rulers[number].size(start[rows], end[rows])
    return out


@dataclass(frozen=True, slots=True)
class Reading:
    """Rows of (question, distinct returned span) in ranking order, and what they give each piece of evidence and each question.

    `rank` counts distinct spans from 1, `tokens` is the size of the row's span, `before` the tokens of the spans ranked above it.
    `evidence_rank` and `evidence_tokens` (E,): the smallest rank, and the fewest tokens read, until the evidence has been seen whole.
    `answer_rank`, `answer_tokens` (A,): the same until all evidence of an answer has been; `question_rank`, `question_tokens` until the first
    answer has been. `whole_rank`: the first rank of a span of R(q). All infinite where the ranking never gets there.
    `relevant`: whether the row's span is in R(q). `held_size` and `held_tokens`, one a holding of the Relevance: tokens of its span, and tokens from
    the span's start to the end of the evidence.
    """

    question: Ints
    span: Ints
    rank: Ints
    tokens: Ints
    before: Ints
    relevant: Bools
    evidence_rank: Floats
    evidence_tokens: Floats
    answer_rank: Floats
    answer_tokens: Floats
    question_rank: Floats
    question_tokens: Floats
    whole_rank: Floats
    held_size: Ints
    held_tokens: Ints

    def top(self, k: int) -> tuple[Ints, Ints]:
        """(question, span) of the first k distinct returned spans of every question."""
        keep = self.rank <= k
        return self.question[keep], self.span[keep]


def read(relevance: Relevance, ranking: Ranking, rulers: Sequence[Ruler]) -> Reading:
    """Read down every ranking. `rulers`: one a document, of the budget's tokenizer.

    A piece of evidence in span s at some rank is seen whole after (tokens of the spans above) + (tokens from the start of s to the end of the
    evidence). So "complete within a budget of B tokens, the span that would pass B cut at B" is the same as question_tokens <= B.
    """
    labels, returned = relevance.labels, relevance.returned
    question, span = _distinct(ranking, returned)
    counts = np.bincount(question, minlength=labels.questions)
    begin = np.cumsum(counts) - counts
    rank = np.arange(len(question)) - begin[question] + 1
    sizes = _span_tokens(returned, np.concatenate([span, relevance.held_span]), rulers)
    tokens, held_size = sizes[: len(span)], sizes[len(span) :]
    passed = np.cumsum(tokens) - tokens
    before = passed - passed[begin[question]]
    held_tokens = _tokens_to_evidence(relevance, rulers)

    row = _rows(question, span, labels.evidence_question[relevance.held_evidence], relevance.held_span, len(returned))
    seen = row >= 0
    evidence, row = relevance.held_evidence[seen], row[seen]
    evidence_rank = _least(labels.evidence, evidence, rank[row])
    evidence_tokens = _least(labels.evidence, evidence, before[row] + held_tokens[seen])
    answer_rank = _most(labels.answers, labels.evidence_answer, evidence_rank)
    answer_tokens = _most(labels.answers, labels.evidence_answer, evidence_tokens)

    whole = _rows(question, span, relevance.question, relevance.span, len(returned))
    relevant = np.zeros(len(question), dtype=bool)
    relevant[whole[whole >= 0]] = True
    return Reading(
        question, span, rank, tokens, before, relevant, evidence_rank, evidence_tokens, answer_rank, answer_tokens,
        question_rank=_least(labels.questions, labels.answer_question, answer_rank),
        question_tokens=_least(labels.questions, labels.answer_question, answer_tokens),
        whole_rank=_least(labels.questions, question[relevant], rank[relevant]),
        held_size=held_size, held_tokens=held_tokens,
    )  # fmt: skip


def _distinct(ranking: Ranking, returned: Returned) -> tuple[Ints, Ints]:
    """(question, span) of the ranking, each pair where it stands first."""
    question = np.repeat(np.arange(len(ranking)), np.diff(ranking.indptr))
    span = returned.of_chunk[ranking.chunk]
    if returned.distinct:
        return question, span
    _, first = np.unique(question * len(returned) + span, return_index=True)
    first.sort()
    return question[first], span[first]


def _span_tokens(returned: Returned, span: Ints, rulers: Sequence[Ruler]) -> Ints:
    """Tokens of each row's span; each span is measured once."""
    wanted = np.zeros(len(returned), dtype=bool)
    wanted[span] = True
    once = np.flatnonzero(wanted)
    sizes = np.zeros(len(returned), dtype=np.int64)
    sizes[once] = measure(rulers, returned.doc[once], returned.start[once], returned.end[once])
    return sizes[span]


def _tokens_to_evidence(relevance: Relevance, rulers: Sequence[Ruler]) -> Ints:
    """Tokens from the start of each holding's span to the end of the evidence in it."""
    returned, span = relevance.returned, relevance.held_span
    return measure(rulers, returned.doc[span], returned.start[span], relevance.labels.place_end[relevance.held_place])


def _rows(question: Ints, span: Ints, wanted_question: Ints, wanted_span: Ints, spans: int) -> Ints:
    """The reading's row of every wanted (question, span), -1 where it was not retrieved. Only the wanted, far fewer, are sorted."""
    wanted, back = np.unique(wanted_question * spans + wanted_span, return_inverse=True)
    out = np.full(len(wanted) + 1, -1, dtype=np.int64)
    key = question * spans + span
    place = np.searchsorted(wanted, key)
    found = place < len(wanted)
    found[found] = wanted[place[found]] == key[found]
    out[place[found]] = np.flatnonzero(found)
    return out[back]


def _least(groups: int, group: Ints, values: Ints | Floats) -> Floats:
    out = np.full(groups, np.inf)
    np.minimum.at(out, group, values.astype(np.float64))
    return out


def _most(groups: int, group: Ints, values: Floats) -> Floats:
    out = np.full(groups, -np.inf)
    np.maximum.at(out, group, values)
    return out
