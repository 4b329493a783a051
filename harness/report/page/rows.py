"""What the viewer knows of a question, and of a question in a cell, in as few bytes as will do."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.metrics.labels import Labels
from harness.report.explain import Explainer, lexical, sentence
from harness.report.explain.explainer import SHOWN
from harness.report.explain.reader import CellReader
from harness.report.explain.words import telling
from harness.report.material import CellMaterial
from harness.types import ChunkSet, Ints, Question

Entry = dict[str, Any]
Row = list[Any]


def question_entries(explainer: Explainer, cell: CellMaterial, numbers: Sequence[int]) -> list[Entry]:
    """Of each question: id, text, kind, filter, its telling words, and the pieces of each answer with all places where they count."""
    labels = explainer.reader(cell).relevance.labels
    return [_entry(explainer.corpus.questions[number], number, labels) for number in numbers]


def _entry(question: Question, number: int, labels: Labels) -> Entry:
    entry: Entry = {"id": question.id, "text": question.text, "words": telling(question.text)}
    if question.kind:
        entry["kind"] = question.kind
    if question.filter:
        entry["filter"] = ", ".join(f"{name}: {wanted}" for name, wanted in question.filter.items())
    piece, answers = int(np.searchsorted(labels.evidence_question, number)), []
    for answer in question.answers:
        pieces = []
        for evidence in answer.evidence:
            low, high = np.searchsorted(labels.place_evidence, [piece, piece + 1])
            columns = (labels.place_doc, labels.place_start, labels.place_end)
            places = np.stack([values[low:high] for values in columns], axis=1).tolist()
            pieces.append({"role": evidence.role, "places": places})
            piece += 1
        if pieces:
            answers.append(pieces)
    return {**entry, "answers": answers}


def cell_rows(explainer: Explainer, cell: CellMaterial, numbers: Sequence[int]) -> list[Row]:
    """Of each question in a cell: [sentence, tokens to answer (-1: never complete, null: nothing to find), chunks retrieved, their scores in
    ten-thousandths, what BM25 was to find, its rank, its chunk]."""
    reader = explainer.reader(cell)
    tokens = cell.result.questions["tokens_to_answer"].to_numpy(dtype=np.float64)
    return [_row(reader, number, float(tokens[number])) for number in numbers]


def _row(reader: CellReader, number: int, tokens: float) -> Row:
    view = reader.view(number)
    words = lexical(reader, number, view)
    read = None if math.isnan(tokens) else int(tokens) if math.isfinite(tokens) else -1
    scores = [None if math.isnan(score) else round(score * 10_000) for score in view.score[:SHOWN]]
    return [sentence(reader, number, view), read, list(view.chunk[:SHOWN]), scores, words.what, words.rank, words.chunk]


def chunk_columns(chunks: ChunkSet, documents: int) -> dict[str, object]:
    """The chunks of a cell: how many each document has, the step from start to start within a document, and lengths; of what they return, where it
    differs, how far it reaches before the chunk's start and past its end."""
    counts = np.bincount(chunks.doc, minlength=documents)
    steps = np.diff(chunks.start, prepend=0)
    first = np.searchsorted(chunks.doc, np.flatnonzero(counts))
    steps[first] = chunks.start[first]
    out: dict[str, object] = {"counts": counts.tolist(), "steps": steps.tolist(), "lengths": (chunks.end - chunks.start).tolist()}
    before, after = chunks.start - chunks.returned_start, chunks.returned_end - chunks.end
    if _any(before) or _any(after):
        out |= {"before": before.tolist(), "after": after.tolist()}
    return out


def _any(values: Ints) -> bool:
    return bool((values != 0).any())
