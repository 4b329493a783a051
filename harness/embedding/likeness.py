"""What another embedder would read of a text, from its tokenizer alone: its limit, its tokens, no weights."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from harness.embedding.base import Described
from harness.embedding.pooling import tokens_under
from harness.embedding.sentence_transformer import SentenceTransformerEmbedder, minilm_package
from harness.embedding.tokens import DocumentTokens
from harness.types import Ints
from harness.units.base import Unit

_KEPT_TOKENS = 20_000_000


@dataclass(eq=False)
class Likeness:
    """The reach of `other`."""

    other: SentenceTransformerEmbedder
    _kept: dict[bytes, DocumentTokens] = field(default_factory=dict, init=False, repr=False)
    _kept_tokens: int = field(default=0, init=False, repr=False)

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
        return self.described.limit

    @property
    def unit(self) -> Unit:
        """Its tokens."""
        return self.described.unit

    @property
    def described(self) -> Described:
        """The other embedder."""
        return self.other

    def heads(self, texts: Sequence[str]) -> tuple[list[str], Ints, Ints]:
        """What it would read of each text, how many tokens the text has, and how many of them it would not read."""
        tokens = list(self.other.reader.documents(texts))
        count = np.array([len(found.ids) for found in tokens], dtype=np.int64)
        ends = [int(found.end[self.limit - 1]) if len(found.ids) > self.limit else None for found in tokens]
        heads = [text[:end] for text, end in zip(texts, ends, strict=True)]
        return heads, count, np.maximum(count - self.limit, 0)

    def reach(self, text: str, first: Ints, last: Ints) -> tuple[Ints, Ints, Ints]:
        """For each span of `text`: where it would stop reading, how many tokens are under the span, and how many of them it would not read."""
        tokens = self._tokens(text)
        a, b = tokens_under(tokens.start, tokens.end, first, last)
        unread = np.maximum(b - a - self.limit, 0)
        cut = unread > 0
        stop = last.copy()
        stop[cut] = tokens.end[(b - unread)[cut] - 1]
        return stop, b - a, unread

    def _tokens(self, text: str) -> DocumentTokens:
        key = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        if key in self._kept:
            return self._kept[key]
        (found,) = self.other.reader.documents([text])
        if self._kept_tokens + len(found.ids) <= _KEPT_TOKENS:
            self._kept[key] = found
            self._kept_tokens += len(found.ids)
        return found
