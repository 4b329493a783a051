"""The contract of a family of metrics.

A family is one module of this package with a constant `FAMILY`, a function from a `Scene` to `Measures`; it is found because the file exists.
Values are one a question, NaN where the metric is not defined or can't be scored for that question: such a question is left out of the mean and
its n. A question that is merely not answered has 0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from harness.metrics.held import Relevance
from harness.metrics.labels import Labels
from harness.metrics.reading import Reading
from harness.types import Bools, Floats, Ints, Ranking


@dataclass(frozen=True, slots=True)
class Scene:
    """All that a family may look at. `candidate_tokens` (one a question): budget tokens of the documents that its filter leaves."""

    relevance: Relevance
    ranking: Ranking
    reading: Reading
    candidate_tokens: Ints
    ks: tuple[int, ...]
    budgets: tuple[int, ...]

    @property
    def labels(self) -> Labels:
        """The corpus's labels."""
        return self.relevance.labels

    @property
    def answer_tokens(self) -> Floats:
        """Tokens read until each question is answered; infinite past the largest budget, which every cell of a sweep is searched to."""
        tokens = self.reading.question_tokens
        return np.where(tokens <= max(self.budgets, default=0), tokens, np.inf)

    def questions_where(self, defined: Bools, values: Floats | Bools) -> Floats:
        """`values` as floats, NaN where not `defined`."""
        return np.where(defined, values.astype(np.float64), np.nan)


class Figure(NamedTuple):
    """A number that is not a mean of per-question values; NaN or infinite: null. `n` is what it was taken over."""

    value: float
    n: int


@dataclass(frozen=True, slots=True)
class Measures:
    """What a family found.

    `means`: per metric one value a question; the metric's figure is their mean. `weights`: for a metric that is pooled over smaller things than
    questions, how many of them each question has (the figure is then the weighted mean). `figures`: all other figures.
    """

    means: Mapping[str, Floats] = field(default_factory=dict)
    weights: Mapping[str, Floats] = field(default_factory=dict)
    figures: Mapping[str, Figure] = field(default_factory=dict)


Family = Callable[[Scene], Measures]


def best_answer(labels: Labels, values: Floats) -> Floats:
    """The largest value (A,) among each question's answers, shape (questions,); NaN for unanswerable questions."""
    out = np.full(labels.questions, -np.inf)
    np.maximum.at(out, labels.answer_question, values)
    return np.where(labels.answerable, out, np.nan)


def share(part: Ints | Floats, whole: Ints | Floats) -> Floats:
    """part / whole, 0 where the whole is 0."""
    out = np.zeros(len(part))
    np.divide(part, whole, out=out, where=np.asarray(whole) > 0)
    return out
