"""A late embedder behind its caches: token states of documents, and ordinary vectors of questions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from harness.embedding.base import Kind, LateEmbedded, Progress
from harness.embedding.cached import CachedEmbedder
from harness.embedding.late import LateEmbedder
from harness.embedding.spans import embed_spans_with
from harness.embedding.states import NoStates, StateStore
from harness.types import ChunkSet, Document, Embedded
from harness.units.base import Unit


@dataclass(eq=False)
class CachedLateEmbedder:
    """`late` with the states of documents that it has met before taken from `kept`, and ordinary vectors from `texts`.

    States reach the disk document by document, so that a process that dies loses the one in flight. Rows are those of `late` alone, bit for bit.
    """

    late: LateEmbedder
    texts: CachedEmbedder
    kept: StateStore = field(default_factory=NoStates)

    @property
    def name(self) -> str:
        """What a person types."""
        return self.late.name

    @property
    def identity(self) -> str:
        """That of `late`: a cache changes no vector."""
        return self.late.identity

    @property
    def dim(self) -> int:
        """Length of a vector."""
        return self.late.dim

    @property
    def limit(self) -> int:
        """None: all of a chunk is read."""
        return self.late.limit

    @property
    def unit(self) -> Unit:
        """The model's own tokens."""
        return self.late.unit

    def embed(self, texts: Sequence[str], kind: Kind, progress: Progress | None = None) -> Embedded:
        """Ordinary vectors of `texts`: questions have no document around them."""
        return self.texts.embed(texts, kind, progress)

    def embed_spans(self, documents: Sequence[Document], chunks: ChunkSet, progress: Progress | None = None) -> LateEmbedded:
        """Late vectors of `chunks`, one row each; see `embed_spans_with`."""
        return embed_spans_with(self.late, self.kept, self.texts, documents, chunks, progress)
