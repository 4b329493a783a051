"""model2vec models: a vector a token, looked up; a text has the mean of its tokens' (Tulkens and van Dongen, "Model2Vec", 2024). No neighbour counts.

So the vector of any span is a difference of prefix sums over its document, and a whole grid of strategies, sizes and overlaps costs one pass of
tokenising. What may differ between a span and the same text by itself: a word cut by the chunk's edge, whose token is under both chunks here, and is
tokenised anew there. docs/embedders.md has the cosine between both.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from tokenizers import Tokenizer

from harness import scratch
from harness.embedding.base import Kind, LateEmbedded, Outlook, Progress
from harness.embedding.likeness import Likeness
from harness.embedding.pooling import tokens_under
from harness.embedding.reading import Inputs, embed_with, foreseen
from harness.embedding.spans import Spent, foreseen_spans, numbers_by_text
from harness.embedding.static_table import TokenTable, load_table, table_folder
from harness.embedding.tokens import UNLIMITED, DocumentTokens, TokenReader
from harness.embedding.weights import model_folder, origin_of
from harness.errors import ConfigError, ImpossibleCell, ModelError
from harness.hub import file_digest
from harness.stores import NoStore
from harness.types import Bools, ChunkSet, Document, Embedded, Ints, Vectors
from harness.units import measure_all
from harness.units.base import Unit
from harness.units.tokenizer import TokenizerUnit, bare

_FORMAT = 1
"""Raise it when the same files come to mean other vectors."""
_READINGS_AT_ONCE = 4096
_KEPT_TOKENS = 20_000_000
_CHARACTERS_AT_ONCE = 4_000_000


@dataclass(eq=False)
class StaticEmbedder:
    """A model2vec model: a folder, `package:NAME/FOLDER` or a hub name. Unit vectors, as `StaticModel.encode(normalize=True, max_length=None)`.

    It reads everything, unless `max_length` bounds it, in its own tokens; or `like` names another embedder (minilm), whose reach it then imitates: of
    each chunk it reads what that one would, and `unit` and `limit` are that one's, so a grid can be looked through cheaply first. Raises ModelError
    where the model can't be had, ConfigError for values that can't work.
    """

    model: str
    revision: str | None = None
    max_length: int | None = None
    like: str | None = None

    def __post_init__(self) -> None:
        given: object = self.max_length  # from a YAML it may be anything
        if given is not None and (not isinstance(given, int) or isinstance(given, bool) or given < 1):
            raise ConfigError("embedder.max_length", given, "a whole number of tokens from 1, or null for all, would do")
        if self.like is not None and self.max_length is not None:
            raise ConfigError("embedder.max_length", given, f"embedder.like={self.like} has a limit already; one of the two would do")
        self._likeness = None if self.like is None else Likeness.named(self.like)
        self._folder = table_folder(model_folder(self.model, self.revision), self.model)
        self._kept: dict[str, DocumentTokens] = {}
        self._kept_tokens = 0

    @property
    def name(self) -> str:
        """The hub name or path."""
        return self.model

    @cached_property
    def identity(self) -> str:
        """Digest of table, tokenizer and reach. Names and folders play no part."""
        files = {name: file_digest(self._folder / name) for name in ("model.safetensors", "tokenizer.json")}
        like = None if self._likeness is None else self._likeness.identity
        decides = {"format": _FORMAT, "kind": "static", "files": files, "max_length": self.max_length, "like": like}
        return hashlib.sha256(json.dumps(decides, sort_keys=True).encode()).hexdigest()

    @property
    def origin(self) -> dict[str, str]:
        """Digest of the table, and its commit where the hub has it."""
        return origin_of(self._folder, file_digest(self._folder / "model.safetensors"))

    @property
    def dim(self) -> int:
        """Length of a vector."""
        return int(self._table.rows.shape[1])

    @property
    def limit(self) -> int:
        """Tokens of `unit` that are read of a text."""
        return self._likeness.limit if self._likeness else self.max_length or UNLIMITED

    @cached_property
    def unit(self) -> Unit:
        """The model's own tokens, or those of the embedder that it is like."""
        return self._likeness.unit if self._likeness else TokenizerUnit("tokens", self._tokenizer.to_str().encode())

    @property
    def contextual(self) -> bool:
        """Never: no neighbour moves a vector."""
        return False

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        try:
            tokenizer = Tokenizer.from_file(str(self._folder / "tokenizer.json"))
        except Exception as error:  # the tokenizers library raises Exception itself
            raise ModelError(f"{self._folder}: its tokenizer can't be used ({error})") from error
        return bare(tokenizer)

    @cached_property
    def _reader(self) -> TokenReader:
        return TokenReader(self._tokenizer, {"query": "", "passage": ""}, self.max_length, special=False)

    @cached_property
    def _table(self) -> TokenTable:
        return load_table(self._folder, self._tokenizer)

    def read(self, texts: Sequence[str], kind: Kind) -> Inputs:
        """The tokens that are read of `texts`. Loads no weights."""
        if self._likeness is None:
            return self._reader.read(texts, kind)
        heads, tokens, unread = self._likeness.heads(texts)
        inputs = self._reader.read(heads, kind)
        return Inputs(inputs.ids, inputs.indptr, inputs.keys, inputs.first, inputs.row, tokens, unread)

    def vectors(self, inputs: Inputs, rows: Ints) -> Iterator[tuple[Ints, Vectors]]:
        """Unit vectors of the readings `rows`, in blocks. One of which no token is known has the first axis."""
        for start in range(0, len(rows), _READINGS_AT_ONCE):
            block = rows[start : start + _READINGS_AT_ONCE]
            yield block, self._table.means([inputs.ids[inputs.indptr[row] : inputs.indptr[row + 1]] for row in block])

    def embed(self, texts: Sequence[str], kind: Kind, progress: Progress | None = None) -> Embedded:
        """Vectors of `texts`, each tokenised by itself. There is no cache: it would be asked by tokens, and those are all the work."""
        return embed_with(self, NoStore(), texts, kind, progress)

    def outlook(self, texts: Sequence[str], kind: Kind) -> Outlook:
        """What `embed` would take, which is about as much as asking."""
        return foreseen(self, texts, kind, lambda keys: np.zeros(len(keys), dtype=bool), None)

    def outlook_spans(self, documents: Sequence[Document], chunks: ChunkSet) -> Outlook:
        """What `embed_spans` would take now: the tokens of each document, which are most of the work."""
        groups, lengths = numbers_by_text(documents, chunks), list[int]()
        for some in _batches(documents, groups):
            lengths += [len(found.ids) for found in self._reader.documents([documents[numbers[0]].text for _, numbers in some])]
        return foreseen_spans(groups, lengths, [key in self._kept for key in groups], self.identity)

    def embed_spans(self, documents: Sequence[Document], chunks: ChunkSet, progress: Progress | None = None) -> LateEmbedded:
        """Vectors of `chunks` from the tokens of their documents, which are kept in memory for the next chunks (up to 20 million tokens).

        A chunk under which there is no token gets the vector of its text. Raises ImpossibleCell where chunks have a context or a second text.
        """
        if chunks.context is not None or chunks.also is not None:
            raise ImpossibleCell("embedder.model", self.model, "chunks with a context or a second text are embedded as texts, not as spans")
        found = _Spans(len(chunks), self.dim)
        groups, spent = numbers_by_text(documents, chunks), Spent(progress)
        new = {key: numbers for key, numbers in groups.items() if key not in self._kept}
        for key, numbers in groups.items():
            if key in self._kept:
                self._fill(found, chunks, self._kept[key], documents[numbers[0]], numbers)
                spent.saved(len(self._kept[key].ids) * len(numbers))
        spent.expect([documents[numbers[0]].length for numbers in new.values()])
        for some in _batches(documents, new):
            texts = [documents[numbers[0]].text for _, numbers in some]
            for (key, numbers), text, tokens in zip(some, texts, self._reader.documents(texts), strict=True):
                low, high = np.searchsorted(chunks.doc, [numbers[0], numbers[0] + 1])
                found.cached[low:high] = False
                self._fill(found, chunks, tokens, documents[numbers[0]], numbers)
                self._keep(key, tokens)
                spent.saved(len(tokens.ids) * (len(numbers) - 1))
                spent.tell(len(tokens.ids), characters=len(text))
            scratch.release(found.vectors)
        bare = np.flatnonzero(~found.filled)
        if len(bare):
            spans = zip(chunks.doc[bare].tolist(), chunks.start[bare].tolist(), chunks.end[bare].tolist(), strict=True)
            found.vectors[bare] = self.embed([documents[doc].text[start:end] for doc, start, end in spans], "passage").vectors
        return LateEmbedded(found.vectors, found.tokens, found.unread, found.cached, spent.worked, spent.kept)

    def _keep(self, key: str, tokens: DocumentTokens) -> None:
        if self._kept_tokens + len(tokens.ids) <= _KEPT_TOKENS:
            self._kept[key] = tokens
            self._kept_tokens += len(tokens.ids)

    def _fill(self, found: _Spans, chunks: ChunkSet, tokens: DocumentTokens, document: Document, numbers: Sequence[int]) -> None:
        """The chunks of the documents `numbers`, all of which read as `document`."""
        ruler = None if self._likeness is None else measure_all(self.unit, [document])[0]
        for number in numbers:
            low, high = np.searchsorted(chunks.doc, [number, number + 1])
            first, last = chunks.start[low:high], chunks.end[low:high]
            if self._likeness is not None and ruler is not None:
                last, count, unread = self._likeness.reach(ruler, first, last)
            a, b = tokens_under(tokens.start, tokens.end, first, last)
            if self._likeness is None:
                count, unread = b - a, np.maximum(b - a - self.limit, 0)
                b = b - unread
            found.tokens[low:high], found.unread[low:high] = count, unread
            some = np.flatnonzero(b > a)
            if len(some):
                found.vectors[low + some] = self._table.between(tokens.ids, a[some], b[some])
                found.filled[low + some] = True


def _batches(documents: Sequence[Document], groups: Mapping[str, list[int]]) -> Iterator[list[tuple[str, list[int]]]]:
    """The groups, so many at a time that neither their texts nor their tokens fill the memory."""
    some, held = list[tuple[str, list[int]]](), 0
    for key, numbers in groups.items():
        length = documents[numbers[0]].length
        if some and held + length > _CHARACTERS_AT_ONCE:
            yield some
            some, held = [], 0
        some.append((key, numbers))
        held += length
    if some:
        yield some


class _Spans:
    """The columns of the result."""

    def __init__(self, count: int, dim: int) -> None:
        self.vectors: Vectors = scratch.room((count, dim))
        self.tokens, self.unread = np.zeros(count, dtype=np.int64), np.zeros(count, dtype=np.int64)
        self.cached: Bools = np.ones(count, dtype=bool)
        self.filled: Bools = np.zeros(count, dtype=bool)
