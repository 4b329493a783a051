"""What a chunking costs, before any question is asked: chunks, sizes, storage, truncation, near-duplicates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from harness.metrics.reading import measure
from harness.slices import Slices
from harness.types import Bools, ChunkSet, Document, Embedded, Floats, Ints
from harness.units.base import Ruler

SHORT = 50
NEAR = 0.8
BINS = 40


@dataclass(frozen=True, slots=True)
class Cost:
    """`figures` by name (None: not to be had) and the histogram of chunk sizes in tokens: `counts` of the half-open bins between `edges` (the last
    one closed)."""

    figures: dict[str, float | None]
    edges: Floats
    counts: Ints


def cost(
    chunks: ChunkSet,
    documents: Sequence[Document],
    rulers: Sequence[Ruler],
    *,
    embedded: Embedded | None = None,
    size: int | None = None,
    overlap: int | None = None,
) -> Cost:
    """Figures of a chunk set. `rulers`: one a document, in the embedder's tokens; `size` and `overlap` in one unit, where the strategy has them.

    chunks; chunk_chars_mean; chunk_tokens_mean, _median, _p05, _p95 (content tokens of the chunk's span, quantiles linear); stored_chars (summed
    lengths of chunks); storage_ratio = stored_chars / characters of the corpus, beside storage_ratio_theory = size / (size - overlap);
    short_chunk_share = chunks under 50 tokens; near_duplicate_share: see `near_duplicates`. From `embedded`: truncated_token_share = tokens that the
    embedder did not read / tokens, truncated_chunk_share = chunks with unread tokens / chunks, embedded_tokens and cached_tokens = tokens of texts
    that were embedded now and that came from the cache. Shares are 0..1; means and shares of no chunks are None.
    """
    lengths = chunks.end - chunks.start
    tokens = measure(rulers, chunks.doc, chunks.start, chunks.end)
    characters = sum(document.length for document in documents)
    figures: dict[str, float | None] = {
        "chunks": float(len(chunks)),
        "chunk_chars_mean": _mean(lengths),
        "chunk_tokens_mean": _mean(tokens),
        "chunk_tokens_median": _quantile(tokens, 0.5),
        "chunk_tokens_p05": _quantile(tokens, 0.05),
        "chunk_tokens_p95": _quantile(tokens, 0.95),
        "stored_chars": float(lengths.sum()),
        "storage_ratio": float(lengths.sum()) / characters if characters else None,
        "storage_ratio_theory": None if size is None or overlap is None else size / (size - overlap),
        "short_chunk_share": _mean(tokens < SHORT),
        "near_duplicate_share": _mean(near_duplicates(chunks, documents)),
    }
    if embedded is not None:
        figures |= _of_embedding(embedded)
    counts, edges = np.histogram(tokens, bins=BINS, range=(0, max(int(tokens.max(initial=0)), 1)))
    return Cost(figures, edges.astype(np.float64), counts.astype(np.int64))


def near_duplicates(chunks: ChunkSet, documents: Sequence[Document]) -> Bools:
    """Chunks that bring next to nothing new, shape (chunks,).

    A cheap definition: more than 80% of the chunk's characters also lie in the chunk before it in the same document, or its text is word for word
    that of another chunk (told by a 64-bit hash). Paraphrases are not seen.
    """
    out = np.zeros(len(chunks), dtype=bool)
    doc, start, end = chunks.doc, chunks.start, chunks.end
    shared = np.minimum(end[1:], end[:-1]) - np.maximum(start[1:], start[:-1])
    out[1:] = (doc[1:] == doc[:-1]) & (shared > NEAR * (end[1:] - start[1:]))
    hashes = np.fromiter(map(hash, Slices(documents, doc, start, end)), dtype=np.int64, count=len(chunks))
    _, place, times = np.unique(hashes, return_inverse=True, return_counts=True)
    return out | (times[place] > 1)


def _of_embedding(embedded: Embedded) -> dict[str, float | None]:
    total = int(embedded.tokens.sum())
    return {
        "truncated_token_share": int(embedded.unread.sum()) / total if total else None,
        "truncated_chunk_share": _mean(embedded.unread > 0),
        "embedded_tokens": float(embedded.tokens[~embedded.cached].sum()),
        "cached_tokens": float(embedded.tokens[embedded.cached].sum()),
    }


def _mean(values: Ints | Bools) -> float | None:
    return float(values.mean()) if len(values) else None


def _quantile(values: Ints, level: float) -> float | None:
    return float(np.quantile(values, level)) if len(values) else None
