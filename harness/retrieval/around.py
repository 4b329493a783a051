"""The bases of every retriever that holds another one, and of its index: what they ask of it, and what they pass on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Self

from harness.errors import ConfigError
from harness.retrieval.base import ChecksDocuments, Index, OpenStore, Queries, Remembers, Reports, Retriever, reads_vectors
from harness.retrieval.orders import Rows, read
from harness.types import Candidates, Document, Ints


def check_retriever(key: str, part: object) -> None:
    """Raises ConfigError where `part`, the value of `key`, can't search."""
    if not callable(getattr(part, "build", None)):
        raise ConfigError(key, part, f"must be a retriever; retriever@{key}={part if isinstance(part, str) else 'dense'} would do")


@dataclass(frozen=True)
class Around:
    """A retriever that orders anew what `first` found. Its index searches `shelf.index(self.first)`, so that one that others hold as well is built
    once.

    A subclass is a frozen dataclass with further fields; any of them may be a retriever too, and one with a `__post_init__` of its own calls this
    one's. Raises ConfigError where `first` is no retriever.
    """

    first: Retriever

    def __post_init__(self) -> None:
        check_retriever("retriever.first", self.first)

    @property
    def reads_vectors(self) -> bool:
        """Whether any that it holds does. One that looks at vectors itself says so."""
        return any(reads_vectors(part) for part in self.held().values())

    def held(self) -> dict[str, Retriever]:
        """The retrievers among its fields, by name."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: part for name, part in values.items() if callable(getattr(part, "build", None))}

    def check_documents(self, documents: Sequence[Document]) -> None:
        """Let every retriever that it holds look at the documents. One that reads their metadata itself looks too."""
        for part in self.held().values():
            if isinstance(part, ChecksDocuments):
                part.check_documents(documents)

    def remembering(self, open_store: OpenStore) -> Self:
        """The same, with every retriever that it holds keeping its scores in a store of `open_store`. One that pays for scores itself adds its
        own."""
        return replace(self, **{name: part.remembering(open_store) for name, part in self.held().items() if isinstance(part, Remembers)})


@dataclass(eq=False)
class IndexAround:
    """An index that orders anew what the index `first` found, keeping nothing of the vectors itself."""

    first: Index

    @property
    def nbytes(self) -> int:
        """Bytes of the index within."""
        return self.first.nbytes

    def facts(self) -> Mapping[str, float]:
        """What the index within found out."""
        return facts_of(self.first)

    def parted(self, queries: Queries, candidates: Candidates, depth: int, head: int) -> tuple[Rows, Rows, Ints]:
        """The first `head` places of every question, which are ordered anew however deep one looks; the places behind them down to `depth`; and how
        many candidates each question has."""
        rows, found = read(self.first, queries, candidates, max(depth, head))
        upper = rows.place < head
        return rows.where(upper), rows.where(~upper), found


def facts_of(index: Index) -> Mapping[str, float]:
    """What an index found out, where it reports such things."""
    return index.facts() if isinstance(index, Reports) else {}
