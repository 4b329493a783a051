"""Are a peer's numbers right? Its own chunks, put back at their true places and counted by our rule, against what it told.

A peer that cuts elsewhere than we do rightly gets another answer existence; that is no fault. So the judge takes a peer's chunks as they are, places
them all together in their document (harness.chunking.alignment, in order, not one by one), counts answer existence on these places, and looks at the
difference to the number that the peer printed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from harness.chunking.alignment import align
from harness.embedding.sentence_transformer import SentenceTransformerEmbedder, minilm_package
from harness.filters import candidates_of
from harness.metrics.existence import existence
from harness.metrics.held import relevant
from harness.types import ChunkSet, Corpus, Document

AXES = ("strategy", "size", "overlap")
_RETOKENISED = 2
"""A chunk that begins or ends inside a word may measure so much more by itself; that is not called larger."""


@dataclass(frozen=True)
class Verdict:
    """One cell. `told` and `n` are the peer's; `true` is on the same chunks by our rule, `ours` our own cell's; counts are of chunks."""

    cell: Mapping[str, Any]
    told: float
    n: int
    true: float
    ours: float
    chunks: int
    misplaced: int
    altered: int
    lost: int
    larger: int
    over: int


def key(row: Mapping[str, Any]) -> tuple[Any, ...]:
    """What names a cell on every side."""
    return tuple(row[axis] for axis in AXES)


def judge(corpus: Corpus, told: Sequence[Mapping[str, Any]], chunks: Sequence[Mapping[str, Any]], ours: Sequence[Mapping[str, Any]]) -> list[Verdict]:
    """One verdict a cell that the peer told of."""
    cut, mine = {key(row): row["chunks"] for row in chunks}, {key(row): row["exists"] for row in ours}
    return [_verdict(corpus, row, cut[key(row)], mine[key(row)]) for row in told]


def asking_one_passage(corpus: Corpus) -> Corpus:
    """The corpus with only the questions that a peer can ask whose questions have one passage each."""
    return replace(
        corpus, questions=tuple(question for question in corpus.questions if [len(answer.evidence) for answer in question.answers][:1] == [1])
    )


def _verdict(corpus: Corpus, row: Mapping[str, Any], cut: Sequence[tuple[str, str, int]], ours: float) -> Verdict:
    columns: list[tuple[int, int, int]] = []
    faults = np.zeros(3, dtype=np.int64)
    for number, document in enumerate(corpus.documents):
        pieces = [(text, start) for name, text, start in cut if name == document.id]
        places, found = _placed(document, pieces)
        columns += [(number, start, end) for start, end in places]
        faults += found
    sizes = [_embedder().unit.measure(text).total for _, text, _ in cut]
    larger = sum(size > row["size"] + _RETOKENISED for size in sizes)
    over = sum(size > _embedder().limit for size in sizes)
    misplaced, altered, lost = faults.tolist()
    return Verdict(row, row["exists"], row["n"], answer_existence(corpus, columns), ours, len(cut), misplaced, altered, lost, larger, over)


def _placed(document: Document, pieces: Sequence[tuple[str, int]]) -> tuple[list[tuple[int, int]], np.ndarray]:
    """True places of a document's pieces, and how many are claimed to stand elsewhere, are no slice of it, stand nowhere."""
    places = align(document.text, [text for text, _ in pieces])
    spans, misplaced, altered = [], 0, 0
    for (text, claimed), start, end in zip(pieces, places.start.tolist(), places.end.tolist(), strict=True):
        if start < 0:
            continue
        spans.append((start, end))
        verbatim = claimed >= 0 and document.text[claimed : claimed + len(text)] == text
        altered += not verbatim
        misplaced += verbatim and claimed + len(text) - len(text.lstrip()) != start
    return spans, np.array([misplaced, altered, len(pieces) - len(spans)])


@cache
def _embedder() -> SentenceTransformerEmbedder:
    return minilm_package()


def answer_existence(corpus: Corpus, spans: Sequence[tuple[int, int, int]]) -> float:
    """Share of the questions that one passage of text can answer which some span holds the answer of; spans are (document, start, end)."""
    doc, start, end = np.array(sorted(set(spans)), dtype=np.int64).reshape(-1, 3).T.copy()
    relevance = relevant(corpus, ChunkSet(doc, start, end, start, end), candidates_of(corpus.documents, corpus.questions))
    return float(np.nanmean(existence(relevance).means["answer_existence"]))
