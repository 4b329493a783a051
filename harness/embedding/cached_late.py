"""A late embedder behind its caches: token states of documents, and ordinary vectors of questions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from harness.embedding.base import Described, InFront, Kind, LateEmbedded, Outlook, Progress
from harness.embedding.cached import CachedEmbedder
from harness.embedding.late import LateEmbedder
from harness.embedding.spans import embed_spans_with, foreseen_spans, numbers_by_text
from harness.embedding.state_store import NoStates, StateStore
from harness.types import ChunkSet, Document, Embedded


@dataclass(eq=False)
class CachedLateEmbedder(InFront):
    """`late` with the states of documents that it has met before taken from `kept`, and ordinary vectors from `texts`.

    States reach the disk document by document, so that a process that dies loses the one in flight. Rows are those of `late` alone, bit for bit.
    """

    late: LateEmbedder
    texts: CachedEmbedder
    kept: StateStore = field(default_factory=NoStates)
    _counted: dict[str, int] = field(default_factory=dict, init=False, repr=False, compare=False)
    """Tokens that go through the model for a document, by the digest of its text."""

    @property
    def behind(self) -> Described:
        """What it stands in front of."""
        return self.late

    @property
    def contextual(self) -> bool:
        """Always: what stands around a chunk is in its vector."""
        return True

    def embed(self, texts: Sequence[str], kind: Kind, progress: Progress | None = None) -> Embedded:
        """Ordinary vectors of `texts`: questions have no document around them."""
        return self.texts.embed(texts, kind, progress)

    def embed_spans(self, documents: Sequence[Document], chunks: ChunkSet, progress: Progress | None = None) -> LateEmbedded:
        """Late vectors of `chunks`, one row each; see `embed_spans_with`."""
        return embed_spans_with(self.late, self.kept, self.texts, documents, chunks, progress)

    def outlook(self, texts: Sequence[str], kind: Kind) -> Outlook:
        """What `embed` would take now."""
        return self.texts.outlook(texts, kind)

    def outlook_spans(self, documents: Sequence[Document], chunks: ChunkSet) -> Outlook:
        """What `embed_spans` would take now: the tokens of the windows of each document. Tokenises a document once; loads no weights."""
        groups = numbers_by_text(documents, chunks)
        new = [key for key in groups if key not in self._counted]
        for key, found in zip(new, self.late.read([documents[groups[key][0]].text for key in new]), strict=True):
            self._counted[key] = int(self.late.windows(len(found.ids)).lengths.sum())
        return foreseen_spans(groups, [self._counted[key] for key in groups], [self.kept.holds(key) for key in groups], self.identity)
