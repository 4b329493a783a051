"""Chroma's omega for cluster_semantic at 400 and 200 cl100k tokens with MiniLM, beside what their report prints, and what makes the difference.

    python benchmarks/chroma_cluster.py FOLDER

FOLDER holds raw/chroma (their corpora/ and questions_df.csv). Rows: the strategy as it is; with their limit of size // 50 pieces a chunk; with their
pieces as well (LangChain's recursive splitter at 50 tokens); and our pieces of 50 tokens with vectors drawn by chance, to show what the vectors
are worth. Each distinct piece is embedded once. Omega needs no ranking, so questions are ranked at random.
"""

from __future__ import annotations

import argparse
import csv
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import numpy as np
from langchain_text_splitters import RecursiveCharacterTextSplitter

from harness.chunking.base import Chunker, Pieces
from harness.chunking.cluster_semantic import ClusterSemanticChunker, best_runs
from harness.chunking.similarity import Embeds
from harness.embedding import CachedEmbedder, HashingEmbedder, minilm
from harness.evaluation import Scoring, evaluate
from harness.experiment import Experiment, retrieve
from harness.filters import candidates_of
from harness.retrieval.controls import RandomRetriever
from harness.types import Answer, Cell, Corpus, Document, Embedded, Evidence, Question, Span
from harness.units import TiktokenUnit
from harness.units.base import Ruler

UNIT = TiktokenUnit("cl100k_base")
PIECE = 50
PRINTED = {400: "20.7 ± 14.5 (text-embedding-3-large)", 200: "34.0 ± 19.7 (text-embedding-3-large), 33.6 ± 20.0 (MiniLM)"}


@dataclass(frozen=True)
class TheirPieces:
    """best_runs over LangChain's pieces, at most `most` a chunk."""

    embedder: Embeds
    most: int

    def split(self, text: str, ruler: Ruler) -> Pieces:
        splitter = RecursiveCharacterTextSplitter(
            chunk_size=PIECE,
            chunk_overlap=0,
            length_function=lambda part: UNIT.measure(part).total,
            separators=["\n\n", "\n", ".", "?", "!", " ", ""],
        )
        start, end, place = [], [], 0
        texts = splitter.split_text(text)
        for piece in texts:
            found = text.index(piece, place)
            assert not text[place:found].strip(), "a piece that is not where the last one ended"
            start.append(found)
            end.append(place := found + len(piece))
        number = np.arange(len(texts))
        first = best_runs(self.embedder.embed(texts, "passage").vectors, np.maximum(number - self.most + 1, 0))
        last = np.append(first[1:], len(texts)) - 1
        return Pieces(np.array(start, dtype=np.int64)[first], np.array(end, dtype=np.int64)[last])


class ByChance:
    """Vectors that know nothing of their text."""

    def embed(self, texts: Sequence[str], kind: str) -> Embedded:
        drawn = np.random.default_rng(0).standard_normal((len(texts), 384)).astype(np.float32)
        none = np.zeros(len(texts), dtype=np.int64)
        return Embedded(drawn / np.linalg.norm(drawn, axis=1, keepdims=True), none, none, none.astype(bool))


def corpus_of(raw: Path) -> Corpus:
    with (raw / "questions_df.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    names = sorted({row["corpus_id"] for row in rows})
    documents = tuple(Document(name, (raw / "corpora" / f"{name}.md").read_bytes().decode("utf-8")) for name in names)
    questions = []
    for number, row in enumerate(rows):
        spans = (Span(names.index(row["corpus_id"]), item["start_index"], item["end_index"]) for item in json.loads(row["references"]))
        questions.append(Question(str(number), row["question"], (Answer(tuple(Evidence(span) for span in spans)),)))
    return Corpus("chroma", documents, tuple(questions), "", "")


def measured(corpus: Corpus, chunker: Chunker) -> str:
    candidates = candidates_of(corpus.documents, corpus.questions)
    experiment = Experiment(corpus, candidates, chunker, UNIT, HashingEmbedder(2), RandomRetriever(), UNIT, copies="labelled")
    found = retrieve(experiment, lambda stage: None, lambda done, total: None)
    cell = Cell("cluster_semantic", None, None, "minilm", "random", UNIT.name, "omega")
    omega = 100 * evaluate(experiment, found, Scoring(10), cell, "omega").questions["precision_omega"].to_numpy()
    chunks, rulers = found.chunks, [UNIT.measure(document.text) for document in corpus.documents]
    tokens = [int(rulers[doc].size(start, end)) for doc, start, end in zip(chunks.doc, chunks.start, chunks.end, strict=True)]
    seconds = found.facts["seconds_chunk"]
    return f"{omega.mean():5.1f} ± {omega.std():4.1f}   {len(tokens):5} chunks, mean {np.mean(tokens):5.1f} tokens   {seconds:6.1f} s"


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("folder", type=Path)
    corpus = corpus_of(words.parse_args().folder / "raw" / "chroma")
    embedder = CachedEmbedder(minilm())
    began = time.perf_counter()
    print(f"{date.today()}  omega in %, mean ± standard deviation over {len(corpus.questions)} questions; seconds of chunking, embedding included")
    for size in (400, 200):
        print(f"size {size}, printed {PRINTED[size]}", flush=True)
        rows: list[tuple[str, Chunker]] = [
            ("cluster_semantic", ClusterSemanticChunker(size, embedder, piece=PIECE)),
            (f"at most {size // PIECE} pieces", ClusterSemanticChunker(size, embedder, piece=PIECE, most_pieces=size // PIECE)),
            ("and their pieces", TheirPieces(embedder, size // PIECE)),
            ("by chance", ClusterSemanticChunker(size, ByChance(), piece=PIECE)),
        ]
        for name, chunker in rows:
            print(f"  {name:<20} {measured(corpus, chunker)}", flush=True)
    print(f"{time.perf_counter() - began:.0f} s in all")


if __name__ == "__main__":
    main()
