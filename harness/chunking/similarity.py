"""What the semantic strategies ask of an embedder, and similarities as whole numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
import numpy.typing as npt

from harness.errors import ConfigError
from harness.types import Embedded, Ints, Vectors

MILLION = 1_000_000


class Embeds(Protocol):
    """The one thing that a strategy needs of an embedder, which it is handed. The cell's embedder comes behind its cache."""

    def embed(self, texts: Sequence[str], kind: Literal["passage"]) -> Embedded:
        """Rows of unit length, one a text."""
        ...


@dataclass(frozen=True, slots=True)
class Compared:
    """Vectors of one document's texts, (n, dim) float32, and what they cost.

    `notes` counts tokens that the strategy had read beside its chunks: "strategy_tokens" those that the model reads of the texts, whether the vectors
    came from a cache or not, and "strategy_unread_tokens" those behind its limit. They are the same in every run. Zeros are left out.
    """

    vectors: Vectors
    notes: Mapping[str, int]


def check_embedder(embedder: object) -> None:
    """Raise ConfigError unless `embedder` can embed."""
    if not callable(getattr(embedder, "embed", None)):
        raise ConfigError("strategy.embedder", embedder, "an embedder: ${embedder} for the cell's own, or one named as in conf/embedder")


def embed_groups(embedder: Embeds, groups: Sequence[Sequence[str]]) -> list[Compared]:
    """The vectors of each document's texts, all from one call of the embedder; a document without texts costs nothing."""
    texts = [text for group in groups for text in group]
    if not texts:
        return [Compared(np.zeros((0, 1), np.float32), {}) for _ in groups]
    found = embedder.embed(texts, "passage")
    stops = np.cumsum([len(group) for group in groups])
    return [_part(found, int(stop) - len(group), int(stop)) for group, stop in zip(groups, stops, strict=True)]


def _part(found: Embedded, start: int, stop: int) -> Compared:
    unread = int(found.unread[start:stop].sum())
    counts = {"strategy_tokens": int(found.tokens[start:stop].sum()) - unread, "strategy_unread_tokens": unread}
    return Compared(found.vectors[start:stop], {name: count for name, count in counts.items() if count})


def millionths(similarity: npt.NDArray[Any]) -> Ints:
    """Similarities in millionths, so that sums are exact, equal texts tie, and the noise of float32 (about 1e-7) decides nothing."""
    whole: Ints = np.rint(similarity * MILLION).astype(np.int64)
    return whole
