"""How small a difference between two cells so many questions can show, before any cell has run."""

from __future__ import annotations

import numpy as np

from harness.statistics.resampling import resampler_of
from harness.statistics.sizing import Sizing, sizing
from harness.types import Corpus

DISAGREE = 0.2
"""Share of questions that one of two cells answers and the other doesn't: an assumption, told beside the figure."""


def power(corpus: Corpus, *, disagree: float = DISAGREE) -> Sizing:
    """What `sizing` says of two equally good cells that disagree on a share of the questions, spread over them by chance; the documents'
    clusters count as they will in a sweep. Unanswerable questions are left out."""
    answerable = np.array([bool(question.answers) for question in corpus.questions], dtype=bool)
    n = int(answerable.sum())
    flips = np.zeros(n)
    many = min(max(round(disagree * n), 1), n) if n else 0
    flips[:many] = np.where(np.arange(many) % 2, 1.0, -1.0)
    differences = np.full(len(answerable), np.nan)
    differences[answerable] = np.random.default_rng(0).permutation(flips)
    return sizing(differences, resampler_of(corpus))
