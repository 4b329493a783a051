"""Near-duplicates take one place: chunks that say almost the same as a better one stand behind all that say something else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from harness.retrieval.around import Around, IndexAround
from harness.retrieval.base import Index, Queries, Shelf
from harness.retrieval.orders import Rows, as_ranking, behind, check_number, check_whole, read
from harness.retrieval.shingles import alike
from harness.types import Bools, Candidates, Ints, Probes, Ranking


@dataclass(frozen=True)
class CollapseRetriever(Around):
    """Reads down the ranking of `first` and keeps a chunk unless it is a near-duplicate of one that was kept above it; those that were not kept
    follow in their order after all candidates that were.

    Two chunks are near-duplicates where the shingles (runs of `width` words) that both hold are at least `share` of those that either holds: the
    resemblance of Broder (1997), exact, not estimated. It looks at `shelf.texts`, so windows that overlap far enough count. Scores of what is kept
    are those of `first`. Raises ConfigError for a share outside 0 to 1 or at 0, or a width under 1.
    """

    share: float = 0.9
    width: int = 5

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number("share", self.share, 0, 1, above=True)
        check_whole("width", self.width, 1)

    def build(self, shelf: Shelf) -> CollapseIndex:
        """The index of `first`, beside the texts."""
        return CollapseIndex(shelf.index(self.first), shelf.texts, self.share, self.width)


class CollapseIndex(IndexAround):
    """The index within, the texts of the chunks, and what is known of their likeness: chunks that some search has read are compared, once."""

    def __init__(self, first: Index, texts: Sequence[str], share: float, width: int) -> None:
        super().__init__(first)
        self._texts, self._share, self._width = texts, share, width
        self._compared: Ints = np.zeros(0, dtype=np.int64)
        self._near = alike([], share, width)

    def search(self, queries: Queries, candidates: Candidates, depth: int, probes: Probes) -> Ranking:
        """The first `depth` places. Reads as deep as it takes to keep that many, and compares only chunks that were read."""
        reach = depth + depth // 2
        while True:
            rows, found = read(self.first, queries, candidates, reach)
            kept = self._kept(rows)
            read_to = np.bincount(rows.question, minlength=len(found))
            through = read_to >= found
            enough = np.bincount(rows.question[kept], minlength=len(found)) >= depth
            if np.all(through | enough):
                break
            reach *= 2
        late = ~kept & through[rows.question]  # where a question was not read to its end, the kept fill its depth
        return as_ranking(behind(rows.where(kept), rows.where(late)), found, depth, probes)

    def _kept(self, rows: Rows) -> Bools:
        kind = self._kinds(rows.chunk)
        standing, first = np.unique(rows.question * (int(kind.max(initial=0)) + 1) + kind, return_index=True)
        kept = np.zeros(len(kind), dtype=bool)
        kept[first] = True  # of chunks with the same shingles, only the best can stay
        above, below = _edges(rows, kind, standing, first, self._near.one, self._near.other)
        for edges in np.split(np.arange(len(above)), np.flatnonzero(np.diff(rows.place[above])) + 1):
            kept[below[edges][kept[above[edges]]]] = False
        return kept

    def _kinds(self, chunk: Ints) -> Ints:
        """The kind of each of these chunks, after comparing those that are new with all others."""
        every = np.union1d(self._compared, chunk)
        if len(every) > len(self._compared):
            self._near = alike([self._texts[number] for number in every.tolist()], self._share, self._width)
            self._compared = every
        return self._near.kind[np.searchsorted(self._compared, chunk)]


def _edges(rows: Rows, kind: Ints, standing: Ints, first: Ints, one: Ints, other: Ints) -> tuple[Ints, Ints]:
    """Pairs of rows (above, below) of one question that are near-duplicates of different kinds, each the best of its kind; sorted by the place of
    the upper, so that whether it is kept is settled when its pairs are reached."""
    stride = int(kind.max(initial=0)) + 1
    low, high = np.searchsorted(one, kind[first], side="left"), np.searchsorted(one, kind[first], side="right")
    upper = np.repeat(first, high - low)
    skip = np.repeat(low - (np.cumsum(high - low) - (high - low)), high - low)
    wanted = rows.question[upper] * stride + other[skip + np.arange(len(upper))]
    found = np.minimum(np.searchsorted(standing, wanted), max(len(standing) - 1, 0))
    lower = first[found]
    pairs = (standing[found] == wanted) & (rows.place[upper] < rows.place[lower]) if len(wanted) else np.zeros(0, dtype=bool)
    upper, lower = upper[pairs], lower[pairs]
    order = np.argsort(rows.place[upper], kind="stable")
    return upper[order], lower[order]
