"""The contract of a retriever. tests/contracts/test_retrievers.py holds it for every YAML in conf/retriever.

Best first; ties keep chunk order; a chunk stands at most once a question; only candidates (after the question's filter) are ranked, and exactly;
a depth beyond the candidates gives all of them and nothing else (no padding).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, TypeVar, cast, runtime_checkable

from harness.provenance import describe
from harness.retrieval.kept import KeptIndex
from harness.retrieval.shards import Sharded
from harness.stores import Store
from harness.types import Candidates, Document, Ints, Probes, Ranking, Vectors

_Made = TypeVar("_Made")


@dataclass(frozen=True, slots=True)
class Shelf:
    """What can be searched: the document number and indexed text of every chunk, in chunk order, and the vectors that lead to them.

    `entry` has the chunk of every vector, in any order; None: one vector a chunk, in chunk order. A chunk may have several entries and has at least
    one; it is ranked once, by the best of them. `texts` is one a chunk in any case. `documents` are those that `doc` counts, with their metadata.
    `vector_bytes`: what one vector takes as it is stored (None: 4 a number). `sharded`: the vectors, where they lie in several files; `vectors` then
    has their length and none of them.
    """

    doc: Ints
    texts: Sequence[str]
    vectors: Vectors
    entry: Ints | None = None
    documents: tuple[Document, ...] = ()
    vector_bytes: float | None = None
    sharded: Sharded | None = None
    _built: dict[str, KeptIndex] = field(default_factory=dict, repr=False, compare=False)
    _shared: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)

    def index(self, retriever: Retriever) -> KeptIndex:
        """What `retriever` builds over this shelf, built once: retrievers that hold others share them, and so do the cells of a sweep."""
        key = json.dumps(describe(retriever), sort_keys=True)
        if key not in self._built:
            self._built[key] = KeptIndex(retriever.build(self))
        return self._built[key]

    def once(self, name: str, make: Callable[[], _Made]) -> _Made:
        """What `make` gives, made once under this name: what several indexes over this shelf need beside the vectors."""
        if name not in self._shared:
            self._shared[name] = make()
        return cast("_Made", self._shared[name])

    def filled(self, vectors: Vectors, entry: Ints | None) -> Shelf:
        """The same with vectors, for a shelf without: what was built over its texts alone is kept."""
        return replace(self, vectors=vectors, entry=entry)


@dataclass(frozen=True, slots=True)
class Queries:
    """What is asked: the text and vector of every question."""

    texts: tuple[str, ...]
    vectors: Vectors


class Index(Protocol):
    """A built index over one shelf."""

    @property
    def nbytes(self) -> int:
        """Size of the index in bytes."""
        ...

    def search(self, queries: Queries, candidates: Candidates, depth: int, probes: Probes) -> Ranking:
        """The first `depth` candidates of every query, and the standing of the probes among all its candidates."""
        ...


@runtime_checkable
class Reports(Protocol):
    """An index that found something out about itself."""

    def facts(self) -> Mapping[str, float]:
        """What it found out, beside the ranking, by the name of the metric that it becomes. A wrapper passes on what the index inside says."""
        ...


class Retriever(Protocol):
    """A way to search, with its parameters. One that never looks at vectors has an attribute `reads_vectors` that is False; where a cell's retriever
    has, nothing is embedded, and the shelf and the queries come with vectors of no length."""

    def build(self, shelf: Shelf) -> Index:
        """An index over `shelf`."""
        ...


def reads_vectors(retriever: Retriever) -> bool:
    """Whether it looks at vectors: yes, unless it says that it does not."""
    return bool(getattr(retriever, "reads_vectors", True))


@runtime_checkable
class ChecksDocuments(Protocol):
    """A retriever that reads the documents' metadata, and says before any work where it is not there."""

    def check_documents(self, documents: Sequence[Document]) -> None:
        """Raises ConfigError or DataError where it can't work with `documents`."""
        ...


OpenStore = Callable[[str, int], Store]
"""A store for the rows of (identity, row length), shared by all runs."""


@runtime_checkable
class Remembers(Protocol):
    """A retriever that pays for scores (a cross-encoder), alone or in one that it holds, and would keep them for later runs."""

    def remembering(self, open_store: OpenStore) -> Retriever:
        """The same retriever, keeping its scores in a store of `open_store`."""
        ...
