"""Maximal marginal relevance: what is relevant, and not what has been read already (Carbonell and Goldstein 1998)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from harness.retrieval.around import Around, IndexAround
from harness.retrieval.base import Queries, Shelf
from harness.retrieval.orders import Rows, as_ranking, behind, check_number, check_whole, scaled
from harness.types import Candidates, Floats, Ints, Probes, Ranking, Vectors

_BLOCK_BYTES = 2**26
"""Vectors, or cosines between them, gathered at once."""
_ROWS = 1 << 16
_NEARLY = 1e-6


@dataclass(frozen=True)
class MmrRetriever(Around):
    """Orders the first `depth` places of `first` anew: next comes the chunk with the highest

        weight * relevance - (1 - weight) * (its highest cosine with a chunk that already stands above it; 0 where there is none above 0)

    where relevance is the score that `first` gave, made 0 to 1 over those places (min-max). So weight 1 leaves the order of `first`, and 0 looks only
    at what is new. The cosine is that of the chunks' own vectors: of each chunk's first entry, which is the one of its whole text. Ties keep chunk
    order. The best place keeps the score that `first` gave its best, and the others fall from it as the values above do. The rest of the ranking
    follows as it was. Raises ConfigError for a weight outside 0 to 1, or a depth under 1.
    """

    weight: float = 0.7
    depth: int = 100

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number("weight", self.weight, 0, 1)
        check_whole("depth", self.depth, 1)

    @property
    def reads_vectors(self) -> bool:
        """Always, its own likeness of chunks being that of their vectors."""
        return True

    def build(self, shelf: Shelf) -> MmrIndex:
        """The index of `first`, beside the shelf's vectors."""
        unit = shelf.once("unit rows", lambda: _are_unit(shelf.vectors))
        return MmrIndex(shelf.index(self.first), shelf.vectors, first_entries(shelf), float(self.weight), self.depth, unit)


def first_entries(shelf: Shelf) -> Ints:
    """The lowest entry of every chunk."""
    if shelf.entry is None:
        return np.arange(len(shelf.doc), dtype=np.int64)
    out = np.zeros(len(shelf.doc), dtype=np.int64)
    out[shelf.entry[::-1]] = np.arange(len(shelf.entry))[::-1]
    return out


@dataclass(eq=False)
class MmrIndex(IndexAround):
    """The index within, the vectors, which of them is each chunk's own, the parameters, and whether the vectors are of unit length."""

    vectors: Vectors
    own: Ints
    weight: float
    depth: int
    unit: bool

    def search(self, queries: Queries, candidates: Candidates, depth: int, probes: Probes) -> Ranking:
        """The first `depth` places. Costs, beside the inner search, questions x inner depth^2 x dim, in blocks of about 64 MB of vectors and of
        cosines (of one question, where those are more)."""
        head, tail, found = self.parted(queries, candidates, depth, self.depth)
        return as_ranking(behind(self._diverse(head), tail), found, depth, probes)

    def _diverse(self, head: Rows) -> Rows:
        question, begin, counts = np.unique(head.question, return_index=True, return_counts=True)
        width = int(counts.max(initial=0))
        order, value = np.zeros(len(head.question), dtype=np.int64), np.zeros(len(head.question))
        relevance = scaled(head)
        step = max(_BLOCK_BYTES // max(4 * width * max(width, self.vectors.shape[1]), 1), 1)
        for start in range(0, len(question), step):
            block = slice(start, start + step)
            self._pick(head, relevance, begin[block], counts[block], order, value)
        picked = head.where(order)
        top = head.score[head.place == 0]
        lead = value[head.place == 0]
        run = np.cumsum(head.place == 0) - 1
        return picked._replace(score=top[run] + (value - lead[run]))

    def _pick(self, head: Rows, relevance: Floats, begin: Ints, counts: Ints, order: Ints, value: Floats) -> None:
        """Fill `order` (rows of `head`) and `value` for the questions whose rows begin at `begin`. Columns stand in chunk order, so ties do too."""
        width = int(counts.max(initial=0))
        held = np.arange(width) < counts[:, None]
        row = np.where(held, begin[:, None] + np.arange(width), 0)
        chunk = np.where(held, head.chunk[row], np.iinfo(np.int64).max)
        row = np.take_along_axis(row, np.argsort(chunk, axis=1, kind="stable"), axis=1)
        vectors = self.vectors[self.own[head.chunk[row]]]
        vectors = vectors if self.unit else _unit(vectors)
        alike = _products(vectors)
        gain, closest = self.weight * relevance[row], np.zeros(row.shape)
        every, left = np.arange(len(row)), held.copy()
        for place in range(width):
            worth = np.where(left, gain - (1.0 - self.weight) * closest, -np.inf)
            best = np.argmax(worth, axis=1)
            some = every[counts > place]
            order[begin[some] + place], value[begin[some] + place] = row[some, best[some]], worth[some, best[some]]
            left[every, best] = False
            closest = np.maximum(closest, alike[every, best])


def _products(vectors: Vectors) -> Vectors:
    """Inner products (questions, width, width) of the rows of each question with one another. NumPy takes ten times as long for such small ones."""
    import torch

    rows = torch.from_numpy(vectors)
    found: Vectors = torch.bmm(rows, rows.transpose(1, 2)).numpy()
    return found


def _unit(vectors: Vectors) -> Vectors:
    length = np.linalg.norm(vectors, axis=-1, keepdims=True)
    out: Vectors = np.divide(vectors, length, out=np.zeros_like(vectors), where=length > 0)
    return out


def _are_unit(vectors: Vectors) -> bool:
    """To within what float32 can tell. Costs one reading of the vectors."""
    return all(
        bool((np.abs(np.einsum("ij,ij->i", block, block) - 1) < _NEARLY).all())
        for block in (vectors[start : start + _ROWS] for start in range(0, len(vectors), _ROWS))
    )
