"""How deep a ranking has to go: to the largest k, and until the largest budget has been read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from harness.retrieval.base import Index, Queries
from harness.retrieval.kept import first_places
from harness.types import Bools, Candidates, ChunkSet, Ints, Probes, Ranking


@dataclass(frozen=True)
class Reach:
    """What a ranking of some chunks has to reach: `widest` distinct returned spans and `budget` tokens of them for every question, or all its
    candidates, or all that these return. `tokens` of every chunk's returned span, `span` a number for each distinct one, `spans`: how many of
    them the candidates of each question return (None: not known)."""

    tokens: Ints
    span: Ints
    spans: Ints | None
    budget: int
    widest: int

    def search(self, index: Index, queries: Queries, candidates: Candidates, probes: Probes) -> Ranking:
        """Search as deep as it takes, twice as deep each time."""
        for depth in self._depths():
            ranking = index.search(queries, candidates, depth, probes)
            if self.reached_by(ranking):
                break
        return ranking

    def cut(self, whole: Ranking) -> Ranking | None:
        """What `search` would have given, cut from a ranking that was stored; None where that is not deep enough."""
        for depth in self._depths():
            if (np.diff(whole.indptr) < np.minimum(depth, whole.candidates)).any():
                return None
            ranking = first_places(whole, depth)
            if self.reached_by(ranking):
                break
        return ranking

    def reached_by(self, ranking: Ranking) -> bool:
        """Whether it is deep enough for every question."""
        if not len(ranking):
            return True
        retrieved = np.diff(ranking.indptr)
        first = self._first_of_spans(ranking, retrieved)
        question = np.repeat(np.arange(len(ranking)), retrieved)[first]
        read = np.bincount(question, weights=self.tokens[ranking.chunk[first]], minlength=len(ranking))
        distinct = np.bincount(question, minlength=len(ranking))
        through: Bools = retrieved >= ranking.candidates
        if self.spans is not None:
            through = through | (distinct >= self.spans)
        return bool(np.all(((read >= self.budget) & (distinct >= self.widest)) | through))

    def _first_of_spans(self, ranking: Ranking, retrieved: Ints) -> Ints:
        """Of each question's distinct spans, the place in the ranking's columns where it first stands."""
        question = np.repeat(np.arange(len(ranking)), retrieved)
        first: Ints = np.unique(question * max(len(self.span), 1) + self.span[ranking.chunk], return_index=True)[1]
        return first

    def _depths(self) -> Iterator[int]:
        """Depths to try: one that is mostly enough, then twice as deep each time."""
        depth = 2 * self.widest + int(1.5 * self.budget / max(float(self.tokens.mean()) if len(self.tokens) else 1.0, 1.0))
        while True:
            yield depth
            depth *= 2


def reach_of(chunks: ChunkSet, candidates: Candidates, tokens: Ints, *, budget: int, widest: int) -> Reach:
    """What rankings of `chunks` have to reach, `tokens` being those of every chunk's returned span."""
    span = _span_of_chunk(chunks)
    _, first = np.unique(span, return_index=True)
    # Where chunks share parents, there are far fewer spans than candidates.
    allowed, group = candidates.documents, candidates.group
    spans: Ints = (allowed @ np.bincount(chunks.doc[first], minlength=allowed.shape[1]))[group]
    return Reach(tokens, span, spans, budget, widest)


def _span_of_chunk(chunks: ChunkSet) -> Ints:
    """A number for each distinct returned span."""
    columns = (chunks.doc, chunks.returned_start, chunks.returned_end)
    order = np.lexsort(columns[::-1])
    new = np.zeros(len(order), dtype=bool)
    for column in columns:
        new[1:] |= column[order][1:] != column[order][:-1]
    span = np.empty(len(order), dtype=np.int64)
    span[order] = np.cumsum(new)
    return span
