"""The floor of a cell: a ranking by chance. Scored like any other ranking (its ceiling is the oracle family)."""

from __future__ import annotations

import numpy as np

from harness.types import Candidates, ChunkSet, Ints, Probes, Ranking

_SPARSE = 4
"""Up to a quarter of the candidates, drawing repeats again is cheaper than shuffling all of them."""


def random_ranking(chunks: ChunkSet, candidates: Candidates, depth: int, *, seed: int = 0) -> Ranking:
    """For every question `depth` of its candidates (all, where there are fewer), drawn without replacement in random order.

    Scores only say the order (-1, -2, …); there are no moments and no probes, so discrimination is not to be scored.
    """
    random, depth = np.random.default_rng(seed), max(depth, 0)
    pools = [np.flatnonzero(row[chunks.doc]) for row in candidates.documents]
    sizes = np.array([len(pool) for pool in pools], dtype=np.int64)
    drawn: list[Ints] = [np.zeros(0, dtype=np.int64)] * len(candidates.group)
    for group, pool in enumerate(pools):
        rows = np.flatnonzero(candidates.group == group)
        places = _places(random, len(rows), len(pool), min(depth, len(pool)))
        for row, chosen in zip(rows.tolist(), pool[places], strict=True):
            drawn[row] = chosen
    lengths = np.minimum(sizes[candidates.group], depth)
    none, nothing, unknown = np.zeros(0, dtype=np.int64), np.zeros(0), np.full(len(drawn), np.nan)
    indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    return Ranking(
        indptr=indptr,
        chunk=np.concatenate([none, *drawn]),
        score=-1.0 - (np.arange(indptr[-1]) - np.repeat(indptr[:-1], lengths)),
        candidates=sizes[candidates.group],
        score_mean=unknown, score_m2=unknown, probes=Probes(none, none), probe_score=nothing, probe_below=none, probe_tied=none,
    )  # fmt: skip


def _places(random: np.random.Generator, rows: int, size: int, count: int) -> Ints:
    """`count` different numbers below `size` in random order, for each of `rows` rows: every order of every choice is as likely as any other.

    Numbers that a row has already are drawn again, in place, until none is; where that would be often, each row is shuffled whole.
    """
    if count * _SPARSE > size:
        return np.argsort(random.random((rows, size)), axis=1)[:, :count]
    out = random.integers(0, size, (rows, count))
    again = np.arange(rows)
    while len(again):
        # A number and its place in one key: sorting values is far quicker than sorting places by value.
        number, place = np.divmod(np.sort(out[again] * count + np.arange(count), axis=1), count)
        row, later = np.nonzero(number[:, 1:] == number[:, :-1])
        out[again[row], place[row, later + 1]] = random.integers(0, size, len(row))
        again = again[np.unique(row)]
    return out
