"""The best division of all: the one whose chunks are most alike inside, found by dynamic programming."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from harness.chunking.base import MOST, Pieces, check_size_and_overlap, is_amount
from harness.chunking.recursive import RecursiveChunker
from harness.chunking.runs import oversize, reach_back, slices
from harness.chunking.similarity import MILLION, Compared, Embeds, check_embedder, embed_groups, millionths
from harness.errors import ConfigError
from harness.types import Document, Ints, Vectors
from harness.units.base import Ruler


@dataclass(frozen=True, slots=True)
class ClusterSemanticChunker:
    """Chunks of at most `size` units with the largest sum, over all pairs of pieces that share a chunk, of (cosine - mean cosine).

    Pieces are those of the recursive strategy at `piece` units (at most `size - overlap`). The mean is over all pairs of pieces of the document, so
    documents are cut independently of each other, and a short document is cut too, where its pieces are less alike than its average. Of equal sums,
    the one with the longer last chunk wins, then the longer one before it, and so on: pieces that are all alike fill chunks up to the limit.
    Runs measure at most `size - overlap`; a chunk then begins earlier by as many whole pieces as measure at most `overlap`.

    After ClusterSemanticChunker in Smith and Troynikov, "Evaluating Chunking Strategies for Retrieval" (Chroma, 2024). Kept: the reward and its
    mean. Not kept: their limit of size // 50 pieces (`most_pieces` sets one), which on pieces that come out shorter than 50 tokens stops well below
    `size`; their runs over the limit at the start of a text that has no reward yet; their pieces joined with spaces, which is no slice of the text.
    Pieces are embedded once for all sizes from `piece` up. What can't be divided is counted in the note "oversize", what the pieces cost in
    "strategy_tokens". `language`: see harness/chunking/languages.py.
    """

    size: int
    embedder: Embeds
    overlap: int = 0
    piece: int = 50
    most_pieces: int | None = None
    language: str = "en"

    def __post_init__(self) -> None:
        check_size_and_overlap(self.size, self.overlap)
        check_embedder(self.embedder)
        if not is_amount(self.piece, 1):
            raise ConfigError("strategy.piece", self.piece, f"a whole number of units, 1 or more, up to {MOST:,}")
        if self.most_pieces is not None and not is_amount(self.most_pieces, 1):
            raise ConfigError("strategy.most_pieces", self.most_pieces, f"a whole number, 1 or more, up to {MOST:,}, or null for as many as fit size")
        RecursiveChunker(self.size, language=self.language)  # refuses what it can't use

    def split(self, text: str, ruler: Ruler) -> Pieces:
        """The chunks of `text`."""
        return self.split_all([Document("", text)], [ruler])[0]

    def split_all(self, documents: Sequence[Document], rulers: Sequence[Ruler]) -> Sequence[Pieces]:
        """The chunks of every document; the pieces of all of them go to the embedder in one call."""
        cutter = RecursiveChunker(min(self.piece, self.size - self.overlap), language=self.language)
        pieces = [cutter.split(document.text, ruler) for document, ruler in zip(documents, rulers, strict=True)]
        groups = [slices(document.text, found.start, found.end) for document, found in zip(documents, pieces, strict=True)]
        compared = embed_groups(self.embedder, [group if len(group) > 1 else () for group in groups])
        return [self._join(*parts) for parts in zip(pieces, rulers, compared, strict=True)]

    def _join(self, pieces: Pieces, ruler: Ruler, compared: Compared) -> Pieces:
        if not len(pieces.start):
            return pieces
        floor, ceil = ruler.floor(pieces.start), ruler.ceil(pieces.end)
        earliest = np.arange(len(floor))
        if len(floor) > 1:
            fits = floor.searchsorted(ceil - (self.size - self.overlap), side="left")
            wide = earliest - (self.most_pieces or len(floor)) + 1
            earliest = np.minimum(np.maximum(fits, wide), earliest)
        begin, last = reach_back(best_runs(compared.vectors, earliest), floor, ceil, self.size, self.overlap)
        return Pieces(pieces.start[begin], pieces.end[last], {**compared.notes, **oversize(ceil[last] - floor[begin], self.size)})


def best_runs(vectors: Vectors, earliest: Ints) -> Ints:
    """The first pieces of the runs with the largest sum of (similarity - mean similarity) over pairs inside; similarities count in millionths.

    `vectors`: (n, dim), of unit length. `earliest[i]` (never falls, at most i): the first piece that may share a run with piece i behind it. Time is
    n times the longest run, memory that of one row of it: the reward of a run that ends at piece i is that of the run from the same piece to
    i - 1, and the similarities of i to its pieces. Of equal sums, the longer last run wins.
    """
    count = len(earliest)
    best, first = np.zeros(count + 1, dtype=np.int64), np.zeros(count, dtype=np.int64)
    mean = mean_similarity(vectors)
    reward = np.zeros(0, dtype=np.int64)  # of the runs that end at the piece before, by their first piece from `low` on
    low = 0
    for piece, begin in enumerate(earliest.tolist()):
        above = millionths(vectors[begin:piece] @ vectors[piece]) - mean if begin < piece else reward[:0]
        reward = np.append(reward[begin - low :] + above[::-1].cumsum()[::-1], 0)
        total = best[begin : piece + 1] + reward
        choice = int(total.argmax())
        best[piece + 1], first[piece] = total[choice], begin + choice
        low = begin
    return _followed_back(first)


def mean_similarity(vectors: Vectors) -> int:
    """The mean over all pairs of different rows, in millionths: from |sum of rows|^2, without the pairs. 0 for fewer than two rows."""
    count = len(vectors)
    if count < 2:
        return 0
    whole = vectors.sum(axis=0, dtype=np.float64)
    own = np.einsum("ij,ij->", vectors, vectors, dtype=np.float64)
    return round(float(whole @ whole - own) / (count * (count - 1)) * MILLION)


def _followed_back(first: Ints) -> Ints:
    """The runs' first pieces, from the first piece of the best run that ends at each piece."""
    found: list[int] = []
    piece = len(first) - 1
    while piece >= 0:
        found.append(int(first[piece]))
        piece = found[-1] - 1
    return np.array(found[::-1], dtype=np.int64)
