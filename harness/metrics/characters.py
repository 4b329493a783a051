"""How much of the evidence, and of anything else, the reader is handed: char_recall, char_precision, char_iou at k. All in 0..1."""

from __future__ import annotations

import numpy as np

from harness.metrics.base import Measures, Scene, best_answer, share
from harness.spans import intersection_length, ranges, union_length
from harness.types import Floats, Ints

Columns = tuple[Ints, Ints, Ints]


def characters(scene: Scene) -> Measures:
    """On unions of characters, so that repeated text counts once; evidence at its labelled positions, as labelled.

    With T the union of the first k distinct returned spans and E the union of an answer's evidence:
    char_recall = |T and E| / |E|, char_precision = |T and E| / |T|, char_iou = |T and E| / |T or E|.
    Each is the best among the question's answers, taken by itself, so that char_recall never falls as k grows. Nothing retrieved: 0.
    """
    labels = scene.labels
    evidence = evidence_columns(scene)
    wanted = union_length(*evidence, labels.answers)
    means: dict[str, Floats] = {}
    for k in scene.ks:
        question, span = scene.reading.top(k)
        text = by_answer(scene, question, span)
        read = union_length(*text, labels.answers)
        covered = intersection_length(text, evidence, labels.answers)
        means[f"char_recall_at_{k}"] = best_answer(labels, share(covered, wanted))
        means[f"char_precision_at_{k}"] = best_answer(labels, share(covered, read))
        means[f"char_iou_at_{k}"] = best_answer(labels, share(covered, read + wanted - covered))
    return Measures(means)


def evidence_columns(scene: Scene) -> Columns:
    """The labelled evidence as (answer, start, end) on the corpus's line."""
    labels, line = scene.labels, scene.relevance.line
    return labels.evidence_answer, line.at(labels.doc, labels.start), line.at(labels.doc, labels.end)


def by_answer(scene: Scene, question: Ints, span: Ints) -> Columns:
    """Rows of (question, span), question ascending, repeated for each answer of the question, as (answer, start, end) on the line."""
    labels, returned = scene.labels, scene.relevance.returned
    answers = np.arange(labels.answers)
    low = np.searchsorted(question, labels.answer_question[answers], side="left")
    high = np.searchsorted(question, labels.answer_question[answers], side="right")
    row, answer = ranges(low, high)
    return answer, returned.low[span[row]], returned.high[span[row]]


FAMILY = characters
