"""Texts to vectors. Importing this loads neither torch nor any weights."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from harness.embedding.base import AsksForDim, Embedder
from harness.embedding.cache import VectorCache, prune
from harness.embedding.cached import CachedEmbedder
from harness.embedding.cached_late import CachedLateEmbedder
from harness.embedding.factories import from_endpoint, from_model, from_onnx, from_static, hashed, minilm
from harness.embedding.hashing import HashingEmbedder
from harness.embedding.http_store import behind_late_cache
from harness.embedding.late import LateEmbedder
from harness.embedding.onnx import OnnxEmbedder
from harness.embedding.sentence_transformer import SentenceTransformerEmbedder
from harness.embedding.states import DiskStates, MemoryStates, prune_states
from harness.embedding.static import StaticEmbedder
from harness.embedding.stored import StoredEmbedder
from harness.errors import ConfigError

__all__ = [
    "CachedEmbedder",
    "CachedLateEmbedder",
    "HashingEmbedder",
    "LateEmbedder",
    "OnnxEmbedder",
    "SentenceTransformerEmbedder",
    "StaticEmbedder",
    "StoredEmbedder",
    "VectorCache",
    "from_endpoint",
    "from_model",
    "from_onnx",
    "from_static",
    "hashed",
    "minilm",
    "prune",
    "prune_states",
    "with_cache",
]
_MEMORY_BYTES = 512 * 2**20


def with_cache(embedder: Embedder, folder: Path, *, max_bytes: int) -> Embedder:
    """`embedder` behind a cache of its own in `folder`, kept below about `max_bytes`, and behind memory. The file is made on first use.

    A late embedder shares the vectors of its model with the ordinary one, and keeps token states in the folder `states` beside `folder`, all models
    together below `max_bytes`; what has no room there stays in memory while that lasts (512 MiB). One that shortens or rounds vectors stands in
    front of the cache of the one behind it. A static one needs no cache. One that has to ask for the length of a vector is not asked here.
    """
    if isinstance(embedder, StoredEmbedder):
        return embedder.over(with_cache(embedder.behind, folder, max_bytes=max_bytes))
    if isinstance(embedder, StaticEmbedder):
        return embedder
    plain: Any = embedder.ordinary if isinstance(embedder, LateEmbedder) else embedder
    if isinstance(plain, AsksForDim):
        return behind_late_cache(plain, folder, max_bytes=max_bytes)
    if not (callable(getattr(plain, "read", None)) and callable(getattr(plain, "vectors", None))):
        raise ConfigError(
            "embedder", type(plain).__name__, "has no read and vectors, which show what a model reads and give its vectors (docs/extending.md)"
        )
    texts = CachedEmbedder(plain, VectorCache(folder, plain.identity, plain.dim, max_bytes=max_bytes))
    if not isinstance(embedder, LateEmbedder):
        return texts
    disk = DiskStates(folder.parent / "states", embedder.identity, max_bytes=max_bytes)
    return CachedLateEmbedder(embedder, texts, MemoryStates(disk, _MEMORY_BYTES))
