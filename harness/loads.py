"""What a sweep would do, counted before it does it: cells, chunks, and the tokens that would go through a model.

Chunking is cheap, so it is really done; of embedding, only the reading, which needs tokenizers alone. What cells have in common is counted once, in
the order in which a runner takes them, so the counts are those that the sweep then reports. They are off where a cache is too small to keep what is
embedded, or processes run side by side and meet a text at once: both embed something twice.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any

import numpy as np

from harness.chunking import chunk_documents, digest
from harness.course import Failure, Impossible
from harness.embedding.base import Embedder, ForetellsSpans, Kind, Outlook, foretelling, reads_spans
from harness.errors import HarnessError, reason
from harness.planned import Planned, distinct_cells
from harness.retrieval.base import reads_vectors
from harness.retrieval.rerank import rerankers_in
from harness.types import Bools, Cell, ChunkSet, Embedded
from harness.units import measure_all

_SAMPLED = 400
"""Texts of a set of chunks that are at hand for a trial."""


@dataclass(frozen=True)
class Order:
    """The cells of a grid by what a sweep would do with them. `making`: those that need chunks and vectors, which are the same within a group."""

    cells: int
    reused: Sequence[Planned]
    rescored: Sequence[Planned]
    making: Sequence[Sequence[Planned]]
    twins: Sequence[tuple[Cell, str]]
    impossible: Sequence[Impossible]


def put_in_order(plans: Sequence[Planned | Impossible], finished: Callable[[Planned], bool], ranked: Callable[[Planned], bool]) -> Order:
    """Sort the cells of a grid, given which have their result, and which of the others a ranking that serves."""
    distinct, twins = distinct_cells([plan for plan in plans if isinstance(plan, Planned)])
    reused = [plan for plan in distinct if finished(plan)]
    known = {plan.key for plan in reused}
    rescored, groups, made = list[Planned](), dict[str, list[Planned]](), set[str]()
    for plan in distinct:
        if plan.key in known:
            continue
        if plan.ranking_key in made or ranked(plan):
            rescored.append(plan)
        else:
            made.add(plan.ranking_key)
            groups.setdefault(plan.shelf_key, []).append(plan)
    impossible = [plan for plan in plans if isinstance(plan, Impossible)]
    return Order(len(distinct), reused, rescored, list(groups.values()), twins, impossible)


@dataclass(frozen=True)
class Piece:
    """Something that is to be embedded anyway and may be tried first: a text, or a document of `chunks`. `tokens` and `length` as in Outlook."""

    embedder: Embedder
    tokens: int
    length: int
    text: str = ""
    document: int = -1
    strategy: bool = False
    store: str = ""


@dataclass
class Load:
    """One set of chunks with its questions, and what embedding it would add to what caches and the sets before it have.

    `embed` and `served` are content tokens that would go through a model, and that needn't; `held`, the distinct ones of them that a cache has now;
    `strategy`, those that a strategy embeds in order to cut, on top. `lengths` are all tokens that go through the model of that name, `passages`
    those of the chunks alone. `open`: the chunks are not known before the strategy has embedded something; then `guessed` stands for their tokens.
    `trial`: those of `served` that a trial has embedded.
    """

    cells: Sequence[Planned]
    chunks: ChunkSet | None = None
    digest: str = ""
    entries: int = 0
    text_bytes: int = 0
    embed: int = 0
    served: int = 0
    held: int = 0
    strategy: int = 0
    passages: int = 0
    guessed: int = 0
    trial: int = 0
    open: bool = False
    failure: Failure | None = None
    seconds: float = 0.0
    lengths: Counter[str] = field(default_factory=Counter)
    rows: Counter[str] = field(default_factory=Counter)
    pieces: list[Piece] = field(default_factory=list)

    @property
    def plan(self) -> Planned:
        """The first of its cells."""
        return self.cells[0]

    @property
    def vectors(self) -> bool:
        """Whether any of its cells reads vectors: without, nothing is embedded."""
        return any(reads_vectors(plan.experiment.retriever) for plan in self.cells)

    def tried(self, piece: Piece) -> None:
        """`piece` has been embedded, so it is served."""
        if piece.strategy:
            self.strategy -= piece.tokens
        else:
            self.embed, self.served, self.passages = self.embed - piece.tokens, self.served + piece.tokens, self.passages - piece.length
            self.held, self.trial = self.held + piece.tokens, self.trial + piece.tokens
        self.lengths[piece.embedder.name] -= piece.length
        self.rows[piece.store] -= 1


class _Open(Exception):
    """Chunks can't be known without embedding."""


class _Scout:
    """Stands for the embedder of a strategy: what it asks for is noted, and given where no model is needed for that."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self.asked: list[tuple[Outlook, tuple[str, ...]]] = []

    def embed(self, texts: Sequence[str], kind: Kind) -> Embedded:
        """The vectors, where they are held. Raises _Open."""
        ahead = foretelling(self._embedder)
        if ahead is not None:
            found = ahead.outlook(texts, kind)
            self.asked.append((found, tuple(texts)))
            if not found.held.all():
                raise _Open
        return self._embedder.embed(texts, kind)


class Forecaster:
    """Looks at sets of chunks one by one, in the runner's order, and remembers what those before would have embedded."""

    def __init__(self) -> None:
        self._met: dict[str, set[bytes]] = {}
        self._draw = np.random.default_rng(0)

    def look(self, cells: Sequence[Planned], chunks: ChunkSet | None = None) -> Load:
        """The load of the cells of one group; `chunks` where they are known already. What fails is told as the sweep would tell it."""
        load, began = Load(cells), time.perf_counter()
        try:
            load.chunks = self._chunked(load) if chunks is None else chunks
            self._embedded(load)
        except _Open:
            load.open = True
            load.guessed = sum(ruler.total for ruler in measure_all(load.plan.experiment.embedder.unit, load.plan.experiment.corpus.documents))
        except (Exception, SystemExit) as error:  # noqa: BLE001  whatever a part raises, the sweep goes on without the cell
            load.failure = Failure(load.plan.cell, reason(error), isinstance(error, HarnessError))
        load.seconds = time.perf_counter() - began
        return load

    def chunked(self, cells: Sequence[Planned]) -> ChunkSet | None:
        """The chunks of the cells of one group, if they can be known without a model."""
        try:
            return self._chunked(Load(cells))
        except (Exception, SystemExit):  # noqa: BLE001  `look` tells what fails
            return None

    def _chunked(self, load: Load) -> ChunkSet:
        experiment = load.plan.experiment
        chunker: Any = experiment.chunker
        scout: _Scout | None = None
        if is_dataclass(chunker) and any(part.name == "embedder" and part.init for part in fields(chunker)):
            embedder: Embedder = getattr(chunker, "embedder")  # noqa: B009  any dataclass may come with the field
            scout = _Scout(embedder)
            chunker = replace(chunker, **{"embedder": scout})  # type: ignore[type-var]
        try:
            rulers = measure_all(experiment.unit, experiment.corpus.documents)
            return chunk_documents(chunker, experiment.corpus.documents, rulers, experiment.around)
        finally:
            for found, texts in scout.asked if scout else ():
                load.strategy += self._take(load, embedder, found, texts, strategy=True)[0]

    def _embedded(self, load: Load) -> None:
        """Chunks, then questions, as harness.experiment embeds them."""
        experiment, chunks = load.plan.experiment, load.chunks
        assert chunks is not None  # noqa: S101
        documents, embedder, ahead = experiment.corpus.documents, experiment.embedder, foretelling(experiment.embedder)
        texts, more = chunks.indexed_texts(documents), chunks.second_texts()[0]
        load.digest, texts = digest(chunks), (*texts, *more) if more else texts
        load.entries, load.text_bytes = len(texts), sum(map(sys.getsizeof, texts))
        if not load.vectors:
            return
        if ahead is None:
            raise _Open
        spans = reads_spans(embedder, chunks) is not None
        if spans and isinstance(ahead, ForetellsSpans):
            passages = self._take(load, embedder, ahead.outlook_spans(documents, replace(chunks, context=None)), None)
        else:
            passages = self._take(load, embedder, ahead.outlook(texts, "passage"), texts)
        load.passages = passages[1]
        asked = self._take(load, embedder, ahead.outlook(tuple(question.text for question in experiment.corpus.questions), "query"), ())
        load.embed += passages[0] + asked[0]

    def _take(self, load: Load, embedder: Embedder, found: Outlook, texts: Sequence[str] | None, *, strategy: bool = False) -> tuple[int, int]:
        """Count what is new of `found`: its content tokens, and all that go through the model. `texts` can be tried (None: the documents can)."""
        new, known = self._new(found), found.held & self._first_met(found)
        tokens, length = int(found.tokens[new].sum()), int(found.lengths[new].sum())
        if not strategy:
            load.served += found.total - tokens
            load.held += int(found.tokens[known].sum())
        load.lengths[embedder.name] += length
        load.rows[found.store or ""] += int(new.sum())
        places = np.flatnonzero(new) if texts is None or len(texts) else np.zeros(0, dtype=np.int64)
        for place in self._draw.permutation(places)[:_SAMPLED].tolist():
            first, store = int(found.first[place]), found.store or ""
            piece = Piece(embedder, int(found.tokens[place]), int(found.lengths[place]), strategy=strategy, store=store)
            load.pieces.append(replace(piece, document=first) if texts is None else replace(piece, text=texts[first]))
        return tokens, length

    def _first_met(self, found: Outlook) -> Bools:
        """Which readings no set before had; from now on they are met."""
        met = self._met.setdefault(found.store, set()) if found.store else set[bytes]()
        fresh = np.fromiter((key not in met for key in found.keys), dtype=bool, count=len(found.keys))
        met.update(found.keys)
        return fresh

    def _new(self, found: Outlook) -> Bools:
        """Which readings neither a cache has nor a set before."""
        met = self._met.get(found.store, set[bytes]()) if found.store else set[bytes]()
        new: Bools = ~found.held & np.fromiter((key not in met for key in found.keys), dtype=bool, count=len(found.keys))
        return new


def pairs_of(cells: Sequence[Planned], chunks: int) -> int:
    """Pairs that cross-encoders would score for `cells` of so many chunks, at most: what their store holds, and repeats, come for nothing."""
    depths = [reranker.depth for plan in cells for reranker in rerankers_in(plan.experiment.retriever)]
    return sum(min(depth, chunks) for depth in depths) * len(cells[0].experiment.corpus.questions)
