"""The contract of an embedder. tests/contracts/test_embedders.py holds it for every YAML in conf/embedder.

- `embed` gives float32 rows of unit length, one a text, in the order asked; the same text gives the same vector whatever else is in the batch
  (cosine at least 0.999999);
- what the model does not read is counted, never silent;
- the prompts of queries and passages are applied where the model wants them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

from harness.types import ChunkSet, Document, Embedded
from harness.units.base import Unit

Kind = Literal["query", "passage"]
Progress = Callable[[int, int], None]
"""Called with (tokens done, tokens in all) as the work goes on."""


class Described(Protocol):
    """What is known of an embedder without any text."""

    @property
    def name(self) -> str:
        """What a person types: minilm, or a hub name or path."""
        ...

    @property
    def identity(self) -> str:
        """Digest of what decides a vector: weights, tokenizer, pooling, precision, prompts, maximum length. Part of a cell's key; names are not."""
        ...

    @property
    def dim(self) -> int:
        """Length of a vector."""
        ...

    @property
    def limit(self) -> int:
        """Content tokens that the model reads of a passage (its maximum less special tokens and prompt); what lies behind is not read."""
        ...

    @property
    def unit(self) -> Unit:
        """The embedder's own tokens as a unit."""
        ...


class InFront(ABC):
    """The description of an embedder that stands in front of another: that one's, where a subclass does not say otherwise."""

    @property
    @abstractmethod
    def behind(self) -> Described:
        """The other one."""

    @property
    def name(self) -> str:
        """What a person types."""
        return self.behind.name

    @property
    def identity(self) -> str:
        """That of the one behind: what only stands in front changes no vector."""
        return self.behind.identity

    @property
    def dim(self) -> int:
        """Length of a vector."""
        return self.behind.dim

    @property
    def limit(self) -> int:
        """Content tokens that are read of a passage."""
        return self.behind.limit

    @property
    def unit(self) -> Unit:
        """The tokens of the one behind."""
        return self.behind.unit


class Embedder(Described, Protocol):
    """Turns texts into vectors."""

    def embed(self, texts: Sequence[str], kind: Kind, progress: Progress | None = None) -> Embedded:
        """Vectors of `texts`. Raises PartError where the model gives NaN or a wrong shape."""
        ...


@dataclass(frozen=True, slots=True)
class LateEmbedded(Embedded):
    """Late vectors of chunks. `tokens` counts those under each chunk, and none is unread; `cached` says whether its document's states were kept.

    What it took is not a matter of the chunks: `worked` are the content tokens that went through the model now, those that windows share counted in
    each; `kept`, those that did not need to.
    """

    worked: int
    kept: int


@runtime_checkable
class EmbedsSpans(Protocol):
    """An embedder that reads whole documents and gives a vector for each span of them."""

    def embed_spans(self, documents: Sequence[Document], chunks: ChunkSet, progress: Progress | None = None) -> LateEmbedded:
        """Vectors of `chunks`, one row each. Raises ImpossibleCell where chunks have a context or a second text."""
        ...


def passed(embedded: Embedded) -> tuple[int, int]:
    """Content tokens that went through the model for `embedded`, and that did not need to because a cache had what came of them."""
    if isinstance(embedded, LateEmbedded):
        return embedded.worked, embedded.kept
    read = embedded.tokens - embedded.unread
    return int(read[~embedded.cached].sum()), int(read[embedded.cached].sum())
