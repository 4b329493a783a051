"""Chunking: from a document to spans of it. base.py is the contract; one strategy a file."""

from __future__ import annotations

from harness.chunking.base import Chunker, Pieces
from harness.chunking.chunk_corpus import chunk_documents, digest
from harness.chunking.overlap import resolve_overlap

__all__ = ["Chunker", "Pieces", "chunk_documents", "digest", "resolve_overlap"]
