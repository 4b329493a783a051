"""A cell whose vectors lie in shards: embedded part by part into files, searched file by file, merged. How, not what: no number depends on it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from harness.embedding.base import Embedder, EmbedsSpans, Progress
from harness.embedding.sharded import Crew, Here, Source, Texts, embed_in_shards, reader_of
from harness.errors import ConfigError
from harness.retrieval.around import Around
from harness.retrieval.base import Retriever, Shelf, reads_vectors
from harness.retrieval.dense import DenseRetriever
from harness.retrieval.shards import Heard, Part, Sharded, search_here
from harness.shards import ShardFolder, VectorFiles, shard_bounds
from harness.types import ChunkSet, Embedded


class Workers(Crew, Protocol):
    """Who embeds shards, and searches them."""

    def search(self, parts: Sequence[Part], files: VectorFiles) -> Sequence[Heard]:
        """Look at each part; the answers in their order."""
        ...


class ThisProcess(Here):
    """One shard after the other."""

    def search(self, parts: Sequence[Part], files: VectorFiles) -> Sequence[Heard]:
        """See Workers."""
        return search_here(parts, files)


def searches_shards(retriever: Retriever) -> bool:
    """Whether it can do with vectors in shards: exact search, what looks at none, and what orders anew what these found without looking itself."""
    if isinstance(retriever, DenseRetriever) or not reads_vectors(retriever):
        return True
    if not isinstance(retriever, Around) or type(retriever).reads_vectors is not Around.reads_vectors:
        return False
    return all(searches_shards(part) for part in retriever.held().values())


@dataclass(frozen=True)
class Sharding:
    """`count` shards, whose files lie under `folder`; `recipe` makes the cell's embedder elsewhere."""

    count: int
    folder: Path
    workers: Workers = field(default_factory=ThisProcess)
    recipe: Mapping[str, Any] = field(default_factory=dict)

    def check(self, embedder: Embedder, retriever: Retriever, name: str) -> None:
        """Raises ConfigError where a cell with these parts can't be sharded. `name`: of the retriever, as typed."""
        if not searches_shards(retriever):
            raise ConfigError("shards", self.count, f"retriever={name} looks at all vectors in one place; retriever=dense would do, or shards=1")
        if isinstance(embedder, EmbedsSpans):
            raise ConfigError("shards", self.count, f"{embedder.name} reads whole documents, in one place; another embedder would do, or shards=1")
        reader_of(embedder)

    def embedded(self, embedder: Embedder, chunks: ChunkSet, shelf: Shelf, progress: Progress | None = None) -> tuple[Shelf, Embedded]:
        """`shelf` with its vectors in shards, and what it took to embed them. The entries of a chunk follow each other and lie in one shard."""
        more, chunk = chunks.second_texts()
        entry = np.concatenate([np.arange(len(chunks)), chunk])
        order = np.argsort(entry, kind="stable") if more else None
        cuts = shard_bounds(len(chunks), self.count)
        texts = Texts(cuts if order is None else np.searchsorted(entry[order], cuts), lambda start, stop: shelf.texts[start:stop])
        if order is not None:

            def some(start: int, stop: int) -> list[str]:
                numbers = order[start:stop].tolist()
                return [shelf.texts[number] if number < len(chunks) else more[number - len(chunks)] for number in numbers]

            texts = replace(texts, of=some)
        vectors, took = embed_in_shards(Source(embedder, self.recipe), texts, ShardFolder(self.folder), self.workers, progress)
        filled = shelf.filled(took.vectors, None if order is None else entry[order])
        return replace(filled, sharded=Sharded(vectors, self.workers.search)), took
