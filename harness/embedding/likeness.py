"""What another embedder would read of a text, from its tokenizer alone: its limit, its tokens, no weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from harness.embedding.base import Described
from harness.embedding.sentence_transformer import SentenceTransformerEmbedder, minilm_package
from harness.types import Ints
from harness.units.base import Ruler, Unit


@dataclass(frozen=True)
class Likeness:
    """The reach of `other`. Text is measured in its tokens by rulers, which cells share. A token that an edge cuts through counts whole."""

    other: Described

    @classmethod
    def named(cls, name: str) -> Likeness:
        """That of minilm, or of a sentence-transformers model by path, package or hub name. Raises ModelError where it can't be had."""
        return cls(minilm_package() if name == "minilm" else SentenceTransformerEmbedder(name))

    @property
    def identity(self) -> str:
        """Tells reaches apart."""
        return f"{self.limit} {self.unit.identity}"

    @property
    def limit(self) -> int:
        """Content tokens that it reads."""
        return self.other.limit

    @property
    def unit(self) -> Unit:
        """Its tokens."""
        return self.other.unit

    def heads(self, texts: Sequence[str]) -> tuple[list[str], Ints, Ints]:
        """What it would read of each text, how many tokens the text has, and how many of them it would not read."""
        rulers = [self.unit.measure(text) for text in texts]
        count = np.array([ruler.total for ruler in rulers], dtype=np.int64)
        return [text[: ruler.reach(0, self.limit)] for text, ruler in zip(texts, rulers, strict=True)], count, self._unread(count)

    def reach(self, ruler: Ruler, first: Ints, last: Ints) -> tuple[Ints, Ints, Ints]:
        """For each span of a text with this ruler: where it would stop reading, how many tokens are under the span, and how many of them it would not
        read."""
        count = ruler.size(first, last)
        cut = ruler.before.searchsorted(ruler.floor(first) + self.limit, side="right") - 1
        return np.maximum(np.minimum(last, ruler.cuts[cut]), first), count, self._unread(count)

    def _unread(self, count: Ints) -> Ints:
        unread: Ints = np.maximum(count - self.limit, 0)
        return unread
