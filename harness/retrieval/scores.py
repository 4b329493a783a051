"""From blocks of scores to a ranking: order, statistics over all candidates, and the standing of probes."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from harness.types import Floats, Ints, Probes, Ranking

Scores = npt.NDArray[np.float32]
_SLAB_SCORES = 2**20
_FEW_PROBES = 8


class Findings:
    """Gathers what blocks of scores say, question by question; `ranking` puts it together. Questions that were never taken have no candidates."""

    def __init__(self, questions: int, probes: Probes) -> None:
        self.candidates: Ints = np.zeros(questions, dtype=np.int64)
        self._probes = probes
        self._mean: Floats = np.full(questions, np.nan)
        self._m2: Floats = np.full(questions, np.nan)
        self._score: Floats = np.full(len(probes.question), np.nan)
        self._below: Ints = np.full(len(probes.question), -1, dtype=np.int64)
        self._tied: Ints = np.full(len(probes.question), -1, dtype=np.int64)
        self._by_question = np.argsort(probes.question, kind="stable")
        self._sorted_questions = probes.question[self._by_question]
        self._hits: list[tuple[Ints, Ints, Scores]] = []

    def take(self, questions: Ints, chunk: Ints, scores: Scores, depth: int, floor: Scores | None = None) -> None:
        """Scores (questions x candidates) of the `questions` against the candidate chunks `chunk`, ascending.

        `floor`: for each question a score that at least `depth` of its candidates reach, where one is known.
        """
        step = max(_SLAB_SCORES // len(chunk), 1)
        for start in range(0, len(questions), step):
            part = slice(start, start + step)
            slab = scores[part]
            self._mean[questions[part]], self._m2[questions[part]] = moments(slab)
            row, column = top(slab, depth, None if floor is None else floor[part])
            self._hits.append((questions[part][row], chunk[column], slab[row, column]))
        self._probe(questions, chunk, scores)

    def _probe(self, questions: Ints, chunk: Ints, scores: Scores) -> None:
        first = np.searchsorted(self._sorted_questions, questions, side="left")
        last = np.searchsorted(self._sorted_questions, questions, side="right")
        for row in np.flatnonzero(last > first):
            places = self._by_question[first[row] : last[row]]
            wanted = self._probes.chunk[places]
            column = np.minimum(np.searchsorted(chunk, wanted), len(chunk) - 1)
            known = chunk[column] == wanted
            places, column = places[known], column[known]
            self._score[places] = scores[row, column]
            self._below[places], self._tied[places] = standing(scores[row], scores[row, column])

    def ranking(self) -> Ranking:
        """Everything taken so far, in the order of the questions."""
        counts = np.zeros(len(self.candidates) + 1, dtype=np.int64)
        question = np.concatenate([hit[0] for hit in self._hits]) if self._hits else np.zeros(0, dtype=np.int64)
        chunk = np.concatenate([hit[1] for hit in self._hits]) if self._hits else np.zeros(0, dtype=np.int64)
        score = np.concatenate([hit[2] for hit in self._hits]).astype(np.float64) if self._hits else np.zeros(0)
        order = np.argsort(question, kind="stable")
        counts[1:] = np.bincount(question, minlength=len(self.candidates))
        return Ranking(
            indptr=np.cumsum(counts),
            chunk=chunk[order],
            score=score[order],
            candidates=self.candidates,
            score_mean=self._mean,
            score_m2=self._m2,
            probes=self._probes,
            probe_score=self._score,
            probe_below=self._below,
            probe_tied=self._tied,
        )


def top(scores: Scores, depth: int, floor: Scores | None) -> tuple[Ints, Ints]:
    """(row, column) of the `depth` highest scores of each row, row by row, best first; equal scores by column, also at the cut."""
    width = scores.shape[1]
    if depth < 1:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    if depth >= width:
        return np.repeat(np.arange(len(scores)), width), np.argsort(-scores, axis=1, kind="stable").ravel()
    if floor is None:
        floor = np.partition(scores, width - depth, axis=1)[:, width - depth]
    row, column = np.nonzero(scores >= floor[:, None])
    order = np.lexsort((column, -scores[row, column], row))
    row, column = row[order], column[order]
    rank = np.arange(len(row)) - np.searchsorted(row, row, side="left")
    kept = rank < depth
    return row[kept], column[kept]


def moments(scores: Scores) -> tuple[Floats, Floats]:
    """Mean of each row and the sum of squared deviations from it, in float64; 0 exactly where all scores of a row are equal."""
    pivot = scores[:, :1].astype(np.float64)
    shifted = scores - pivot
    mean = shifted.mean(axis=1)
    shifted -= mean[:, None]
    return pivot[:, 0] + mean, np.einsum("ij,ij->i", shifted, shifted)


def standing(scores: Scores, wanted: Scores) -> tuple[Ints, Ints]:
    """For each of `wanted`, how many of `scores` are lower, and how many are equal."""
    if len(wanted) <= _FEW_PROBES:
        lower = [np.count_nonzero(scores < score) for score in wanted]
        equal = [np.count_nonzero(scores == score) for score in wanted]
        return np.array(lower, dtype=np.int64), np.array(equal, dtype=np.int64)
    ordered = np.sort(scores)
    below = np.searchsorted(ordered, wanted, side="left")
    return below, np.searchsorted(ordered, wanted, side="right") - below
