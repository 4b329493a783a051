"""Texts to vectors. Importing this loads neither torch nor any weights."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from harness.embedding.cache import VectorCache, prune
from harness.embedding.cached import CachedEmbedder
from harness.embedding.cached_late import CachedLateEmbedder
from harness.embedding.hashing import HashingEmbedder
from harness.embedding.late import OVERLAP, LateEmbedder
from harness.embedding.reading import Encoder
from harness.embedding.sentence_transformer import SentenceTransformerEmbedder, minilm_package
from harness.embedding.states import DiskStates, MemoryStates, prune_states
from harness.errors import ConfigError

__all__ = [
    "CachedEmbedder",
    "CachedLateEmbedder",
    "HashingEmbedder",
    "LateEmbedder",
    "SentenceTransformerEmbedder",
    "VectorCache",
    "from_model",
    "minilm",
    "prune",
    "prune_states",
    "with_cache",
]
_MEMORY_BYTES = 512 * 2**20


def from_model(model: str, *, pooling: str = "own", late_overlap: int = OVERLAP, **values: Any) -> SentenceTransformerEmbedder | LateEmbedder:
    """The sentence-transformers model `model`; `values` are the fields of `SentenceTransformerEmbedder`.

    `pooling`: own (a chunk's text goes through the model by itself, and the model pools it as it was made to) or late (`LateEmbedder`, whose windows
    share `late_overlap` tokens). Raises ConfigError for another value, ModelError where the model can't be had.
    """
    return _pooled(SentenceTransformerEmbedder(model, **values), pooling, late_overlap)


def minilm(pooling: str = "own", late_overlap: int = OVERLAP) -> SentenceTransformerEmbedder | LateEmbedder:
    """all-MiniLM-L6-v2 with the checked weights of an installed package, pooled as `from_model` says; no network.

    Raises ModelError where the weights are missing or others.
    """
    return _pooled(minilm_package(), pooling, late_overlap)


def _pooled(ordinary: SentenceTransformerEmbedder, pooling: str, late_overlap: int) -> SentenceTransformerEmbedder | LateEmbedder:
    if pooling not in ("own", "late"):
        raise ConfigError("embedder.pooling", pooling, "own (the model's) or late would do")
    return LateEmbedder(ordinary, late_overlap) if pooling == "late" else ordinary


def with_cache(embedder: Encoder | LateEmbedder, folder: Path, *, max_bytes: int) -> CachedEmbedder | CachedLateEmbedder:
    """`embedder` behind a cache of its own in `folder`, kept below about `max_bytes`, and behind memory. The file is made on first use.

    A late embedder shares the vectors of its model with the ordinary one, and keeps token states in the folder `states` beside `folder`, all models
    together below `max_bytes`; what has no room there stays in memory while that lasts (512 MiB).
    """
    plain = embedder.ordinary if isinstance(embedder, LateEmbedder) else embedder
    texts = CachedEmbedder(plain, VectorCache(folder, plain.identity, plain.dim, max_bytes=max_bytes))
    if not isinstance(embedder, LateEmbedder):
        return texts
    disk = DiskStates(folder.parent / "states", embedder.identity, max_bytes=max_bytes)
    return CachedLateEmbedder(embedder, texts, MemoryStates(disk, _MEMORY_BYTES))
