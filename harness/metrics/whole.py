"""The answer in one piece: hit_rate_at_k, mrr_at_20, ndcg_at_k over R(q). All in 0..1; not defined for multi-document questions.

Binary gain over distinct returned spans. An answerable question with an empty R(q) scores 0.
"""

from __future__ import annotations

import numpy as np

from harness.metrics.base import Measures, Scene, share
from harness.types import Floats, Ints

MRR_DEPTH = 20


def whole(scene: Scene) -> Measures:
    """Rank measures of the field (TREC names in brackets).

    hit_rate_at_k(q) [success_k] = 1 if a span of R(q) is among the first k; called recall@k where there is one relevant passage a question.
    mrr_at_20(q) [recip_rank, cut at 20] = 1 / rank of the first span of R(q), 0 beyond 20.
    ndcg_at_k(q) [ndcg_cut_k] = DCG / ideal DCG, DCG = sum over the relevant among the first k of 1 / log2(1 + rank) (Jarvelin and Kekalainen 2002),
    the ideal having the |R(q)| relevant spans first. R(q) changes with the chunking, so compare nDCG between cells with care.
    """
    labels, first = scene.labels, scene.reading.whole_rank
    defined = labels.answerable & ~labels.multi_document
    means = {"mrr_at_20": scene.questions_where(defined, np.where(first <= MRR_DEPTH, 1 / first, 0.0))}
    relevant = np.bincount(scene.relevance.question, minlength=labels.questions)
    for k in scene.ks:
        means[f"hit_rate_at_{k}"] = scene.questions_where(defined, first <= k)
        means[f"ndcg_at_{k}"] = scene.questions_where(defined, _ndcg(scene, relevant, k))
    return Measures(means)


def _ndcg(scene: Scene, relevant: Ints, k: int) -> Floats:
    reading = scene.reading
    keep = reading.relevant & (reading.rank <= k)
    gained = np.bincount(reading.question[keep], weights=1 / np.log2(1 + reading.rank[keep]), minlength=len(relevant))
    ideal = np.concatenate([[0.0], np.cumsum(1 / np.log2(1 + np.arange(1, k + 1)))])
    return share(gained, ideal[np.minimum(relevant, k)])


FAMILY = whole
