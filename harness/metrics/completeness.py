"""Whether the reader has all that is needed: complete_at_k, recall_at_k, half_answer_rate_at_k, claim_above_exception_rate. All in 0..1."""

from __future__ import annotations

import numpy as np

from harness.metrics.base import Measures, Scene, best_answer, share
from harness.metrics.labels import Labels
from harness.types import Bools, Floats


def recall(labels: Labels, seen: Bools) -> Floats:
    """Per question the largest, over its answers, share of pieces of evidence that are `seen` (E,); NaN for unanswerable questions."""
    found = np.bincount(labels.evidence_answer, weights=seen, minlength=labels.answers)
    return best_answer(labels, share(found, labels.evidence_count))


def completeness(scene: Scene) -> Measures:
    """The first k distinct returned spans, together.

    complete_at_k(q) = 1 if they hold every piece of evidence of some answer.
    recall_at_k(q) = max over answers of (pieces held / pieces). Equal to hit_rate_at_k where every answer has one piece.
    half_answer_rate_at_k(q), where all answers of q need several pieces = 1 if some piece is held but no answer is complete.
    Complete and recall never fall as k grows; the half-answer rate may.
    """
    labels, reading = scene.labels, scene.reading
    means: dict[str, Floats] = {}
    for k in scene.ks:
        seen = reading.evidence_rank <= k
        complete = reading.question_rank <= k
        some = np.bincount(labels.evidence_question, weights=seen, minlength=labels.questions) > 0
        means[f"complete_at_{k}"] = scene.questions_where(labels.answerable, complete)
        means[f"recall_at_{k}"] = recall(labels, seen)
        means[f"half_answer_rate_at_{k}"] = scene.questions_where(labels.several, some & ~complete)
    means["claim_above_exception_rate"] = _claim_above_exception(scene)
    return Measures(means)


def _claim_above_exception(scene: Scene) -> Floats:
    """1 where, in every answer of q that has both roles, some claim is seen at a better rank than the last of the exceptions.

    An exception that is never retrieved ranks last; both in one span is a tie, not above. Not defined for questions without the two roles.
    """
    labels, rank = scene.labels, scene.reading.evidence_rank
    first_claim = np.full(labels.answers, np.inf)
    last_exception = np.full(labels.answers, -np.inf)
    np.minimum.at(first_claim, labels.evidence_answer[labels.claim], rank[labels.claim])
    np.maximum.at(last_exception, labels.evidence_answer[labels.exception], rank[labels.exception])
    roles = np.zeros((labels.answers, 2), dtype=bool)
    roles[labels.evidence_answer[labels.claim], 0] = True
    roles[labels.evidence_answer[labels.exception], 1] = True
    both = roles.all(axis=1)
    defined = np.bincount(labels.answer_question[both], minlength=labels.questions) > 0
    return scene.questions_where(defined, labels.every_answer(~both | (first_claim < last_exception)))


FAMILY = completeness
