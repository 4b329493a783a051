"""Chroma's fixed 400/200 with MiniLM, end to end: our chunks, our vectors, our search and our metrics against an exact run of theirs.

Their finance corpus repeats itself, so chunks tie: scores are compared, and ids only where the score at the cut is not shared.
"""

from __future__ import annotations

import csv
import functools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.chunking.fixed import FixedChunker
from harness.embedding import minilm
from harness.evaluation import Scoring, evaluate
from harness.experiment import Experiment, Retrieved, retrieve
from harness.filters import candidates_of
from harness.retrieval.dense import DenseRetriever
from harness.types import Answer, Cell, Corpus, Document, Evidence, Question, Span
from harness.units import TiktokenUnit

pytestmark = pytest.mark.slow
CLOSE = 1e-5
CELL = Cell("fixed", 400, 200, "minilm", "dense", "tiktoken:cl100k_base", "golden")


@functools.cache
def run(folder: Path) -> tuple[dict[str, Any], Experiment, Retrieved]:
    stored = json.loads((folder / "golden" / "fixed_400_200.json").read_text(encoding="utf-8"))
    order = stored["corpus_order"]
    raw = folder / "raw" / "chroma"
    documents = tuple(Document(name, (raw / "corpora" / f"{name}.md").read_bytes().decode("utf-8")) for name in order)
    with (raw / "questions_df.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    questions = []
    for number, row in enumerate(rows):
        doc = order.index(row["corpus_id"])
        evidence = (Evidence(Span(doc, item["start_index"], item["end_index"])) for item in json.loads(row["references"]))
        questions.append(Question(str(number), row["question"], (Answer(tuple(evidence)),)))
    corpus = Corpus("chroma", documents, tuple(questions), "", "")
    unit = TiktokenUnit("cl100k_base")
    candidates = candidates_of(corpus.documents, corpus.questions)
    experiment = Experiment(corpus, candidates, FixedChunker(400, 200, keep_tail=False), unit, minilm(), DenseRetriever(), unit, copies="labelled")
    return stored, experiment, retrieve(experiment, lambda stage: None, lambda done, total: None)


def top5(stored: dict[str, Any], retrieved: Retrieved, shuffled: bool = False) -> tuple[int, int, float]:
    """Questions whose five chunks are the same, questions whose cut falls into a tie, and the largest difference of scores by rank.

    Theirs are squared distances of unit vectors, d = 2 - 2 x score, from an approximate search: they are compared where that found the exact five.
    """
    chunks, ranking = retrieved.chunks, retrieved.ranking
    order = stored["corpus_order"]
    numbers = {(order.index(row["corpus_id"]), row["true_start"]): row["id"] for row in stored["chunks"]}
    ids = np.array([numbers[place] for place in zip(chunks.doc.tolist(), chunks.start.tolist(), strict=True)])
    if shuffled:
        ids = np.random.default_rng(0).permutation(ids)
    same = ties = 0
    worst = 0.0
    for place, question in enumerate(stored["questions"]):
        rows = slice(ranking.indptr[place], ranking.indptr[place] + 6)
        scores, found = ranking.score[rows], ids[ranking.chunk[rows]][:5]
        ties += bool(scores[4] - scores[5] < CLOSE)
        same += set(found.tolist()) == set(question["exact_top5_ids"])
        if question["hnsw_equals_exact_up_to_ties"]:
            theirs = 1 - np.array(question["l2sq_distances"]) / 2
            worst = max(worst, float(np.abs(scores[:5] - theirs).max()))
    return same, ties, worst


def test_the_same_top_five_up_to_ties(extra_data: Path) -> None:
    stored, _, retrieved = run(extra_data)
    same, ties, worst = top5(stored, retrieved)
    assert len(retrieved.chunks) == 1639
    assert worst < CLOSE
    assert ties < 20
    assert same >= len(stored["questions"]) - ties
    shuffled, _, _ = top5(stored, retrieved, shuffled=True)
    assert shuffled < 5, "chunks under other numbers must not pass"


def test_recall_precision_and_iou_where_nothing_ties(extra_data: Path) -> None:
    stored, experiment, retrieved = run(extra_data)
    table = evaluate(experiment, retrieved, Scoring(100), CELL, "golden").questions
    numbers = {"recall": "chroma_recall_at_5", "precision": "chroma_precision_at_5", "iou": "chroma_iou_at_5", "precision_omega": "precision_omega"}
    clear = [question["gap_5_6"] > CLOSE for question in stored["questions"]]
    for name, column in numbers.items():
        wanted = np.array([question["true_offsets_exact_search"][name] for question in stored["questions"]])
        assert np.abs(table[column].to_numpy() - wanted)[clear].max() < 1e-9
    assert sum(clear) > 400
