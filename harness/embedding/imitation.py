"""A cheap embedder that reads of every chunk no more than a dear one would: what a grid is looked through with before it is measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from harness.embedding.base import Described, Embedder, InFront, Kind, LateEmbedded, Progress, reads_spans
from harness.embedding.likeness import Likeness
from harness.types import ChunkSet, Document, Embedded, Ints
from harness.units import measure_all
from harness.units.base import Unit


@dataclass(eq=False)
class Imitation(InFront):
    """`cheap` with the reach of `other`: chunks are cut where that one stops reading, by its `limit` and tokens, of which no weights are loaded.

    Chunks without a context or second text are taken from their documents; for a static model that is one pass of tokenising for a whole grid. Where
    a chunk's edge cuts through a token of `other`, that token counts whole. `whole`: nothing is cut, for one that reads documents in windows.
    """

    cheap: Embedder
    other: Described
    whole: bool = False

    @property
    def behind(self) -> Described:
        """The one that gives the vectors."""
        return self.cheap

    @property
    def limit(self) -> int:
        """That of the other."""
        return self.other.limit

    @property
    def unit(self) -> Unit:
        """That of the other."""
        return self.other.unit

    @property
    def contextual(self) -> bool:
        """Never."""
        return False

    def embed(self, texts: Sequence[str], kind: Kind, progress: Progress | None = None) -> Embedded:
        """Vectors of what would be read of `texts`. Questions are read whole."""
        cut = kind == "passage" and not self.whole
        return self.cheap.embed(Likeness(self.other).heads(texts)[0] if cut else texts, kind, progress)

    def embed_spans(self, documents: Sequence[Document], chunks: ChunkSet, progress: Progress | None = None) -> LateEmbedded:
        """Vectors of what would be read of `chunks`."""
        heads = chunks if self.whole else replace(chunks, end=self._ends(documents, chunks))
        if (reader := reads_spans(self.cheap, heads)) is not None:
            return reader.embed_spans(documents, heads, progress)
        found = self.cheap.embed(heads.indexed_texts(documents), "passage", progress)
        return LateEmbedded(found.vectors, found.tokens, found.unread, found.cached, int(found.tokens.sum()), 0)

    def _ends(self, documents: Sequence[Document], chunks: ChunkSet) -> Ints:
        """Where each chunk would be read to."""
        ends, numbers, like = chunks.end.copy(), np.unique(chunks.doc), Likeness(self.other)
        for number, ruler in zip(numbers.tolist(), measure_all(self.unit, [documents[number] for number in numbers.tolist()]), strict=True):
            low, high = np.searchsorted(chunks.doc, [number, number + 1])
            ends[low:high] = like.reach(ruler, chunks.start[low:high], chunks.end[low:high])[0]
        return ends
