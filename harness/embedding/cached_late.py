"""A late embedder behind its caches: token states of documents, and ordinary vectors of questions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from harness.embedding.base import Described, InFront, Kind, LateEmbedded, Progress
from harness.embedding.cached import CachedEmbedder
from harness.embedding.late import LateEmbedder
from harness.embedding.spans import embed_spans_with
from harness.embedding.states import NoStates, StateStore
from harness.types import ChunkSet, Document, Embedded


@dataclass(eq=False)
class CachedLateEmbedder(InFront):
    """`late` with the states of documents that it has met before taken from `kept`, and ordinary vectors from `texts`.

    States reach the disk document by document, so that a process that dies loses the one in flight. Rows are those of `late` alone, bit for bit.
    """

    late: LateEmbedder
    texts: CachedEmbedder
    kept: StateStore = field(default_factory=NoStates)

    @property
    def behind(self) -> Described:
        """What it stands in front of."""
        return self.late

    def embed(self, texts: Sequence[str], kind: Kind, progress: Progress | None = None) -> Embedded:
        """Ordinary vectors of `texts`: questions have no document around them."""
        return self.texts.embed(texts, kind, progress)

    def embed_spans(self, documents: Sequence[Document], chunks: ChunkSet, progress: Progress | None = None) -> LateEmbedded:
        """Late vectors of `chunks`, one row each; see `embed_spans_with`."""
        return embed_spans_with(self.late, self.kept, self.texts, documents, chunks, progress)
