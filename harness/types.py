"""Frozen data that flows through the harness, left to right.

documents and questions -> chunks -> vectors -> rankings -> outcomes -> a cell's result.
Every position is a character offset into `Document.text`; spans are half-open. Bulk data is kept in NumPy columns.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from harness.slices import Slices

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Vectors = npt.NDArray[np.float32]

SURROUNDINGS = {"context": "none", "returned": "chunk", "min_size": "0", "short": "merge", "vectors": "one"}
"""The axes that surround the chunks of any strategy, as they are typed, with what leaves the chunk as it is (see harness.chunking.surroundings)."""


class Span(NamedTuple):
    """Characters `start` (inclusive) to `end` (exclusive) of document number `doc` (its place in `Corpus.documents`)."""

    doc: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Document:
    """One document. `text` is never changed after loading; `id` is unique in its corpus (for files: the relative path)."""

    id: str
    text: str
    title: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)

    @property
    def length(self) -> int:
        """Characters of the text. To be asked instead of len(text): a text may have to be read for that (see harness.corpus.stored)."""
        return len(self.text)

    @property
    def blank(self) -> bool:
        """Whether there is nothing but white space."""
        return not self.text or self.text.isspace()

    @property
    def source(self) -> Hashable:
        """Equal for equal texts, and different for different ones as long as no file changes: what was worked out of a text is kept by it."""
        return self.text

    stored: ClassVar[bool] = False
    """Whether the text is read from its file whenever it is asked for, so that it should be asked for once and not be kept."""

    def described(self, title: str, metadata: Mapping[str, Any]) -> Document:
        """The same with another title and metadata."""
        return replace(self, title=title, metadata=metadata)


@dataclass(frozen=True, slots=True)
class Evidence:
    """A passage that an answer needs. `copies` are the other places where a passage of 80 characters or more stands, word for word."""

    span: Span
    role: str | None = None
    copies: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True)
class Answer:
    """Evidence needed *together*: the rule and its exception. Touching or overlapping evidence is already merged."""

    evidence: tuple[Evidence, ...]


@dataclass(frozen=True, slots=True)
class Question:
    """`answers` are alternatives, any one of which will do; none means unanswerable. `filter` limits the search (see harness.filters)."""

    id: str
    text: str
    answers: tuple[Answer, ...]
    filter: Mapping[str, Any] = field(default_factory=dict)
    kind: str | None = None


@dataclass(frozen=True, slots=True)
class Corpus:
    """Documents with labelled questions. `digest` covers ids, texts, titles and metadata of the documents; `questions_digest` everything of the
    questions that can move a number. `warnings` are one line each, ready to be shown."""

    name: str
    documents: tuple[Document, ...]
    questions: tuple[Question, ...]
    digest: str
    questions_digest: str
    warnings: tuple[str, ...] = ()

    @property
    def stored(self) -> bool:
        """Whether its texts are read from their files whenever they are asked for: it is too large to be held."""
        return any(document.stored for document in self.documents)


@dataclass(frozen=True, slots=True)
class ChunkSet:
    """A cell's chunks as columns of equal length, in document order, then by start.

    `doc`, `start`, `end` is the chunk; `returned_start`, `returned_end` is what the reader gets when it is retrieved (the same unless a parent or
    window is returned; it holds the chunk, but for white space at the chunk's edges). `context` is what is put in front of the text before it is
    embedded (None: nothing). `also` is a second text that leads to the chunk ("" for a chunk without; None: there are none). `notes` counts declared
    exceptions, for example {"oversize": 3}.
    """

    doc: Ints
    start: Ints
    end: Ints
    returned_start: Ints
    returned_end: Ints
    context: tuple[str, ...] | None = None
    also: tuple[str, ...] | None = None
    notes: Mapping[str, int] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.doc)

    def indexed_texts(self, documents: Sequence[Document]) -> Sequence[str]:
        """The text of each chunk that goes to the embedder: its context, then its slice of the document. Each is cut when it is asked for."""
        return Slices(documents, self.doc, self.start, self.end, self.context)

    def second_texts(self) -> tuple[list[str], Ints]:
        """The second texts that there are, and the chunk that each leads to."""
        return [text for text in self.also or () if text], np.array([number for number, text in enumerate(self.also or ()) if text], dtype=np.int64)


@dataclass(frozen=True, slots=True)
class Candidates:
    """Which documents each question may be answered from.

    `group` (one per question) points into the rows of `documents` (groups x documents, bool). Questions without a filter share one row of True.
    """

    group: Ints
    documents: Bools


@dataclass(frozen=True, slots=True)
class Embedded:
    """Vectors of texts with what it took: (n, dim) float32 of unit length; content tokens of each text, how many of them the model did not
    read, and whether the vector came from the cache."""

    vectors: Vectors
    tokens: Ints
    unread: Ints
    cached: Bools


@dataclass(frozen=True, slots=True)
class Probes:
    """(question, chunk) pairs whose score and standing is wanted whether or not they are retrieved: two columns of equal length."""

    question: Ints
    chunk: Ints


@dataclass(frozen=True, slots=True)
class Ranking:
    """What was retrieved, best first: question q has `chunk[indptr[q]:indptr[q + 1]]` with `score`. Ties keep chunk order.

    `candidates` counts the chunks that q's filter left. For retrievers with a score for every candidate, `score_mean` and `score_m2` (sum of
    squared deviations from that mean, float64) describe all of them; otherwise NaN. `probe_score`, `probe_below` (candidates scored lower) and
    `probe_tied` (scored equal, itself included) answer the `probes`, row by row; NaN and -1 where the retriever has no such score.
    """

    indptr: Ints
    chunk: Ints
    score: Floats
    candidates: Ints
    score_mean: Floats
    score_m2: Floats
    probes: Probes
    probe_score: Floats
    probe_below: Ints
    probe_tied: Ints

    def __len__(self) -> int:
        return len(self.indptr) - 1


@dataclass(frozen=True, slots=True)
class Cell:
    """One point of the grid, in words: the values of its axes, a label for people, and the resolved configuration that reproduces it."""

    strategy: str
    size: int | None
    overlap: int | None
    embedder: str
    retriever: str
    unit: str
    label: str
    config: Mapping[str, Any] = field(default_factory=dict)

    @property
    def around(self) -> dict[str, str]:
        """What surrounds its chunks: every axis of SURROUNDINGS, as typed."""
        return {name: str(self.config.get(name, usual)) for name, usual in SURROUNDINGS.items()}

    @property
    def variant(self) -> str:
        """Those of these axes that are not as usual, as they are typed: "context=title returned=parent:512"; "" for the plain chunk."""
        return " ".join(f"{name}={value}" for name, value in self.around.items() if value != SURROUNDINGS[name])

    @property
    def retrieval(self) -> str:
        """All that decides a ranking besides the chunks; equal for equal settings."""
        settings = {name: self.config.get(name) for name in ("embedder", "retriever", "scope", "filter")}
        return json.dumps([self.embedder, self.retriever, settings], sort_keys=True, default=str)


@dataclass(frozen=True)
class CellResult:
    """What one cell measured.

    `metrics` holds every aggregate by its name in docs/metrics.md, None where nothing could be scored; `counts` the n of each mean.
    `questions` has one row a question (see docs/metrics.md). `chunk_digest` is equal for cells that made the very same chunks. `ranking_key`
    finds the chunks and the ranking behind the numbers. `questions_digest` is the corpus's: results compare only where it is equal.
    """

    cell: Cell
    key: str
    metrics: Mapping[str, float | None]
    counts: Mapping[str, int]
    warnings: tuple[str, ...]
    chunk_digest: str
    questions: pd.DataFrame
    histogram: Mapping[str, Sequence[float]] = field(default_factory=dict)
    ranking_key: str = ""
    questions_digest: str = ""
