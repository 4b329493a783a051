"""Texts to vectors. Importing this loads neither torch nor any weights."""

from __future__ import annotations

from pathlib import Path

from harness.embedding.cache import VectorCache, prune
from harness.embedding.cached import CachedEmbedder
from harness.embedding.hashing import HashingEmbedder
from harness.embedding.reading import Encoder
from harness.embedding.sentence_transformer import SentenceTransformerEmbedder, minilm

__all__ = ["CachedEmbedder", "HashingEmbedder", "SentenceTransformerEmbedder", "VectorCache", "minilm", "prune", "with_cache"]


def with_cache(embedder: Encoder, folder: Path, *, max_bytes: int) -> CachedEmbedder:
    """`embedder` behind a cache of its own in `folder`, kept below about `max_bytes`, and behind memory. The file is made on first use."""
    return CachedEmbedder(embedder, VectorCache(folder, embedder.identity, embedder.dim, max_bytes=max_bytes))
