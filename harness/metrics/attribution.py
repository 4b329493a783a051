"""Why a question was answered or missed: assembled_rate_at_k, chunking_miss_rate_at_k, ranking_miss_rate_at_k. All in 0..1.

With the share answered in one chunk (hit_rate_at_k) they add up to 1. Not defined for multi-document questions.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from harness.metrics.base import Measures, Scene
from harness.types import Bools

IN_ONE, ASSEMBLED, CHUNKING_MISS, RANKING_MISS = "in one chunk", "assembled", "chunking miss", "ranking miss"
UNANSWERABLE, MULTI_DOCUMENT = "unanswerable", "multi-document"


def attribution(scene: Scene, k: int) -> npt.NDArray[np.object_]:
    """One word a question for its fate at k.

    Complete: "in one chunk" (a span of R(q) is among the first k) or "assembled" from several. Not complete: "chunking miss" (of every answer some
    evidence is whole in no candidate's span) or "ranking miss" (all evidence of some answer is whole somewhere). Multi-document questions are not
    attributed.
    """
    labels, reading = scene.labels, scene.reading
    out = np.where(_possible(scene), RANKING_MISS, CHUNKING_MISS).astype(object)
    out[reading.question_rank <= k] = ASSEMBLED
    out[reading.whole_rank <= k] = IN_ONE
    out[labels.multi_document] = MULTI_DOCUMENT
    out[~labels.answerable] = UNANSWERABLE
    return out


def _possible(scene: Scene) -> Bools:
    """Whether all evidence of some answer is whole somewhere, shape (questions,)."""
    labels = scene.labels
    held = np.zeros(labels.evidence, dtype=bool)
    held[scene.relevance.held_evidence] = True
    lacking = np.bincount(labels.evidence_answer[~held], minlength=labels.answers)
    return np.bincount(labels.answer_question[lacking == 0], minlength=labels.questions) > 0


def rates(scene: Scene) -> Measures:
    """Each fate as a share of the answerable questions of one document."""
    means = {}
    defined = scene.labels.answerable & ~scene.labels.multi_document
    for k in scene.ks:
        fate = attribution(scene, k)
        for name, word in (("assembled", ASSEMBLED), ("chunking_miss", CHUNKING_MISS), ("ranking_miss", RANKING_MISS)):
            means[f"{name}_rate_at_{k}"] = scene.questions_where(defined, fate == word)
    return Measures(means)


FAMILY = rates
