"""The floor of a cell: a ranking by chance. Scored like any other ranking (its ceiling is the oracle family)."""

from __future__ import annotations

import numpy as np

from harness.types import Candidates, ChunkSet, Probes, Ranking


def random_ranking(chunks: ChunkSet, candidates: Candidates, depth: int, *, seed: int = 0) -> Ranking:
    """For every question `depth` of its candidates (all, where there are fewer), drawn without replacement in random order.

    Scores only say the order (-1, -2, …); there are no moments and no probes, so discrimination is not to be scored.
    """
    random = np.random.default_rng(seed)
    pools = [np.flatnonzero(row[chunks.doc]) for row in candidates.documents]
    chosen = (pools[group] for group in candidates.group.tolist())
    drawn = [pool[random.choice(len(pool), min(depth, len(pool)), replace=False)] for pool in chosen]
    lengths = np.array([len(row) for row in drawn], dtype=np.int64)
    none, nothing = np.zeros(0, dtype=np.int64), np.zeros(0)
    unknown = np.full(len(drawn), np.nan)
    return Ranking(
        indptr=np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        chunk=np.concatenate([none, *drawn]),
        score=np.concatenate([nothing, *(-1.0 - np.arange(length) for length in lengths)]),
        candidates=np.array([len(pools[group]) for group in candidates.group.tolist()], dtype=np.int64),
        score_mean=unknown, score_m2=unknown, probes=Probes(none, none), probe_score=nothing, probe_below=none, probe_tied=none,
    )  # fmt: skip
