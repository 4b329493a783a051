"""Cut where the meaning turns: between neighbouring sentences whose vectors are far apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from harness.chunking.base import MOST, Pieces, check_size_and_overlap, is_amount
from harness.chunking.languages import check_language, with_language
from harness.chunking.long_sentences import with_parts
from harness.chunking.overlap import resolve_overlap
from harness.chunking.runs import INSIDE, Limits, cut_large, join_small, oversize, reach_back, slices
from harness.chunking.sentences import Sentences
from harness.chunking.similarity import MILLION, Compared, Embeds, check_embedder, embed_groups, millionths
from harness.errors import ConfigError, ImpossibleCell
from harness.types import Bools, Document, Ints, Vectors
from harness.units.base import Ruler

Threshold = Literal["percentile", "deviation", "gradient", "absolute"]
_DEFAULT_AMOUNT = {"percentile": 90.0, "deviation": 1.0, "gradient": 90.0, "absolute": 0.5}
_RANGE = {"percentile": (0.0, 100.0), "deviation": (0.0, 1e6), "gradient": (0.0, 100.0), "absolute": (-1.0, 1.0)}
_MEANING = {
    "percentile": "a percentile of the document's distances, 0 to 100",
    "deviation": "standard deviations above the document's mean distance, 0 to a million",
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
    Kamradt, "5 Levels of Text Splitting" (2023); limits of size are our own. `language`: see harness/chunking/languages.py.
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
        check_language(self.language)
        if not isinstance(self.threshold, str) or self.threshold not in _RANGE:
            raise ConfigError("strategy.threshold", self.threshold, f"one of {', '.join(_RANGE)}")
        object.__setattr__(self, "amount", _amount(self.threshold, self.amount))
        if not is_amount(self.window):
            raise ConfigError("strategy.window", self.window, f"a whole number of sentences on each side, 0 or more, up to {MOST:,}")
        object.__setattr__(self, "smallest", _smallest(self.smallest, self.size))

    def split(self, text: str, ruler: Ruler) -> Pieces:
        """The chunks of `text`."""
        return self.split_all([Document("", text)], [ruler])[0]

    def split_all(self, documents: Sequence[Document], rulers: Sequence[Ruler]) -> Sequence[Pieces]:
        """The chunks of every document; the windows of all of them go to the embedder in one call."""
        texts = [document.text for document in documents]
        sentences = Sentences.of(texts, rulers, self.language)
        parts = with_parts(texts, rulers, sentences, self.size - self.overlap)
        groups = [self._windows(text, own) for text, own in zip(texts, sentences.each(), strict=True)]
        found = embed_groups(self.embedder, groups)
        return with_language([self._cut(*given) for given in zip(sentences.each(), parts.each(), found, strict=True)], self.language)

    def _windows(self, text: str, sentences: Sentences) -> Sequence[str]:
        """One text a sentence; none where there is nothing to compare."""
        number = np.arange(len(sentences.start))
        if len(number) < 2:
            return ()
        first, last = np.maximum(number - self.window, 0), np.minimum(number + self.window, len(number) - 1)
        return slices(text, sentences.start[first], sentences.end[last])

    def _cut(self, sentences: Sentences, parts: Sentences, compared: Compared) -> Pieces:
        if not len(sentences.start):
            return Pieces(sentences.start, sentences.end)
        between = _distances(compared.vectors)
        first = sentences.start[np.concatenate(([True], self._turns(between)))]
        limits = Limits(self.size - self.overlap, _smallest(self.smallest, self.size))
        distance = np.full(len(parts.start) - 1, INSIDE, dtype=np.int64)
        distance[parts.start.searchsorted(sentences.start[1:]) - 1] = between
        run = cut_large(parts.start.searchsorted(first), parts.floor, parts.ceil, distance, limits)
        run = join_small(run, parts.floor, parts.ceil, distance, limits)
        begin, last = reach_back(run, parts.floor, parts.ceil, self.size, self.overlap)
        sizes = parts.ceil[last] - parts.floor[begin]
        return Pieces(parts.start[begin], parts.end[last], {**compared.notes, **oversize(sizes, self.size)})

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


def _distances(vectors: Vectors) -> Ints:
    """1 - cosine of each row and the next, in millionths, 0 to 2 million."""
    if len(vectors) < 2:
        return np.zeros(0, dtype=np.int64)
    return np.maximum(MILLION - millionths(np.einsum("ij,ij->i", vectors[:-1], vectors[1:])), 0)


def _amount(threshold: Threshold, amount: object) -> float:
    low, high = _RANGE[threshold]
    if amount is None:
        return _DEFAULT_AMOUNT[threshold]
    if isinstance(amount, bool) or not isinstance(amount, int | float) or not low <= amount <= high:
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
