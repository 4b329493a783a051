"""How fast this machine embeds, searches and scores: short trials of work that a sweep has to do anyway.

What a trial embeds goes through the cache, so it is not embedded again. Nothing that asks money, or sends texts elsewhere, is tried.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from harness.embedding.base import AsksForDim, EmbedsSpans, InFront, priced, vector_bytes
from harness.evaluation import evaluate
from harness.experiment import Prepared, search
from harness.loads import Load, Piece
from harness.planned import Planned
from harness.retrieval.base import Queries, Remembers, Shelf
from harness.types import ChunkSet, Vectors

_SECONDS = 2.0
_WARM = 300
"""Tokens that are embedded first, while the model is loaded; then so many more, to see how fast it goes."""
_USUAL_DIM = 1024


@dataclass(frozen=True)
class Trial:
    """What a trial found: tokens a second, seconds of the first call (loading the model), tokens that it embedded, all of them and content alone."""

    rate: float
    loading: float
    length: int
    tokens: int


def calibrate(loads: Sequence[Load], seconds: float = _SECONDS) -> dict[str, Trial]:
    """Trials of about so many seconds for every embedder, by name, on what it would have to embed; a load's counts fall by what is embedded now.

    A random sample, so that short and long texts are in it as they are in the whole. No trial for an embedder that is paid, or behind a network.
    """
    pieces: dict[str, list[tuple[Load, Piece]]] = {}
    for load in loads:
        for piece in load.pieces:
            if may_try(piece.embedder):
                pieces.setdefault(piece.embedder.name, []).append((load, piece))
    draw = np.random.default_rng(0)
    shuffled = {name: [some[place] for place in draw.permutation(len(some)).tolist()] for name, some in pieces.items()}
    return {name: trial for name, some in shuffled.items() if (trial := _try(some, seconds)) is not None}


def may_try(embedder: Any) -> bool:
    """Whether a trial of it costs nothing but time."""
    return priced(embedder) is None and not isinstance(_behind_all(embedder), AsksForDim)


def _try(pieces: Sequence[tuple[Load, Piece]], seconds: float) -> Trial | None:
    at, length, tokens, spent, loading, wanted = 0, 0, 0, 0.0, None, float(_WARM)
    timed = 0
    while at < len(pieces) and spent < seconds:
        stop = _stop(pieces, at, wanted)
        began = time.perf_counter()
        _embed(pieces[at:stop])
        took = time.perf_counter() - began
        size = sum(piece.length for _, piece in pieces[at:stop])
        length, tokens, at = length + size, tokens + sum(piece.tokens for _, piece in pieces[at:stop]), stop
        if loading is None:
            loading = took
        else:
            timed, spent = timed + size, spent + took
            wanted = max(timed / max(spent, 1e-6) * (seconds - spent), _WARM)
    return Trial(timed / spent, loading or 0.0, length, tokens) if timed and spent else None


def _stop(pieces: Sequence[tuple[Load, Piece]], start: int, wanted: float) -> int:
    """The end of as many pieces as have the tokens that are wanted, one at least."""
    stop, size = start, 0
    while stop < len(pieces) and (size < wanted or stop == start):
        size += pieces[stop][1].length
        stop += 1
    return stop


def _embed(pieces: Sequence[tuple[Load, Piece]]) -> None:
    """Embed them, each in the call that fits it, and count them as done."""
    texts: dict[int, list[Piece]] = {}
    for load, piece in pieces:
        if piece.document >= 0:
            _embed_document(load, piece)
        else:
            texts.setdefault(id(piece.embedder), []).append(piece)
        load.tried(piece)
    for some in texts.values():
        some[0].embedder.embed([piece.text for piece in some], "passage")


def _embed_document(load: Load, piece: Piece) -> None:
    chunks = load.chunks
    assert chunks is not None  # noqa: S101
    assert isinstance(piece.embedder, EmbedsSpans)  # noqa: S101
    mine = chunks.doc == piece.document
    columns = [column[mine] for column in (chunks.doc, chunks.start, chunks.end, chunks.returned_start, chunks.returned_end)]
    piece.embedder.embed_spans(load.plan.experiment.corpus.documents, ChunkSet(*columns))


def rehearse(load: Load) -> float | None:
    """Seconds to search and score the first cell of `load`, tried on its chunks with random vectors; None where that would need a model."""
    plan, chunks = load.plan, load.chunks
    if chunks is None or isinstance(plan.experiment.retriever, Remembers):
        return None
    experiment = plan.experiment
    prepared = _made_up(plan, chunks)
    began = time.perf_counter()
    retrieved = search(experiment, prepared, lambda _: None)
    evaluate(experiment, retrieved, plan.scoring, plan.cell, plan.key)
    return time.perf_counter() - began


def _made_up(plan: Planned, chunks: ChunkSet) -> Prepared:
    """As harness.experiment prepares them, with vectors out of the air."""
    experiment, draw = plan.experiment, np.random.default_rng(0)
    more, chunk = chunks.second_texts()
    entry = np.concatenate([np.arange(len(chunks)), chunk]) if more else None
    documents, dim = experiment.corpus.documents, dim_of(experiment.embedder)

    def rows(count: int) -> Vectors:
        found = draw.standard_normal((count, dim), dtype=np.float32)
        unit: Vectors = found / np.linalg.norm(found, axis=1, keepdims=True)
        return unit

    texts, asked = tuple(chunks.indexed_texts(documents)), tuple(question.text for question in experiment.corpus.questions)
    shelf = Shelf(chunks.doc, texts, rows(len(chunks) if entry is None else len(entry)), entry, documents, vector_bytes(experiment.embedder))
    facts = dict.fromkeys(("truncated_token_share", "truncated_chunk_share", "embedded_tokens", "cached_tokens"), 0.0)
    return Prepared(chunks, shelf, Queries(asked, rows(len(asked))), facts)


def dim_of(embedder: Any) -> int:
    """Length of its vectors; where only a server knows it, what is usual."""
    plain = _behind_all(embedder)
    if isinstance(plain, AsksForDim):
        return int(getattr(plain, "dimensions", None) or plain.known_dim() or _USUAL_DIM)
    return int(embedder.dim)


def _behind_all(embedder: Any) -> Any:
    """The embedder that works, behind all that stands in front of it."""
    while isinstance(embedder, InFront):
        embedder = embedder.behind
    return embedder
