"""The contract of a retriever. tests/contracts/test_retrievers.py holds it for every YAML in conf/retriever.

Best first; ties keep chunk order; a chunk stands at most once a question; only candidates (after the question's filter) are ranked, and exactly;
a depth beyond the candidates gives all of them and nothing else (no padding).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from harness.types import Candidates, Ints, Probes, Ranking, Vectors


@dataclass(frozen=True, slots=True)
class Shelf:
    """What can be searched: the document number and indexed text of every chunk, in chunk order, and the vectors that lead to them.

    `entry` has the chunk of every vector, in any order; None: one vector a chunk, in chunk order. A chunk may have several entries and has at least
    one; it is ranked once, by the best of them. `texts` is one a chunk in any case.
    """

    doc: Ints
    texts: tuple[str, ...]
    vectors: Vectors
    entry: Ints | None = None


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


class Retriever(Protocol):
    """A way to search, with its parameters."""

    def build(self, shelf: Shelf) -> Index:
        """An index over `shelf`."""
        ...
