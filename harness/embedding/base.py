"""The contract of an embedder. tests/contracts/test_embedders.py holds it for every YAML in conf/embedder.

- `embed` gives float32 rows of unit length, one a text, in the order asked; the same text gives the same vector whatever else is in the batch
  (cosine at least 0.999999);
- what the model does not read is counted, never silent;
- the prompts of queries and passages are applied where the model wants them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, Protocol

from harness.types import Embedded
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


class Embedder(Described, Protocol):
    """Turns texts into vectors."""

    def embed(self, texts: Sequence[str], kind: Kind, progress: Progress | None = None) -> Embedded:
        """Vectors of `texts`. Raises PartError where the model gives NaN or a wrong shape."""
        ...
