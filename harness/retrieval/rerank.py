"""Reranking: a cross-encoder orders the first places of another retriever's ranking anew (Nogueira and Cho 2019, arXiv:1901.04085)."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from harness.provenance import describe
from harness.retrieval.around import Around, IndexAround
from harness.retrieval.base import Index, OpenStore, Queries, Shelf
from harness.retrieval.cross_encoder import CrossEncoder
from harness.retrieval.orders import as_ranking, behind, best_first, check_text, check_whole
from harness.retrieval.pairs import Pairs
from harness.stores import NoStore, Store
from harness.types import Candidates, Floats, Ints, Probes, Ranking, Vectors

_SECONDS_AT_RISK = 1.0
_ROWS_AT_ONCE = 4096


@dataclass(frozen=True)
class RerankRetriever(Around):
    """The first `depth` chunks that `first` found, by the score of the cross-encoder `model`, best first; the others behind them as they were.

    Ties keep chunk order. The scores of chunks behind fall by 1 a place from the lowest score of a model, and mean the order alone. Statistics and
    probes are NaN: there is no score for every candidate. The chunk's indexed text is what the model reads, so what `context` puts in front is read
    too. `model` and what follows `depth` are fields of `CrossEncoder`. Raises ConfigError and ModelError as that does.
    """

    model: str
    revision: str | None = None
    depth: int = 50
    max_length: int | None = None
    batch_tokens: int | None = None
    device: str | None = None
    trust_remote_code: bool = False
    open_store: OpenStore | None = field(default=None, repr=False, compare=False)
    encoder: CrossEncoder = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_text("model", self.model)
        check_whole("depth", self.depth, 1)
        made = CrossEncoder(self.model, self.revision, self.max_length, self.batch_tokens, self.device, self.trust_remote_code)
        object.__setattr__(self, "encoder", made)  # now, so that a model that can't be had is told before any work

    @cached_property
    def identity(self) -> str:
        """Digest of what orders: the inner retriever, the cross-encoder, and how many it rescores."""
        decides = {"class": type(self).__qualname__, "first": describe(self.first), "encoder": self.encoder.identity, "depth": self.depth}
        return hashlib.sha256(json.dumps(decides, sort_keys=True).encode()).hexdigest()

    def remembering(self, open_store: OpenStore) -> Self:
        """The same, keeping the scores of pairs in a store of `open_store`, as do retrievers inside."""
        return replace(super().remembering(open_store), open_store=open_store)

    def build(self, shelf: Shelf) -> RerankIndex:
        """An index over `shelf`; nothing is scored before a search."""
        store = NoStore() if self.open_store is None else self.open_store(self.encoder.identity, 1)
        return RerankIndex(shelf.index(self.first), shelf.texts, self.encoder, store, self.depth)


class RerankIndex(IndexAround):
    """The index of the inner retriever, and the texts."""

    def __init__(self, first: Index, texts: Sequence[str], encoder: CrossEncoder, store: Store, depth: int) -> None:
        super().__init__(first)
        self._texts, self._encoder, self._store, self._depth = texts, encoder, store, depth
        self._facts: dict[str, float] = {}
        self._last: tuple[tuple[str, ...], Ints, Ints, Floats] | None = None

    def facts(self) -> Mapping[str, float]:
        """Those of the inner index, and what the last pairs took.

        rerank_pairs: questions x chunks that were rescored; rerank_cached_pairs: those of them on which the model did not work, because the store had
        their score or an equal pair came before; rerank_truncated_share: the share of pairs that the model does not read to the end; rerank_limit:
        tokens that it reads of a pair; seconds_rerank.
        """
        return {**super().facts(), **self._facts}

    def search(self, queries: Queries, candidates: Candidates, depth: int, probes: Probes) -> Ranking:
        """The first `depth` candidates of every query. The same chunks are rescored however deep one looks, so a deeper search begins with the
        shallower one."""
        rescored, tail, counts = self.parted(queries, candidates, depth, self._depth if depth > 0 else 0)
        rescored = rescored._replace(score=self._scored(queries.texts, rescored.question, rescored.chunk))
        return as_ranking(behind(best_first(rescored), tail), counts, depth, probes)

    def _scored(self, questions: tuple[str, ...], question: Ints, chunk: Ints) -> Floats:
        """Scores of the pairs; those of the last search are at hand, since a search that is repeated deeper asks for the same."""
        if self._last is not None:
            texts, asked, held, known = self._last
            if texts == questions and np.array_equal(asked, question) and np.array_equal(held, chunk):
                return known
        began = time.perf_counter()
        distinct, passage = np.unique(chunk, return_inverse=True)
        pairs = self._encoder.reader.read(questions, [self._texts[number] for number in distinct.tolist()], question, passage)
        found, worked = scores_from(self._store, self._encoder, pairs)
        scores: Floats = found[pairs.row, 0].astype(np.float64)
        self._last = (questions, question, chunk, scores)
        self._facts = {
            "rerank_pairs": float(len(chunk)),
            "rerank_cached_pairs": float(len(chunk) - worked),
            "rerank_truncated_share": float(pairs.cut.mean()) if len(chunk) else 0.0,
            "rerank_limit": float(self._encoder.length),
            "seconds_rerank": time.perf_counter() - began,
        }
        return scores


def scores_from(store: Store, encoder: CrossEncoder, pairs: Pairs) -> tuple[Vectors, int]:
    """The score of every reading (n, 1), from `store` where it has them, and how many the model worked on.

    New scores reach the store as the work goes on, so that a process that dies loses about a second of it.
    """
    found = np.empty((len(pairs.keys), 1), dtype=np.float32)
    missing = np.flatnonzero(~store.find(pairs.keys, found))
    waiting: list[Ints] = []
    since = time.monotonic()

    def keep() -> None:
        rows = np.concatenate(waiting) if waiting else np.zeros(0, dtype=np.int64)
        if len(rows):
            store.save([pairs.keys[row] for row in rows.tolist()], found[rows])
        waiting.clear()

    try:
        for rows, scores in encoder.scores(pairs, missing) if len(missing) else ():
            found[rows] = scores
            waiting.append(rows)
            if time.monotonic() - since >= _SECONDS_AT_RISK or sum(map(len, waiting)) >= _ROWS_AT_ONCE:
                keep()
                since = time.monotonic()
    finally:
        keep()
    return found, len(missing)


def rerankers_in(retriever: Any) -> Iterator[RerankRetriever]:
    """Every reranker in `retriever`, itself included, however deep; in one of a person's own too."""
    if isinstance(retriever, RerankRetriever):
        yield retriever
    for part in fields(retriever) if is_dataclass(retriever) else ():
        value = getattr(retriever, part.name)
        for held in value if isinstance(value, list | tuple) else [value]:
            if is_dataclass(held) and not isinstance(held, type) and hasattr(held, "build"):
                yield from rerankers_in(held)
