"""Two rankings made one: by reciprocal ranks, or by a weighted sum of their scores."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from harness.errors import ConfigError
from harness.retrieval.around import Around, check_retriever, facts_of
from harness.retrieval.base import Index, Queries, Retriever, Shelf
from harness.retrieval.orders import LARGE, Rows, as_ranking, best_first, check_number, check_whole, read, scaled
from harness.types import Candidates, Floats, Ints, Probes, Ranking

Method = Literal["rrf", "weighted"]


@dataclass(frozen=True)
class HybridRetriever(Around):
    """Fuses the first `depth` places of `first` and of `second`.

    "rrf" (Cormack, Clarke and Büttcher 2009): a chunk's score is the sum of 1 / (rrf_k + place) over the lists that hold it, places counted from 1.
    "weighted": weight * a + (1 - weight) * b (`weight` None: a half), where a and b are its scores in the two lists, each list made 0 to 1 over its
    own first `depth` places (the first 1, the last 0; all 0 where all are equal), and 0 in a list that does not hold it. With weight 1 or 0 the other
    retriever is not asked, and order and scores are those of the one.

    Chunks that neither list holds within `depth` follow by the better of their two places, ties by chunk. Statistics are NaN. Raises ConfigError for
    values that mean nothing, a weight that "rrf" would not look at among them.
    """

    second: Retriever
    method: Method = "rrf"
    rrf_k: float = 60.0
    weight: float | None = None
    depth: int = 100

    def __post_init__(self) -> None:
        super().__post_init__()
        check_retriever("retriever.second", self.second)
        if self.method not in ("rrf", "weighted"):
            raise ConfigError("retriever.method", self.method, "rrf or weighted would do")
        check_number("rrf_k", self.rrf_k, 0, LARGE)
        if self.weight is not None:
            check_number("weight", self.weight, 0, 1)
            if self.method == "rrf":
                raise ConfigError("retriever.weight", self.weight, "counts with retriever.method=weighted only; rrf weighs both alike")
        check_whole("depth", self.depth, 1)

    @property
    def share(self) -> float:
        """What the first has to say of all, in a weighted fusion."""
        return 0.5 if self.weight is None else float(self.weight)

    def build(self, shelf: Shelf) -> HybridIndex:
        """The indexes of those that have a say."""
        weights = (1.0, 1.0) if self.method == "rrf" else (self.share, 1.0 - self.share)
        parts = [(shelf.index(part), weight) for part, weight in zip((self.first, self.second), weights, strict=True) if weight > 0]
        return HybridIndex(tuple(index for index, _ in parts), tuple(weight for _, weight in parts), self, len(shelf.doc))


@dataclass(frozen=True)
class HybridIndex:
    """The indexes that are asked, the weight of each, how they are fused, and the number of chunks."""

    parts: tuple[Index, ...]
    weights: tuple[float, ...]
    fusion: HybridRetriever
    chunks: int

    @property
    def nbytes(self) -> int:
        """Bytes of all that are asked."""
        return sum(part.nbytes for part in self.parts)

    def facts(self) -> Mapping[str, float]:
        """What those that are asked found out; what both did (pairs scored, seconds) in sum, of a share or a limit the larger."""
        found: dict[str, float] = {}
        for name, value in (fact for part in self.parts for fact in facts_of(part).items()):
            summed = name.startswith("seconds_") or name.endswith("_pairs")
            found[name] = value + found.get(name, 0.0) if summed else max(value, found.get(name, value))
        return found

    def search(self, queries: Queries, candidates: Candidates, depth: int, probes: Probes) -> Ranking:
        """The first `depth` of the fused ranking. Costs a search of each part, as deep as the deeper of `depth` and the fusion's own."""
        found = [read(part, queries, candidates, max(depth, self.fusion.depth)) for part in self.parts]
        if len(found) == 1:
            return as_ranking(found[0][0], found[0][1], depth, probes)
        gains = [self._gains(rows) * weight for (rows, _), weight in zip(found, self.weights, strict=True)]
        question, chunk, place, gain = (
            np.concatenate(column)
            for column in ([rows.question for rows, _ in found], [rows.chunk for rows, _ in found], [rows.place for rows, _ in found], gains)
        )
        pair, which = np.unique(question * self.chunks + chunk, return_inverse=True)
        better = np.full(len(pair), np.iinfo(np.int64).max)
        np.minimum.at(better, which, place)
        score = np.where(better < self.fusion.depth, np.bincount(which, weights=gain, minlength=len(pair)), self._beyond(better))
        return as_ranking(best_first(Rows(pair // max(self.chunks, 1), pair % max(self.chunks, 1), score)), found[0][1], depth, probes)

    def _gains(self, rows: Rows) -> Floats:
        """What each row adds to its chunk: nothing from beyond the fusion's depth."""
        out, fused = np.zeros(len(rows.question)), rows.place < self.fusion.depth
        head = rows.where(fused)
        out[fused] = 1.0 / (self.fusion.rrf_k + 1.0 + head.place) if self.fusion.method == "rrf" else scaled(head)
        return out

    def _beyond(self, better: Ints) -> Floats:
        """Scores of chunks beyond the fusion's depth in both lists: below all others, falling with the better place."""
        place = better.astype(np.float64)
        return 1.0 / (self.fusion.rrf_k + 1.0 + place) if self.fusion.method == "rrf" else self.fusion.depth - 1.0 - place
