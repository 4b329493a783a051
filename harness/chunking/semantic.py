"""Cut where the meaning turns: between neighbouring sentences whose vectors are far apart."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from harness.chunking.base import Pieces, check_size_and_overlap, is_whole
from harness.chunking.layout import Layout, Level
from harness.chunking.overlap import resolve_overlap
from harness.chunking.packing import pack, trimmed_ends
from harness.chunking.runs import INSIDE, Limits, cut_large, join_small, oversize, reach_back, slices
from harness.chunking.sentences import sentence_starts
from harness.chunking.similarity import MILLION, Compared, Embeds, check_embedder, embed_groups, millionths
from harness.errors import ConfigError, ImpossibleCell
from harness.types import Bools, Document, Ints, Vectors
from harness.units.base import Ruler

Threshold = Literal["percentile", "deviation", "gradient", "absolute"]
_DEFAULT_AMOUNT = {"percentile": 90.0, "deviation": 1.0, "gradient": 90.0, "absolute": 0.5}
_RANGE = {"percentile": (0.0, 100.0), "deviation": (0.0, math.inf), "gradient": (0.0, 100.0), "absolute": (-1.0, 1.0)}
_MEANING = {
    "percentile": "a percentile of the document's distances, 0 to 100",
    "deviation": "standard deviations above the document's mean distance, 0 or more",
    "gradient": "a percentile of the gradient of the document's distances, 0 to 100",
    "absolute": "a cosine, -1 to 1",
}


@dataclass(frozen=True, slots=True)
class SemanticChunker:
    """Sentences, cut apart where the distance (1 - cosine) between neighbours is large, and never more than `size` units.

    A sentence is compared by the vector of its window: itself with `window` sentences on both sides, as one slice of the text. With n sentences
    there are n - 1 distances d, kept in millionths, and the cuts are where (`amount` null: the number in brackets)

    - percentile: d > the `amount` percentile (90) of this document's distances, linear between ranks;
    - deviation: d > mean + `amount` (1) x standard deviation of this document's distances (over n - 1);
    - gradient: the gradient of d (half the difference of its two neighbours; at the ends the plain difference) > its `amount` percentile (90), so
      where distances rise fastest, which may be a sentence before they peak; no cut where there are fewer than two distances;
    - absolute: the cosine < `amount` (0.5).

    Equal to the threshold is no cut, so sentences that are all alike stay together. Then runs over `size - overlap` are cut at their largest inner
    distance until they fit (ties: nearest to the middle); a single sentence that is too large is split at line ends, else words, else characters.
    Runs under `smallest` (units, or a share of `size` such as 10%) are joined to the nearer neighbour where that fits. A chunk then begins earlier
    by as many whole sentences, or parts of a large one, as measure at most `overlap`. What can't be divided is counted in the note "oversize",
    and what the windows cost in "strategy_tokens".

    Windows do not depend on threshold, sizes or overlap, so behind a cache they are embedded once for all of them. Cuts by distance after Greg
    Kamradt, "5 Levels of Text Splitting" (2023); limits of size are our own. `language` is an ISO 639-1 code for the segmenter.
    """

    size: int
    embedder: Embeds
    overlap: int = 0
    threshold: Threshold = "percentile"
    amount: float | None = None
    window: int = 1
    smallest: int | str = 0
    language: str = "en"

    def __post_init__(self) -> None:
        check_size_and_overlap(self.size, self.overlap)
        check_embedder(self.embedder)
        if not isinstance(self.language, str) or not self.language:
            raise ConfigError("strategy.language", self.language, "an ISO 639-1 code such as en, ar or ja")
        if self.threshold not in _RANGE:
            raise ConfigError("strategy.threshold", self.threshold, f"one of {', '.join(_RANGE)}")
        object.__setattr__(self, "amount", _amount(self.threshold, self.amount))
        if not is_whole(self.window) or self.window < 0:
            raise ConfigError("strategy.window", self.window, "a whole number of sentences on each side, 0 or more")
        object.__setattr__(self, "smallest", _smallest(self.smallest, self.size))

    def split(self, text: str, ruler: Ruler) -> Pieces:
        """The chunks of `text`."""
        return self.split_all([Document("", text)], [ruler])[0]

    def split_all(self, documents: Sequence[Document], rulers: Sequence[Ruler]) -> Sequence[Pieces]:
        """The chunks of every document; the windows of all of them go to the embedder in one call."""
        scripts = [_Script.of(document.text, ruler, self.language) for document, ruler in zip(documents, rulers, strict=True)]
        groups = [self._windows(document.text, script) for document, script in zip(documents, scripts, strict=True)]
        found = embed_groups(self.embedder, groups)
        return [self._cut(script, compared) for script, compared in zip(scripts, found, strict=True)]

    def _windows(self, text: str, script: _Script) -> Sequence[str]:
        """One text a sentence; none where there is nothing to compare."""
        number = np.arange(len(script.start))
        if len(number) < 2:
            return ()
        first, last = np.maximum(number - self.window, 0), np.minimum(number + self.window, len(number) - 1)
        return slices(text, script.start[first], script.end[last])

    def _cut(self, script: _Script, compared: Compared) -> Pieces:
        if not len(script.start):
            return Pieces(script.start, script.end)
        distance = _distances(compared.vectors)
        first = script.start[np.concatenate(([True], self._turns(distance)))]
        limits = Limits(self.size - self.overlap, _smallest(self.smallest, self.size))
        start, end, distance = script.parts(distance, limits.most)
        floor, ceil = script.ruler.floor(start), script.ruler.ceil(end)
        run = cut_large(start.searchsorted(first), floor, ceil, distance, limits)
        run = join_small(run, floor, ceil, distance, limits)
        begin, last = reach_back(run, floor, ceil, self.size, self.overlap)
        return Pieces(start[begin], end[last], {**compared.notes, **oversize(ceil[last] - floor[begin], self.size)})

    def _turns(self, distance: Ints) -> Bools:
        """After which sentences the meaning turns; one less than there are sentences."""
        if len(distance) < (2 if self.threshold == "gradient" else 1):
            return np.zeros(len(distance), dtype=bool)
        amount = _amount(self.threshold, self.amount)
        value = np.asarray(np.gradient(distance)) if self.threshold == "gradient" else distance
        if self.threshold == "absolute":
            limit = float(round((1 - amount) * MILLION))
        elif self.threshold == "deviation":
            limit = float(value.mean() + amount * value.std())
        else:
            limit = float(np.percentile(value, amount))
        turns: Bools = value > limit
        return turns


@dataclass(frozen=True, slots=True)
class _Script:
    """The sentences of one text, trimmed."""

    start: Ints
    end: Ints
    layout: Layout
    ruler: Ruler

    @classmethod
    def of(cls, text: str, ruler: Ruler, language: str) -> _Script:
        layout = Layout.of(text)
        if not len(layout.start):
            return cls(layout.start, layout.end, layout, ruler)
        start = np.concatenate((layout.start[:1], Level.of(sentence_starts(text, language), layout, ruler).position))
        return cls(start, trimmed_ends(start, layout.length, layout), layout, ruler)

    def parts(self, distance: Ints, most: int) -> tuple[Ints, Ints, Ints]:
        """Starts, ends and distances of the sentences, each one over `most` units replaced by parts that are not, INSIDE apart."""
        long = np.flatnonzero(self.ruler.size(self.start, self.end) > most)
        if not len(long):
            return self.start, self.end, distance
        places = (self.layout.start[self.layout.line_ends > 0], self.layout.start, self.ruler.cuts)
        levels = [Level.of(position, self.layout, self.ruler) for position in places]
        parts = [pack(levels, int(self.start[row]), int(self.end[row]), most, self.ruler) for row in long]
        start = np.union1d(self.start, np.concatenate(parts)).astype(np.int64)
        apart = np.full(len(start) - 1, INSIDE, dtype=np.int64)
        apart[start.searchsorted(self.start[1:]) - 1] = distance
        return start, trimmed_ends(start, self.layout.length, self.layout), apart


def _distances(vectors: Vectors) -> Ints:
    """1 - cosine of each row and the next, in millionths, 0 to 2 million."""
    if len(vectors) < 2:
        return np.zeros(0, dtype=np.int64)
    return np.maximum(MILLION - millionths(np.einsum("ij,ij->i", vectors[:-1], vectors[1:])), 0)


def _amount(threshold: Threshold, amount: object) -> float:
    low, high = _RANGE[threshold]
    if amount is None:
        return _DEFAULT_AMOUNT[threshold]
    if isinstance(amount, bool) or not isinstance(amount, int | float) or not low <= amount <= high or math.isinf(amount):
        raise ConfigError("strategy.amount", amount, f"for threshold={threshold}: {_MEANING[threshold]}; null: {_DEFAULT_AMOUNT[threshold]:g}")
    return float(amount)


def _smallest(value: int | str, size: int) -> int:
    try:
        units = resolve_overlap(value, size)
    except ConfigError as error:
        raise ConfigError("strategy.smallest", value, "0 or more units, or a share of size such as 10%") from error
    if units > size:
        raise ImpossibleCell("strategy.smallest", value, f"must not be larger than size={size}")
    return units
