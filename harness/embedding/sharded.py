"""The texts of a cell embedded in shards: contiguous parts, each read and embedded by itself, here or on another machine, into a file of its own.

Everything is what one call of `embed` would say: tokens, what is not read, and what came from a cache. First all shards are read, which needs no
weights and names what a model reads of each text; then each shard embeds the readings that no earlier one has. So nothing is embedded twice, on
whatever machine; texts are tokenised twice, which is little beside a model's work.

Vectors of a model depend on the batch around them in the last bits (see harness.embedding.base), and a shard makes other batches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from harness.embedding.base import Described, Embedder, InFront, Kind, Progress
from harness.embedding.reading import Inputs
from harness.errors import ConfigError
from harness.shards import ShardedVectors, ShardFolder, VectorFiles, write_vectors
from harness.types import Bools, Embedded, Ints

Names = npt.NDArray[np.bytes_]
READING = "S16"
"""A reading's key as NumPy sorts it: all have 16 bytes, so that the zeros at an end that it leaves out of account can't make two of them equal."""


@dataclass(frozen=True)
class Read:
    """What a shard's texts are to a model: the name of each one's reading, its content tokens, and how many of these are not read."""

    names: Names
    tokens: Ints
    unread: Ints


@dataclass(frozen=True)
class Source:
    """An embedder, and the resolved configuration that makes it again elsewhere."""

    embedder: Embedder
    recipe: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Texts:
    """`count` texts, cut at `bounds`; `of(start, stop)` gives some of them."""

    bounds: Ints
    of: Callable[[int, int], Sequence[str]]

    @property
    def shards(self) -> int:
        """How many parts there are."""
        return len(self.bounds) - 1

    def part(self, shard: int) -> Sequence[str]:
        """The texts of one shard."""
        return self.of(int(self.bounds[shard]), int(self.bounds[shard + 1]))


class Crew(Protocol):
    """Who works on shards: this process, or others."""

    def read(self, source: Source, texts: Texts, folder: Path) -> Iterator[Read]:
        """What the model reads of each shard, in their order."""
        ...

    def embed(self, source: Source, texts: Texts, folder: Path, wanted: Sequence[Ints], progress: Progress) -> Iterator[Bools]:
        """Write the vectors of each shard's `wanted` texts (counted from its first) to `vectors_file`; of each, whether a cache had it."""
        ...


class Here:
    """One shard after the other, in this process. What is in memory is one shard's vectors, and what the embedder's cache keeps."""

    def read(self, source: Source, texts: Texts, folder: Path) -> Iterator[Read]:
        """See Crew."""
        for shard in range(texts.shards):
            yield read_shard(source.embedder, texts.part(shard))

    def embed(self, source: Source, texts: Texts, folder: Path, wanted: Sequence[Ints], progress: Progress) -> Iterator[Bools]:
        """See Crew."""
        for shard, places in enumerate(wanted):
            yield embed_shard(source.embedder, chosen(texts.part(shard), places), vectors_file(folder, shard), progress)


def embed_in_shards(
    source: Source, texts: Texts, folder: ShardFolder, crew: Crew, progress: Progress | None = None
) -> tuple[ShardedVectors, Embedded]:
    """The vectors of `texts` in files of `folder`, and what it took to make them (with no vectors in it). Holds some 60 bytes a text."""
    read = list(crew.read(source, texts, folder.path))
    tokens, unread = np.concatenate([one.tokens for one in read]), np.concatenate([one.unread for one in read])
    place, first = first_met(np.concatenate([one.names for one in read]))
    ends = np.searchsorted(first, texts.bounds)
    wanted = [first[low:high] - start for (low, high), start in zip(pairwise(ends), texts.bounds[:-1], strict=True)]
    told = _Told(progress, [int((tokens - unread)[first[low:high]].sum()) for low, high in pairwise(ends)])
    cached = np.ones(len(tokens), dtype=bool)
    for shard, held in enumerate(crew.embed(source, texts, folder.path, wanted, told)):
        cached[first[ends[shard] : ends[shard + 1]]] = held
        told.finished(shard)
    files = VectorFiles(tuple(str(vectors_file(folder.path, shard)) for shard in range(texts.shards)), tuple(ends[1:].tolist()), source.embedder.dim)
    nothing = np.zeros((0, source.embedder.dim), dtype=np.float32)
    return ShardedVectors(files, place, folder), Embedded(nothing, tokens, unread, cached)


def first_met(names: Names) -> tuple[Ints, Ints]:
    """(place, first): where in the order of first appearance the reading of each text stands, and in which texts they are first met."""
    _, first, number = np.unique(names, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty(len(first), dtype=np.int64)
    rank[order] = np.arange(len(first))
    return rank[number], first[order].astype(np.int64)


def vectors_file(folder: Path, shard: int) -> Path:
    """Where the vectors of a shard lie."""
    return folder / f"vectors-{shard:05d}.npy"


def read_shard(embedder: Embedder, texts: Sequence[str]) -> Read:
    """What the model reads of `texts`. Loads no weights."""
    inputs = reader_of(embedder).read(texts, "passage")
    names = np.array(inputs.keys, dtype=READING)
    return Read(names[inputs.row] if len(texts) else names, inputs.tokens, inputs.unread)


def embed_shard(embedder: Embedder, texts: Sequence[str], path: Path, progress: Progress | None = None) -> Bools:
    """Write the vectors of `texts` to `path`; of each, whether a cache had it. Raises PartError where the model gives NaN or a wrong shape,
    StoreError where they can't be written."""
    if not len(texts):
        return np.zeros(0, dtype=bool)
    found = embedder.embed(texts, "passage", progress)
    write_vectors(path, found.vectors)
    return found.cached


def chosen(texts: Sequence[str], places: Ints) -> Sequence[str]:
    """Some of the texts; themselves where these are all."""
    return texts if len(places) == len(texts) else [texts[place] for place in places.tolist()]


@runtime_checkable
class _Reads(Protocol):
    def read(self, texts: Sequence[str], kind: Kind) -> Inputs: ...


def reader_of(embedder: Described) -> _Reads:
    """What shows what the model reads: the embedder, or the one that it stands in front of. Raises ConfigError where nothing does."""
    while not isinstance(embedder, _Reads) and isinstance(embedder, InFront):
        embedder = embedder.behind
    if not isinstance(embedder, _Reads):
        raise ConfigError(
            "embedder", embedder.name, "does not show what it reads (docs/extending.md), so it can't embed in shards; shards=1 would do"
        )
    return embedder


class _Told:
    """Progress over all shards, from what each tells of its own, by the tokens that it has."""

    def __init__(self, progress: Progress | None, tokens: Sequence[int]) -> None:
        self._progress, self._tokens, self._total = progress, tokens, sum(tokens)
        self._done, self._shard = 0, 0

    def __call__(self, done: int, total: int) -> None:
        if self._progress is not None and self._shard < len(self._tokens):
            self._progress(self._done + self._tokens[self._shard] * done // max(total, 1), self._total)

    def finished(self, shard: int) -> None:
        self._done, self._shard = self._done + self._tokens[shard], shard + 1
        if self._progress is not None:
            self._progress(self._done, self._total)
