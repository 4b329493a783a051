"""Made-up sweeps whose truth is known: what the simulations of the statistics draw from."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

import numpy as np
from scipy import special

from harness.statistics.resampling import SEED, Resampler, resampler
from harness.types import Floats, Ints

QUESTIONS = 6
"""Questions of a document: 1 + Poisson(5)."""


def documents_of(random: np.random.Generator, documents: int, each: float = QUESTIONS) -> Ints:
    """The document of every question: at least one question a document, `each` on average."""
    return np.repeat(np.arange(documents), 1 + random.poisson(each - 1, documents))


def crossed(random: np.random.Generator, documents: int, texts: int = 17, each: int = 10) -> tuple[Ints, Ints]:
    """Document and text of every question where `each` of the same `texts` are asked of every document."""
    chosen = [np.sort(random.permutation(texts)[:each]) for _ in range(documents)]
    return np.repeat(np.arange(documents), each), np.concatenate(chosen)


def sampler_of(document: Ints, text: Ints | None = None, resamples: int = 1000, seed: int = SEED) -> Resampler:
    """The resampler that the harness takes for such questions; `text`: the number of the question's text, by default all differ.

    Few flips have a level of their own, so sweeps that are counted together should have different seeds.
    """
    texts = np.arange(len(document)) if text is None else text
    return resampler(document.tolist(), [str(each) for each in texts], resamples=resamples, seed=seed)


def shares(random: np.random.Generator, document: Ints, mean: float, correlation: float, runs: int) -> Floats:
    """0 or 1 for each question (n, runs), with this mean and this correlation between questions of a document (beta-binomial)."""
    size = (int(document.max()) + 1, runs)
    strength = (1 - correlation) / correlation if correlation else 0.0
    chance = random.beta(mean * strength, (1 - mean) * strength, size) if correlation else np.full(size, mean)
    return np.asarray(random.random((len(document), runs)) < chance[document], dtype=np.float64)


def outcomes(random: np.random.Generator, truth: Sequence[float] | Floats, document: Ints, text: Ints | None = None, runs: int = 1) -> Floats:
    """0 or 1 for every cell and question (m, n, runs); cell i has the true mean truth[i].

    A normal variable under a threshold. Its variance: .40 from the question and .15 from its document, both the same for all cells; .05 from cell
    and document together, the rest from cell and question. With `text`: .10 from the text and .05 from cell and text as well.
    """
    truth = np.asarray(truth)
    cells, n = len(truth), len(document)
    hidden = np.sqrt(0.40) * random.standard_normal((1, n, runs)) + np.zeros((cells, 1, 1))
    left = 0.60
    for group, common, own in [(document, 0.15, 0.05)] + ([] if text is None else [(text, 0.10, 0.05)]):
        size = int(group.max()) + 1
        hidden += np.sqrt(common) * random.standard_normal((1, size, runs))[:, group]
        hidden += np.sqrt(own) * random.standard_normal((cells, size, runs))[:, group]
        left -= common + own
    hidden += np.sqrt(left) * random.standard_normal((cells, n, runs))
    return np.asarray(hidden < special.ndtri(truth)[:, None, None], dtype=np.float64)


def table(command: str, headings: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A Markdown table under its command and today's date."""
    lines = [f"`{command}`, {date.today()}:", "", "| " + " | ".join(headings) + " |", "|" + "---|" * len(headings)]
    return "\n".join([*lines, *("| " + " | ".join(map(str, row)) + " |" for row in rows)])
