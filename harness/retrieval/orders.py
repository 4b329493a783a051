"""What retrievers without a score for every candidate share: reading another's ranking, putting rows in order, and telling them as a `Ranking`.

Their statistics are NaN and their probes unanswered, for discrimination is measured on dense scores alone. A deeper search must begin with the
shallower one, so whoever reorders does so with a fixed number of places and puts the rest `behind` them.
"""

from __future__ import annotations

import sys
from typing import NamedTuple

import numpy as np

from harness.errors import ConfigError
from harness.retrieval.base import Index, Queries
from harness.types import Bools, Candidates, Floats, Ints, Probes, Ranking

NO_PROBES = Probes(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))


class Rows(NamedTuple):
    """Places of rankings: columns of equal length, by question, then best first."""

    question: Ints
    chunk: Ints
    score: Floats

    def where(self, wanted: Bools | Ints) -> Rows:
        """Some of them, in the order that `wanted` names them."""
        return Rows(self.question[wanted], self.chunk[wanted], self.score[wanted])

    @property
    def place(self) -> Ints:
        """Of each row among those of its question, from 0."""
        return np.arange(len(self.question)) - np.searchsorted(self.question, self.question, side="left")


def read(index: Index, queries: Queries, candidates: Candidates, depth: int) -> tuple[Rows, Ints]:
    """The first `depth` places of every question, and how many candidates each has."""
    ranking = index.search(queries, candidates, depth, NO_PROBES)
    question = np.repeat(np.arange(len(ranking)), np.diff(ranking.indptr))
    return Rows(question, ranking.chunk, ranking.score), ranking.candidates


def best_first(rows: Rows) -> Rows:
    """By question, then score from the highest; ties by chunk."""
    return rows.where(np.lexsort((rows.chunk, -rows.score, rows.question)))


def behind(head: Rows, tail: Rows) -> Rows:
    """`tail` after `head`, question by question, each in its order. Scores of the tail fall by 1 a place from the last of the head (from 0 where
    there is none), so they mean the order alone."""
    last = np.zeros(int(max(head.question.max(initial=-1), tail.question.max(initial=-1))) + 1)
    last[head.question] = head.score  # of a question's rows, which stand in order, the last assignment stays
    fallen = tail._replace(score=last[tail.question] - 1.0 - tail.place)
    joined = Rows(*(np.concatenate(pair) for pair in zip(head, fallen, strict=True)))
    return joined.where(np.argsort(joined.question, kind="stable"))


def scaled(rows: Rows, lowest: float = 0.0) -> Floats:
    """Scores made comparable across retrievers: of each question the highest of `rows` is 1 and the lowest 0 (min-max); `lowest` where all are
    equal."""
    first = np.flatnonzero(rows.place == 0)
    last = np.append(first[1:], len(rows.question))[: len(first)] - 1
    run = np.cumsum(rows.place == 0) - 1
    low = rows.score[last][run]
    span = rows.score[first][run] - low
    out: Floats = np.divide(rows.score - low, span, out=np.full(len(low), lowest), where=span > 0)
    return out


def as_ranking(rows: Rows, candidates: Ints, depth: int, probes: Probes) -> Ranking:
    """The first `depth` rows of every question as a ranking that says nothing about the other candidates. `candidates`: how many each question
    has."""
    kept = rows.where(rows.place < depth)
    unknown, standing = np.full(len(candidates), np.nan), np.full(len(probes.question), -1, dtype=np.int64)
    return Ranking(
        indptr=np.concatenate([[0], np.cumsum(np.bincount(kept.question, minlength=len(candidates)))]).astype(np.int64),
        chunk=kept.chunk,
        score=kept.score,
        candidates=candidates,
        score_mean=unknown,
        score_m2=unknown,
        probes=probes,
        probe_score=np.full(len(probes.question), np.nan),
        probe_below=standing,
        probe_tied=standing,
    )


MOST = 2**31 - 1
"""More places than any ranking has; what libraries count with goes no further."""
LARGE = 1e6
"""A factor beyond which formulas of scores round all differences away, or overflow."""


def check_whole(key: str, value: object, least: int, most: float = MOST) -> None:
    """Raises ConfigError where `value` is no whole number from `least` to `most`."""
    whole = value if isinstance(value, int) and not isinstance(value, bool) else None
    if whole is None or not least <= whole <= most:
        end = f"to {most}" if most < MOST or (whole is not None and whole > most) else "up"
        raise ConfigError(f"retriever.{key}", value, f"a whole number from {least} {end} would do")


def check_text(key: str, value: object) -> None:
    """Raises ConfigError where `value` is no text, or an empty one."""
    if not isinstance(value, str) or not value.strip():
        raise ConfigError(f"retriever.{key}", value, "must be a name")


def check_number(key: str, value: object, low: float, high: float = np.inf, *, above: bool = False) -> None:
    """Raises ConfigError where `value` is no finite number from `low` (with `above`: greater than that) to `high`."""
    fits = isinstance(value, int | float) and not isinstance(value, bool) and low <= value <= min(high, sys.float_info.max)
    if not fits or (above and value == low):
        end = f"to {high:,.12g} " if np.isfinite(high) else "" if above else "up "
        raise ConfigError(f"retriever.{key}", value, f"a number {'above' if above else 'from'} {low:g} {end}would do")
