"""The measures of Chroma's chunking_evaluation, with their quirks, to compare with its report: chroma_*_at_k and precision_omega.

Source: Smith and Troynikov, "Evaluating Chunking Strategies for Retrieval" (Chroma, 2024) and its code. Unlike char_*, precision and IoU sum the
lengths of all k chunks, so text that is retrieved twice counts twice, and omega counts chunks that merely border on a reference. All in 0..1
where chunks don't overlap; with overlapping chunks precision and IoU stay at or below 1 as well, since the sum is never less than the union.
"""

from __future__ import annotations

import numpy as np

from harness.metrics.base import Measures, Scene, best_answer, share
from harness.metrics.characters import Columns, by_answer, evidence_columns
from harness.spans import intersection_length, overlapping, union_length
from harness.types import Floats, Ints


def chroma(scene: Scene) -> Measures:
    """With c the characters of an answer's evidence (at its labelled positions) that the spans of the first k chunks cover, e those of the evidence:

    chroma_recall = c / e; chroma_precision = c / L, L the summed lengths of the k chunks' spans; chroma_iou = c / (L + e - c).
    precision_omega, of the chunking alone: c' / (U + e - c'), where U is the union of all candidate spans that overlap or touch the evidence and c'
    what they cover of it. Several answers: the best of each measure.
    """
    labels, ranking, returned = scene.labels, scene.ranking, scene.relevance.returned
    evidence = evidence_columns(scene)
    wanted = union_length(*evidence, labels.answers)
    question = np.repeat(np.arange(len(ranking)), np.diff(ranking.indptr))
    rank = np.arange(len(question)) - ranking.indptr[question]
    means = {"precision_omega": best_answer(labels, _omega(scene, evidence, wanted))}
    for k in scene.ks:
        keep = rank < k
        text = by_answer(scene, question[keep], returned.of_chunk[ranking.chunk[keep]])
        covered = intersection_length(text, evidence, labels.answers)
        summed = _summed(text, labels.answers)
        means[f"chroma_recall_at_{k}"] = best_answer(labels, share(covered, wanted))
        means[f"chroma_precision_at_{k}"] = best_answer(labels, share(covered, summed))
        means[f"chroma_iou_at_{k}"] = best_answer(labels, share(covered, summed + wanted - covered))
    return Measures(means)


def _summed(text: Columns, answers: int) -> Ints:
    answer, start, end = text
    out = np.zeros(answers, dtype=np.int64)
    np.add.at(out, answer, end - start)
    return out


def _omega(scene: Scene, evidence: Columns, wanted: Ints) -> Floats:
    labels, returned = scene.labels, scene.relevance.returned
    answer, start, end = evidence
    span, piece = overlapping(returned.low, returned.high, start, end, touching=True)
    keep = scene.relevance.allowed(labels.evidence_question[piece], span)
    touched = answer[piece[keep]], returned.low[span[keep]], returned.high[span[keep]]
    covered = intersection_length(touched, evidence, labels.answers)
    return share(covered, union_length(*touched, labels.answers) + wanted - covered)


FAMILY = chroma
