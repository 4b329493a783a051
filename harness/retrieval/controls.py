"""Controls: rankings that know nothing, as a floor for those that do."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from harness.retrieval.base import Queries, Shelf
from harness.retrieval.orders import Rows, as_ranking, check_whole
from harness.retrieval.pool import chunks_of, group_rows
from harness.types import Candidates, Ints, Probes, Ranking


@dataclass(frozen=True)
class RandomRetriever:
    """Every order of a question's candidates is as likely as any other; the same for the same `seed`, question number and candidates.

    Scores fall from 1 and mean nothing but the order; there is no score for every candidate, so statistics are NaN. Raises ConfigError for a
    negative seed.
    """

    seed: int = 0

    def __post_init__(self) -> None:
        check_whole("seed", self.seed, 0, np.inf)

    @property
    def reads_vectors(self) -> bool:
        """Never: it knows nothing."""
        return False

    def build(self, shelf: Shelf) -> RandomIndex:
        """An index over `shelf`, of which only the documents of the chunks are used."""
        return RandomIndex(shelf.doc, self.seed)


@dataclass(frozen=True)
class RandomIndex:
    """The documents of the chunks, and the seed."""

    doc: Ints
    seed: int

    @property
    def nbytes(self) -> int:
        """0: nothing is indexed."""
        return 0

    def search(self, queries: Queries, candidates: Candidates, depth: int, probes: Probes) -> Ranking:
        """The first `depth` of a random order of each question's candidates."""
        questions = len(queries.texts)
        orders: list[Ints] = [np.zeros(0, dtype=np.int64)] * questions
        found = np.zeros(questions, dtype=np.int64)
        for rows, documents in group_rows(candidates):
            chunk = chunks_of(self.doc, documents)
            found[rows] = len(chunk)
            for row in rows:
                drawn = np.random.default_rng([self.seed, row]).permutation(len(chunk))
                orders[row] = chunk[drawn[: max(depth, 0)]]
        question = np.repeat(np.arange(questions), [len(order) for order in orders])
        chunk = np.concatenate([np.zeros(0, dtype=np.int64), *orders])
        place = np.concatenate([np.zeros(0), *(np.arange(len(order), dtype=np.float64) for order in orders)])
        return as_ranking(Rows(question, chunk, 1.0 / (1.0 + place)), found, depth, probes)
