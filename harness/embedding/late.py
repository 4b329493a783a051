"""Late chunking: a document goes through the model once, and a chunk's vector is the mean of the token states under its span.

So a chunk's vector knows its neighbourhood, and one pass serves every strategy, size and overlap. It is an option beside ordinary vectors; questions
get ordinary ones. Works with models that pool by the mean: only there is a part of the mean a vector of the same kind.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from harness.embedding.base import Described, InFront, Kind, LateEmbedded, Progress
from harness.embedding.engine import WindowBatch, unit_rows
from harness.embedding.pooling import DocumentStates
from harness.embedding.sentence_transformer import SentenceTransformerEmbedder
from harness.embedding.spans import embed_spans_with
from harness.embedding.state_store import NoStates
from harness.embedding.tokens import UNLIMITED, DocumentTokens
from harness.embedding.windows import Windows, windows
from harness.errors import ConfigError, PartError
from harness.types import ChunkSet, Document, Embedded, Floats, Vectors
from harness.workers import batches

_FORMAT = 1
"""Raise it when the same files come to mean other vectors."""
OVERLAP = 32


@dataclass(eq=False)
class LateEmbedder(InFront):
    """`ordinary`'s model with late pooling. Windows of a long document share `overlap` tokens (see harness.embedding.windows).

    Raises ConfigError where the model pools otherwise than by the mean or states no length, or `overlap` is not from 0 to half of it.
    """

    ordinary: SentenceTransformerEmbedder
    overlap: int = OVERLAP

    def __post_init__(self) -> None:
        files, length = self.ordinary.files, self.ordinary.length
        if files.static:
            raise ConfigError("embedder.pooling", "late", "in a static model no token knows its neighbours; embedder.pooling=own gives the same")
        if files.pools != "mean":
            how = f"pools its token states by {files.pools}" if files.pools else "does not say how it pools its token states"
            raise ConfigError("embedder.pooling", "late", f"{self.name} {how}; a model that pools by the mean would do (minilm, e5), or own")
        if length is None:
            raise ConfigError("embedder.max_length", None, "late pooling needs the length of a window; 512 would do")
        given: object = self.overlap  # from a YAML it may be anything
        if not isinstance(given, int) or isinstance(given, bool) or not 0 <= given <= length // 2:
            raise ConfigError("embedder.late_overlap", self.overlap, f"a whole number of tokens from 0 to {length // 2} would do")

    @property
    def behind(self) -> Described:
        """What it stands in front of."""
        return self.ordinary

    @cached_property
    def identity(self) -> str:
        """Digest of the ordinary vectors' identity and of the rule for windows and pooling."""
        decides = {"format": _FORMAT, "ordinary": self.ordinary.identity, "pooling": "late", "overlap": self.overlap}
        return hashlib.sha256(json.dumps(decides, sort_keys=True).encode()).hexdigest()

    @property
    def limit(self) -> int:
        """None: all of a chunk is read, in one window or in several."""
        return UNLIMITED

    @property
    def room(self) -> int:
        """Tokens of a document that a window holds."""
        return self.ordinary.limit

    @property
    def contextual(self) -> bool:
        """Always: what stands around a chunk is in its vector."""
        return True

    def embed(self, texts: Sequence[str], kind: Kind, progress: Progress | None = None) -> Embedded:
        """Ordinary vectors of `texts`."""
        return self.ordinary.embed(texts, kind, progress)

    def embed_spans(self, documents: Sequence[Document], chunks: ChunkSet, progress: Progress | None = None) -> LateEmbedded:
        """Late vectors of `chunks` without any cache; see `embed_spans_with`."""
        return embed_spans_with(self, NoStates(), self, documents, chunks, progress)

    def windows(self, tokens: int) -> Windows:
        """The windows of a document of so many tokens. Raises ConfigError where a prompt leaves windows no longer than what they share."""
        if self.overlap >= self.room:
            raise ConfigError("embedder.late_overlap", self.overlap, f"must be less than the {self.room} tokens of a document that a window holds")
        return windows(tokens, self.room, self.overlap)

    def read(self, texts: Sequence[str]) -> Iterator[DocumentTokens]:
        """All the tokens of each text. Loads no weights."""
        return self.ordinary.reader.documents(texts)

    def states(self, documents: Sequence[DocumentTokens], tell: Callable[[int], None]) -> Iterator[DocumentStates]:
        """The states of each document, in order. `tell` is called with the tokens of each batch that is done. Loads the weights, if need be.

        The bits of a document's states depend on nothing else (on one machine): documents share no batch. Raises PartError for a state that is not
        finite in float16.
        """
        arriving = self._arriving(documents)
        for document in documents:
            layout = self.windows(len(document.ids))
            made = _Gathered(document, layout, self.ordinary.skipped)
            while made.waiting:
                batch, found = next(arriving)
                for window, rows in zip(batch.windows.tolist(), found, strict=True):
                    made.add(window, rows)
                tell(int(layout.lengths[batch.windows].sum()))
            yield made.states(self.name)

    def _arriving(self, documents: Sequence[DocumentTokens]) -> Iterator[tuple[WindowBatch, list[Vectors]]]:
        if any(len(document.ids) for document in documents):
            yield from self.ordinary.engine.states(self._batches(documents))

    def _batches(self, documents: Sequence[DocumentTokens]) -> Iterator[WindowBatch]:
        for document in documents:
            layout = self.windows(len(document.ids))
            for places in batches(layout.lengths, self.ordinary.engine.budget):
                spans = zip(layout.start[places].tolist(), layout.end[places].tolist(), strict=True)
                yield WindowBatch(places, [document.window(start, end) for start, end in spans])

    def finish(self, pooled: Floats) -> Vectors:
        """Unit vectors from pooled states (n, width): what the model itself does behind its pooling. Loads the weights only where that needs them."""
        return self.ordinary.engine.finish(pooled) if set(self.ordinary.files.finishes) - {"Normalize"} else unit_rows(pooled.astype(np.float32))


class _Gathered:
    """A document's states, as its windows come in. `skipped` of the tokens before the text are not pooled."""

    def __init__(self, document: DocumentTokens, layout: Windows, skipped: int) -> None:
        self._document, self._layout, self._skipped = document, layout, skipped
        self._states, self._rest = np.zeros((0, 0), dtype=np.float16), np.zeros((0, 0), dtype=np.float32)
        self.waiting = len(layout)

    def add(self, window: int, rows: Vectors) -> None:
        """`rows`: the states of all that the window read, (before + its tokens + after, width)."""
        if not self._rest.size:
            self._states = np.empty((len(self._document.ids), rows.shape[1]), dtype=np.float16)
            self._rest = np.empty((len(self._layout), rows.shape[1]), dtype=np.float32)
        layout, before = self._layout, len(self._document.before)
        content = rows[before : before + int(layout.lengths[window])]
        low, high = int(layout.served[window]), int(layout.served[window + 1])
        served = content[low - int(layout.start[window]) : high - int(layout.start[window])]
        with np.errstate(over="ignore"):  # what does not fit is refused in the end
            self._states[low:high] = served
        around = rows[self._skipped : before].sum(axis=0) + rows[before + len(content) :].sum(axis=0)
        self._rest[window] = around + (served - self._states[low:high]).sum(axis=0)
        self.waiting -= 1

    def states(self, name: str) -> DocumentStates:
        """All of them. Raises PartError where one is not finite."""
        document = self._document
        if not np.isfinite(self._rest).all():  # which covers the states: what rounding took from a state that is not finite isn't either
            raise PartError(f"embedder {name}: gave token states that are not finite in float16; embedder.pooling=own does without them")
        around = len(document.before) - self._skipped + len(document.after)
        return DocumentStates(document.start, document.end, self._states, self._rest, around)
