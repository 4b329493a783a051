"""From the states of documents to the vectors of chunks, whether the states are kept or have to be made."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

import numpy as np

from harness.embedding.base import Embedder, LateEmbedded, Outlook, Progress
from harness.embedding.pooling import DocumentStates, pool, tokens_under
from harness.embedding.state_store import StateStore
from harness.embedding.tokens import DocumentTokens
from harness.embedding.windows import Windows
from harness.errors import ImpossibleCell
from harness.types import Bools, ChunkSet, Document, Floats, Ints, Vectors

_KEY_BYTES = 16


class LateModel(Protocol):
    """A model that shows the states of its tokens."""

    @property
    def dim(self) -> int:
        """Length of a vector."""
        ...

    def windows(self, tokens: int) -> Windows:
        """The windows of a document of so many tokens."""
        ...

    def read(self, texts: Sequence[str]) -> Iterator[DocumentTokens]:
        """All the tokens of each text."""
        ...

    def states(self, documents: Sequence[DocumentTokens], tell: Callable[[int], None]) -> Iterator[DocumentStates]:
        """The states of each document, in order; `tell` is called with tokens that are done."""
        ...

    def finish(self, pooled: Floats) -> Vectors:
        """Unit vectors from means of states."""
        ...


def embed_spans_with(
    model: LateModel, kept: StateStore, plain: Embedder, documents: Sequence[Document], chunks: ChunkSet, progress: Progress | None = None
) -> LateEmbedded:
    """Late vectors of `chunks`, one row each; documents whose states are not `kept` go through the model once and are given to it.

    A chunk under which the model sees no token (control characters, say) gets the vector of its text from `plain`. Documents without chunks are left
    alone. Progress counts the tokens of windows. Raises ImpossibleCell where chunks have a context or a second text.
    """
    if chunks.context is not None or chunks.also is not None:
        reason = "a chunk's vector is pooled from its document, so nothing can be put before or beside it; context=none vectors=one would do"
        raise ImpossibleCell("embedder.pooling", "late", reason)
    rows, spent, missing = _Rows(model, chunks), Spent(progress), dict[str, list[int]]()
    for key, numbers in numbers_by_text(documents, chunks).items():
        found = kept.find(key)
        if found is None:
            missing[key] = numbers
        else:
            spent.saved(int(model.windows(len(found.states)).lengths.sum()) * len(numbers))
            rows.fill(found, numbers, worked=False)
    tokens = list(model.read([documents[numbers[0]].text for numbers in missing.values()]))
    spent.begin([int(model.windows(len(document.ids)).lengths.sum()) for document in tokens], [len(numbers) for numbers in missing.values()])
    for (key, numbers), made in zip(missing.items(), model.states(tokens, spent.tell), strict=True):
        kept.save(key, made)
        rows.fill(made, numbers, worked=True)
    rows.fill_without_tokens(plain, documents)
    return LateEmbedded(rows.vectors, rows.tokens, np.zeros_like(rows.tokens), rows.cached, worked=spent.worked, kept=spent.kept)


class _Rows:
    """The columns of the result, filled document by document."""

    def __init__(self, model: LateModel, chunks: ChunkSet) -> None:
        self._model, self._chunks = model, chunks
        self.vectors: Vectors = np.empty((len(chunks), model.dim), dtype=np.float32)
        self.tokens: Ints = np.zeros(len(chunks), dtype=np.int64)
        self.cached: Bools = np.ones(len(chunks), dtype=bool)

    def fill(self, states: DocumentStates, numbers: Sequence[int], *, worked: bool) -> None:
        """The chunks of the documents `numbers`, which have one text; `worked`: the model worked on it, for the first of them."""
        served = self._model.windows(len(states.states))
        for place, number in enumerate(numbers):
            low, high = np.searchsorted(self._chunks.doc, [number, number + 1])
            a, b = tokens_under(states.start, states.end, self._chunks.start[low:high], self._chunks.end[low:high])
            self.tokens[low:high] = b - a
            some = np.flatnonzero(b > a)
            if len(some):
                self.vectors[low + some] = self._model.finish(pool(states, served, a[some], b[some]))
            self.cached[low:high] = not worked or place > 0

    def fill_without_tokens(self, plain: Embedder, documents: Sequence[Document]) -> None:
        """The chunks under which there is no token."""
        chunks, bare = self._chunks, np.flatnonzero(self.tokens == 0)
        if len(bare):
            spans = zip(chunks.doc[bare].tolist(), chunks.start[bare].tolist(), chunks.end[bare].tolist(), strict=True)
            found = plain.embed([documents[number].text[start:end] for number, start, end in spans], "passage")
            self.vectors[bare] = found.vectors


class Spent:
    """Tokens that went through the model (`worked`), and that needn't (`kept`); tells of them as they grow."""

    def __init__(self, progress: Progress | None) -> None:
        self._progress, self.worked, self.kept, self._total = progress, 0, 0, 0
        self._characters = self._seen = 0

    def saved(self, tokens: int) -> None:
        """So many needn't go through the model."""
        self.kept += tokens

    def begin(self, lengths: Sequence[int], times: Sequence[int]) -> None:
        """Documents of so many tokens are to go through it, each standing so many times in the corpus."""
        self.saved(sum(length * (count - 1) for length, count in zip(lengths, times, strict=True)))
        self._total = self.kept + sum(lengths)
        if self._progress is not None and self._total and not sum(lengths):
            self._progress(self._total, self._total)

    def expect(self, lengths: Sequence[int]) -> None:
        """Documents of so many characters are to go through it; their tokens will be known one by one."""
        self._characters = sum(lengths)
        if self._progress is not None and self.kept and not self._characters:
            self._progress(self.kept, self.kept)

    def tell(self, tokens: int, characters: int = 0) -> None:
        """So many more are done; of `characters`, where the sum was not known before."""
        self.worked += tokens
        self._seen += characters
        if characters:
            self._total = self.kept + round(self.worked * max(self._characters / self._seen, 1))
        if self._progress is not None:
            self._progress(self.kept + self.worked, self._total)


def numbers_by_text(documents: Sequence[Document], chunks: ChunkSet) -> dict[str, list[int]]:
    """The numbers of the documents that have chunks, by the digest of their text."""
    found: dict[str, list[int]] = {}
    for number in np.unique(chunks.doc).tolist():
        text = documents[number].text.encode("utf-8", "surrogatepass")
        found.setdefault(hashlib.blake2b(text, digest_size=_KEY_BYTES).hexdigest(), []).append(number)
    return found


def foreseen_spans(groups: dict[str, list[int]], tokens: Sequence[int], held: Sequence[bool], store: str) -> Outlook:
    """What the documents of `groups` (see numbers_by_text) would take, where each takes so many `tokens` and `store` has those `held`."""
    counts = np.array(tokens, dtype=np.int64)
    times = np.array([len(numbers) for numbers in groups.values()], dtype=np.int64)
    first = np.array([numbers[0] for numbers in groups.values()], dtype=np.int64)
    return Outlook(tuple(key.encode() for key in groups), first, counts, counts, np.array(held, dtype=bool), int((counts * times).sum()), store)
