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

from harness.types import Bools, ChunkSet, Document, Embedded, Ints
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

    @property
    def contextual(self) -> bool:
        """Whether what stands around a chunk moves its vector, so that nothing can be put before or beside it. Where not, chunks with a context or a
        second text are embedded as texts."""
        ...

    def embed_spans(self, documents: Sequence[Document], chunks: ChunkSet, progress: Progress | None = None) -> LateEmbedded:
        """Vectors of `chunks`, one row each. Raises ImpossibleCell where chunks have a context or a second text."""
        ...


@runtime_checkable
class StoresVectors(Protocol):
    """An embedder whose vectors are kept in another way than as float32."""

    @property
    def vector_bytes(self) -> float:
        """What one stored vector takes."""
        ...


def vector_bytes(embedder: Embedder) -> float | None:
    """What one of its vectors takes as it is stored; None: 4 bytes a number."""
    return embedder.vector_bytes if isinstance(embedder, StoresVectors) else None


@runtime_checkable
class HasOrigin(Protocol):
    """An embedder that knows where its weights came from."""

    @property
    def origin(self) -> dict[str, str]:
        """`digest` of the weights, and `revision` where a hub has one."""
        ...


def origin(embedder: Described) -> dict[str, str]:
    """Where the weights behind `embedder` came from; empty where there are none."""
    while isinstance(embedder, InFront):
        embedder = embedder.behind
    return embedder.origin if isinstance(embedder, HasOrigin) else {}


def reads_spans(embedder: Embedder, chunks: ChunkSet) -> EmbedsSpans | None:
    """`embedder` where it takes the vectors of `chunks` from their documents, else None: then they are embedded as texts."""
    if not isinstance(embedder, EmbedsSpans):
        return None
    return embedder if embedder.contextual or (chunks.context is None and chunks.also is None) else None


@runtime_checkable
class AsksForDim(Protocol):
    """An embedder whose `dim` costs a request, unless `known_dim` has it from elsewhere: the cache in front."""

    known_dim: Callable[[], int | None]


@dataclass(frozen=True, slots=True)
class Outlook:
    """What embedding some texts would take, known from tokenizers alone.

    Of what a model would read it has the distinct readings, in the order in which they are met: `keys[i]` names one, `first[i]` is the text in which
    it is met (of spans: the document), `tokens[i]` its content tokens there, and `lengths[i]` all that go through the model, special ones and prompt
    included; `held[i]` says whether a cache has what comes of it. `total`: content tokens that are read of all the texts, repeats included. `store`
    names what keeps it for later calls; None: nothing, every call pays anew.
    """

    keys: tuple[bytes, ...]
    first: Ints
    tokens: Ints
    lengths: Ints
    held: Bools
    total: int
    store: str | None


@runtime_checkable
class Foretells(Protocol):
    """An embedder that says what a call would take, without making it. Loads no weights and reads no vector."""

    def outlook(self, texts: Sequence[str], kind: Kind) -> Outlook:
        """What `embed` would take."""
        ...


@runtime_checkable
class ForetellsSpans(Protocol):
    """The same of an embedder that reads whole documents."""

    def outlook_spans(self, documents: Sequence[Document], chunks: ChunkSet) -> Outlook:
        """What `embed_spans` would take: a reading is a document, `first` its number."""
        ...


def foretelling(embedder: Described) -> Foretells | None:
    """What foretells the cost of `embedder`: itself, or the one that it stands in front of; None where that is not known."""
    while not isinstance(embedder, Foretells) and isinstance(embedder, InFront):
        embedder = embedder.behind
    return embedder if isinstance(embedder, Foretells) else None


@runtime_checkable
class Priced(Protocol):
    """An embedder behind a server that counts the tokens it reads, and may ask money for them."""

    @property
    def price_per_million_tokens(self) -> float | None:
        """US dollars; None: not known, or nothing."""
        ...

    def bill(self) -> int:
        """Tokens that the server counted since this was last asked."""
        ...


def priced(embedder: Described) -> Priced | None:
    """The priced embedder that `embedder` is, or stands in front of."""
    while isinstance(embedder, InFront):
        embedder = embedder.behind
    return embedder if isinstance(embedder, Priced) else None


def spent(embedder: Described) -> dict[str, float]:
    """paid_tokens, and cost_usd where the price is known, since this was last asked; nothing for embedders that cost nothing. What a cell that failed
    has paid is told with the next one."""
    asked = priced(embedder)
    if asked is None:
        return {}
    tokens, price = float(asked.bill()), asked.price_per_million_tokens
    return {"paid_tokens": tokens} if price is None else {"paid_tokens": tokens, "cost_usd": tokens * price / 1e6}


def passed(embedded: Embedded) -> tuple[int, int]:
    """Content tokens that went through the model for `embedded`, and that did not need to because a cache had what came of them."""
    if isinstance(embedded, LateEmbedded):
        return embedded.worked, embedded.kept
    read = embedded.tokens - embedded.unread
    return int(read[~embedded.cached].sum()), int(read[embedded.cached].sum())
