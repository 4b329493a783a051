"""The ceiling of a cell: oracle_complete_at_k and oracle_complete_within_B, for the best ranking that the same chunks allow."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from harness.metrics.base import Measures, Scene
from harness.remembered import Last
from harness.types import Floats, Ints


def oracle(scene: Scene) -> Measures:
    """complete_at_k and complete_within_B of the best ranking of each question.

    One span that holds an answer is found exactly. Where several are needed, finding the fewest is set cover, and two greedy ways are tried: most new
    evidence first, and most new evidence a token first; the last span is read only as far as needed. The ranking that was observed is one of the
    possible rankings, so the oracle is never below it. The true ceiling may lie higher where an answer has many pieces.
    """
    labels, reading = scene.labels, scene.reading
    spans, tokens = _best(scene)
    spans, tokens = np.minimum(spans, reading.question_rank), np.minimum(tokens, reading.question_tokens)
    means = {f"oracle_complete_at_{k}": scene.questions_where(labels.answerable, spans <= k) for k in scene.ks}
    means |= {f"oracle_complete_within_{limit}": scene.questions_where(labels.answerable, tokens <= limit) for limit in scene.budgets}
    return Measures(means)


_last: Last[tuple[Floats, Floats]] = Last()


def _best(scene: Scene) -> tuple[Floats, Floats]:
    """Fewest spans and fewest tokens that complete each question, as far as the two greedy ways find them.

    They are the same for every ranking of the same chunks, so the last are kept for the cells that differ in their retrieval alone.
    """
    return _last.of((scene.relevance, scene.reading.held_size, scene.reading.held_tokens), lambda: _found(scene))


def _found(scene: Scene) -> tuple[Floats, Floats]:
    labels, relevance, reading = scene.labels, scene.relevance, scene.reading
    answer = labels.evidence_answer[relevance.held_evidence]
    spans, tokens = np.full(labels.questions, np.inf), np.full(labels.questions, np.inf)
    single = labels.evidence_count[answer] == 1
    question = labels.answer_question[answer[single]]
    spans[question] = 1
    np.minimum.at(tokens, question, reading.held_tokens[single])
    rows = np.flatnonzero(~single)
    rows = rows[np.argsort(answer[rows], kind="stable")]
    numbers, first = np.unique(answer[rows], return_index=True)
    pieces = labels.evidence_count
    for number, group in zip(numbers.tolist(), np.split(rows, first[1:]), strict=False):
        found = _cover(int(pieces[number]), _offers(scene, group))
        where = labels.answer_question[number]
        spans[where], tokens[where] = min(spans[where], found[0]), min(tokens[where], found[1])
    return spans, tokens


@dataclass(frozen=True, slots=True)
class _Offer:
    """A span: its tokens, and the tokens from its start until each piece of evidence that it holds has been read."""

    size: int
    until: dict[int, int]


def _offers(scene: Scene, rows: Ints) -> list[_Offer]:
    relevance, reading = scene.relevance, scene.reading
    out: dict[int, _Offer] = {}
    columns = (relevance.held_span[rows], relevance.held_evidence[rows], reading.held_size[rows], reading.held_tokens[rows])
    for span, evidence, size, tokens in zip(*(column.tolist() for column in columns), strict=True):
        until = out.setdefault(span, _Offer(size, {})).until
        until[evidence] = min(tokens, until.get(evidence, tokens))
    return list(out.values())


def _cover(pieces: int, offers: list[_Offer]) -> tuple[float, float]:
    """(spans, tokens) of the best way found to hold `pieces` pieces of evidence; infinite where the offers don't hold them all."""
    if len({evidence for offer in offers for evidence in offer.until}) < pieces:
        return np.inf, np.inf
    whole = [max(offer.until.values()) for offer in offers if len(offer.until) == pieces]
    fewest = _greedy(pieces, offers, lambda new, size: (new, -size))
    cheapest = _greedy(pieces, offers, lambda new, size: (new / size, new))
    return float(min(len(fewest), len(cheapest))), float(min([_tokens(fewest), _tokens(cheapest), *whole]))


def _greedy(pieces: int, offers: list[_Offer], worth: Callable[[int, int], tuple[float, float]]) -> list[_Offer]:
    """Take the offer of most worth until all pieces are held; each taken offer keeps only what it adds."""
    missing, taken = {evidence for offer in offers for evidence in offer.until}, []
    while missing:
        best = max(offers, key=lambda offer: worth(len(missing & offer.until.keys()), offer.size))
        taken.append(_Offer(best.size, {evidence: best.until[evidence] for evidence in missing & best.until.keys()}))
        missing -= best.until.keys()
    return taken


def _tokens(taken: list[_Offer]) -> int:
    """Tokens read when the offer that saves most by being cut short is read last."""
    return sum(offer.size for offer in taken) - max(offer.size - max(offer.until.values()) for offer in taken)


FAMILY = oracle
