"""What the chunking allows, whatever the embedder: answer_existence, answer_coverage, evidence_existence. All in 0..1."""

from __future__ import annotations

import numpy as np

from harness.metrics.base import Measures, Scene, best_answer, share
from harness.metrics.held import Relevance
from harness.spans import overlapping
from harness.types import Floats, Ints


def existence(relevance: Relevance) -> Measures:
    """The three figures, before anything is retrieved.

    answer_existence(q) = 1 if R(q) is not empty. Not defined for multi-document questions.
    answer_coverage(q) = the largest share of some answer's characters (its places, trimmed) that one returned span has; a copy of a passage counts
    like the passage, so that coverage is 1 where the answer exists.
    evidence_existence = pieces of evidence that some candidate's span holds whole / pieces of evidence; per question its own share, weighted by
    how many pieces it has.
    """
    labels = relevance.labels
    exists = np.bincount(relevance.question, minlength=labels.questions) > 0
    held = np.zeros(labels.evidence, dtype=bool)
    held[relevance.held_evidence] = True
    pieces = np.bincount(labels.evidence_question, minlength=labels.questions)
    whole = np.bincount(labels.evidence_question, weights=held, minlength=labels.questions)
    return Measures(
        means={
            "answer_existence": np.where(labels.answerable & ~labels.multi_document, exists.astype(np.float64), np.nan),
            "answer_coverage": best_answer(labels, _coverage(relevance)),
            "evidence_existence": np.where(pieces > 0, share(whole, pieces), np.nan),
        },
        weights={"evidence_existence": pieces.astype(np.float64)},
    )


def _coverage(relevance: Relevance) -> Floats:
    """Per answer the largest share of its characters in one span, shape (A,)."""
    labels, returned = relevance.labels, relevance.returned
    low, high = (relevance.line.at(labels.place_doc, edge) for edge in (labels.place_start, labels.place_end))
    span, place = overlapping(returned.low, returned.high, low, high)
    evidence = labels.place_evidence[place]
    keep = relevance.allowed(labels.evidence_question[evidence], span)
    span, place, evidence = span[keep], place[keep], evidence[keep]
    shared = np.minimum(returned.high[span], high[place]) - np.maximum(returned.low[span], low[place])
    stride = max(len(returned), 1)
    evidence_span, characters = _most(evidence * stride + span, shared)
    answer_span = labels.evidence_answer[evidence_span // stride] * stride + evidence_span % stride
    key, place_in_key = np.unique(answer_span, return_inverse=True)
    best = np.zeros(labels.answers)
    np.maximum.at(best, key // stride, np.bincount(place_in_key, weights=characters, minlength=len(key)))
    length = np.zeros(labels.evidence)
    length[labels.place_evidence] = labels.place_end - labels.place_start
    return share(best, np.bincount(labels.evidence_answer, weights=length, minlength=labels.answers))


def _most(keys: Ints, values: Ints) -> tuple[Ints, Ints]:
    """The distinct keys and the largest value of each: two copies of a passage in one span are the passage once."""
    distinct, place = np.unique(keys, return_inverse=True)
    out = np.zeros(len(distinct), dtype=np.int64)
    np.maximum.at(out, place, values)
    return distinct, out


def family(scene: Scene) -> Measures:
    """See `existence`."""
    return existence(scene.relevance)


FAMILY = family
