"""At an equal budget of context tokens, a unit that the sweep can't move: complete_within_B, recall_within_B, tokens_to_answer, selectivity_bits."""

from __future__ import annotations

import numpy as np

from harness.metrics.base import Figure, Measures, Scene
from harness.metrics.completeness import recall
from harness.types import Bools, Floats


def budget(scene: Scene) -> Measures:
    """The reader goes down the distinct returned spans; the span that would pass the budget is cut there.

    complete_within_B(q) = 1 if every piece of evidence of some answer was read whole within B tokens; recall_within_B as recall_at_k. 0..1, never
    falling as B grows.
    tokens_to_answer: tokens read until the answer is complete, infinite where it is not within the largest budget (how much deeper a ranking goes
    differs between cells, so what lies there is not compared); median and 90th percentile over the answerable questions
    (linear between neighbours; null where infinite). unreached_share: the share where it is infinite.
    selectivity_bits(q) = log2(tokens of the documents that the filter leaves / tokens_to_answer), at least 0, and 0 where unreached. The numerator
    is of documents, not of chunks, so that overlap does not raise it.
    context_tokens_at_k: tokens of the first k distinct returned spans; all questions, the unanswerable too.
    """
    labels, reading = scene.labels, scene.reading
    means: dict[str, Floats] = {}
    for limit in scene.budgets:
        means[f"complete_within_{limit}"] = scene.questions_where(labels.answerable, reading.question_tokens <= limit)
        means[f"recall_within_{limit}"] = recall(labels, reading.evidence_tokens <= limit)
    for k in scene.ks:
        means[f"context_tokens_at_{k}"] = _context(scene, k)
    answered = scene.answer_tokens
    reached = np.isfinite(answered)
    means["selectivity_bits"] = scene.questions_where(labels.answerable, _bits(scene, reached))
    means["unreached_share"] = scene.questions_where(labels.answerable, ~reached)
    tokens = answered[labels.answerable]
    figures = {
        "tokens_to_answer_median": Figure(quantile(tokens, 0.5), len(tokens)),
        "tokens_to_answer_p90": Figure(quantile(tokens, 0.9), len(tokens)),
    }
    return Measures(means, figures=figures)


def _bits(scene: Scene, reached: Bools) -> Floats:
    out = np.zeros(len(reached))
    ratio = scene.candidate_tokens[reached] / np.maximum(scene.answer_tokens[reached], 1)
    out[reached] = np.log2(np.maximum(ratio, 1))
    return out


def _context(scene: Scene, k: int) -> Floats:
    reading = scene.reading
    top = reading.rank <= k
    out = np.zeros(scene.labels.questions)
    np.add.at(out, reading.question[top], reading.tokens[top])
    return out


def quantile(values: Floats, level: float) -> float:
    """The quantile of values of which some may be infinite: linear between neighbours, infinite as soon as an infinite one takes part."""
    if not len(values):
        return np.nan
    huge = np.finfo(np.float64).max / 4
    found = float(np.quantile(np.minimum(values, huge), level))
    return found if found < huge / 1e9 else np.inf


FAMILY = budget
