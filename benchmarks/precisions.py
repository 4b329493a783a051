"""What computing in fewer bits costs and brings: bfloat16, and int8 linear layers, against float32 on the same chunks and questions.

    python benchmarks/precisions.py [FOLDER of a labelled corpus; the handbook without one] [--documents 8] [--questions 300]

MiniLM on the CPU, recursive chunks of 250 word pieces with 10% overlap. int8: torch's dynamic quantisation of every linear layer, with one scale a
layer or one a row of weights; the harness does not offer it. Differences are paired over the questions, with 95% intervals. Cosines are to the
float32 vectors of some passages; the speed is that of embedding these, in CPU-seconds, the median of three turns taken alternately.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
import warnings

import numpy as np
import torch
from embedders import result
from simulated import table

from harness.corpus.bundled import bundled
from harness.corpus.folder import dataset
from harness.embedding.precision import lowest_cosine
from harness.embedding.sentence_transformer import SentenceTransformerEmbedder, minilm_package
from harness.evaluation import Scoring, resampler_for
from harness.retrieval.dense import DenseRetriever
from harness.statistics.paired import paired
from harness.types import Corpus

METRICS = ("complete_within_2048", "complete_at_5")
CHARS, SOME, TURNS = 900, 60, 3


def quantised(scales: str) -> SentenceTransformerEmbedder:
    made = minilm_package()
    way = torch.ao.quantization.per_channel_dynamic_qconfig if scales == "a row" else torch.ao.quantization.default_dynamic_qconfig
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it moves to another package some day
        made.engine.model = torch.ao.quantization.quantize_dynamic(made.engine.model, {torch.nn.Linear: way})
    return made


def speeds(ways: dict[str, SentenceTransformerEmbedder], texts: list[str]) -> tuple[dict[str, float], dict[str, np.ndarray]]:
    """CPU-seconds and vectors of each way."""
    seconds: dict[str, list[float]] = {way: [] for way in ways}
    vectors = {}
    for _ in range(TURNS):
        for way, embedder in ways.items():
            began = time.process_time()
            vectors[way] = embedder.embed(texts, "passage").vectors
            seconds[way].append(time.process_time() - began)
    return {way: statistics.median(some) for way, some in seconds.items()}, vectors


def rows_of(corpus: Corpus) -> list[list[object]]:
    ways = {
        "float32": minilm_package(),
        "bfloat16": minilm_package("bfloat16"),
        "int8, a scale a layer": quantised("a layer"),
        "int8, a scale a row": quantised("a row"),
    }
    texts = [document.text[start : start + CHARS] for document in corpus.documents for start in range(0, len(document.text), CHARS)][:SOME]
    seconds, vectors = speeds(ways, texts)
    found = {way: result(corpus, embedder, DenseRetriever(), way) for way, embedder in ways.items()}
    plain, rows = found["float32"].questions, []
    sampler = resampler_for(plain, Scoring())
    for way, one in found.items():
        row: list[object] = [corpus.name, way, f"{seconds['float32'] / seconds[way]:.2f}"]
        row += [f"{np.einsum('ij,ij->i', vectors[way], vectors['float32']).mean():.5f}", f"{lowest_cosine(vectors[way], vectors['float32']):.5f}"]
        for metric in METRICS:
            pair = paired(one.questions[metric].to_numpy(float), plain[metric].to_numpy(float), sampler)
            row.append(f"{one.metrics[metric]:.3f} ({pair.difference:+.3f} [{pair.low:+.3f}, {pair.high:+.3f}])")
        rows.append([*row, f"{one.metrics['discrimination']:.3f}", found["float32"].counts["complete_within_2048"]])
    return rows


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("folder", nargs="?")
    words.add_argument("--documents", type=int, default=8)
    words.add_argument("--questions", type=int, default=300)
    asked = words.parse_args()
    corpus = dataset(asked.folder, documents=asked.documents, questions=asked.questions, seed=1) if asked.folder else bundled("handbook")
    heads = ["corpus", "computed in", "speed", "mean cosine", "lowest", *(f"{metric} (difference)" for metric in METRICS), "discrimination", "n"]
    print(table(f"python benchmarks/precisions.py {' '.join(sys.argv[1:])}", heads, rows_of(corpus)))


if __name__ == "__main__":
    main()
