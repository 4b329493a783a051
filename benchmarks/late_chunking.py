"""Late chunking beside ordinary vectors: what it costs, and what it does to retrieval at small sizes. Real corpora come from HARNESS_EXTRA_DATA.

python benchmarks/late_chunking.py cost
python benchmarks/late_chunking.py quality [--overlap 32] [--corpora handbook squad_half contractnli]
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from simulated import table

from harness.chunking import chunk_documents
from harness.chunking.recursive import RecursiveChunker
from harness.corpus.bundled import bundled
from harness.corpus.folder import dataset
from harness.embedding import with_cache
from harness.embedding.base import Embedder, EmbedsSpans, passed
from harness.embedding.late import LateEmbedder
from harness.embedding.sentence_transformer import minilm_package
from harness.evaluation import Scoring, evaluate
from harness.experiment import Experiment, retrieve
from harness.filters import candidates_of
from harness.report.comparison import compare
from harness.retrieval.dense import DenseRetriever
from harness.types import Cell, CellResult, Corpus, Embedded
from harness.units import measure_all

EXTRA = Path(os.environ.get("HARNESS_EXTRA_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
SIZES, OVERLAPS, ONE = (32, 64, 128, 200, 250), (0, 0.2), 64
METRICS = ("complete_within_2048", "discrimination")


def corpora(names: Sequence[str]) -> Iterator[Corpus]:
    """The bundled handbook, and the first documents of real corpora."""
    few = {"contractnli": {"documents": 25}, "squad_half": {"documents": 5, "questions": 800}}
    for name in names:
        yield bundled(name) if name == "handbook" else dataset(EXTRA / "labelled" / name, seed=1, **few[name])


def result(corpus: Corpus, embedder: Embedder, label: str, size: int, overlap: int = 0) -> CellResult:
    """One cell of recursive chunks, as the harness runs it."""
    unit, chunker = minilm_package().unit, RecursiveChunker(size, overlap)
    experiment = Experiment(corpus, candidates_of(corpus.documents, corpus.questions), chunker, unit, embedder, DenseRetriever(), unit)
    retrieved = retrieve(experiment, lambda stage: None, lambda done, total: None)
    cell = Cell("recursive", size, overlap, label, "dense", "tokens", f"{label} {size}/{overlap}")
    return evaluate(experiment, retrieved, Scoring(), cell, cell.label)


def seconds(corpus: Corpus, embedder: Embedder, grid: Sequence[tuple[int, int]]) -> tuple[float, float]:
    """CPU-seconds of embedding the chunks of every size and overlap, one after the other, and the tokens that went through the model."""
    unit, tokens, spent = minilm_package().unit, 0, 0.0
    for size, overlap in grid:
        chunks = chunk_documents(RecursiveChunker(size, overlap), corpus.documents, measure_all(unit, corpus.documents))
        began = time.process_time()
        if isinstance(embedder, EmbedsSpans):
            found: Embedded = embedder.embed_spans(corpus.documents, chunks)
        else:
            found = embedder.embed(chunks.indexed_texts(corpus.documents), "passage")
        spent += time.process_time() - began
        tokens += passed(found)[0]
    return spent, float(tokens)


def cost(repeats: int = 3) -> None:
    corpus, rows = bundled("handbook"), []
    grid = [(size, int(size * share)) for size in SIZES for share in OVERLAPS]
    ways = {"ordinary, one size (64, no overlap)": (None, [(ONE, 0)]), "ordinary, five sizes x two overlaps": (None, grid)}
    ways |= {f"late, five sizes x two overlaps, windows share {overlap}": (overlap, grid) for overlap in (32, 64)}
    minilm_package().embed(["warm"], "query")
    taken: dict[str, list[tuple[float, float]]] = {way: [] for way in ways}
    for number in range(repeats):  # in turn, so that a noisy machine is as noisy for each
        for way, (overlap, sizes) in ways.items():
            if number and overlap is None and sizes is grid:
                continue  # ten times the rest, and not what is judged
            with tempfile.TemporaryDirectory() as folder:
                model = minilm_package()
                model.embed(["warm"], "query")
                embedder = with_cache(model if overlap is None else LateEmbedder(model, overlap), Path(folder) / "vectors", max_bytes=10**10)
                taken[way].append(seconds(corpus, embedder, sizes))
    one = np.median([spent for spent, _ in taken["ordinary, one size (64, no overlap)"]])
    for way, found in taken.items():
        spent = float(np.median([spent for spent, _ in found]))
        rows.append([way, f"{found[0][1]:,.0f}", f"{spent:.1f}", f"{spent / one:.2f}"])
    heads = ["way (handbook, recursive chunks)", "tokens through the model", "CPU-seconds (median)", "times one size"]
    print(table("python benchmarks/late_chunking.py cost", heads, rows))


def quality(names: Sequence[str], overlap: int) -> None:
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        own = with_cache(minilm_package(), Path(folder) / "vectors", max_bytes=10**10)
        late = with_cache(LateEmbedder(minilm_package(), overlap), Path(folder) / "vectors", max_bytes=10**10)
        for corpus in corpora(names):
            for size in (32, 64, 128):
                pair = result(corpus, late, "late", size), result(corpus, own, "own", size)
                for metric in METRICS:
                    found = compare(*pair, metric)
                    gap = found.paired
                    words = f"{gap.difference:+.3f} ({gap.low:+.3f} to {gap.high:+.3f}), p={gap.p:.3f}"
                    rows.append([corpus.name, size, metric, f"{found.second:.3f}", f"{found.first:.3f}", words, gap.n])
    heads = ["corpus", "size", "metric", "ordinary", "late", "late less ordinary (95%)", "n"]
    print(table(f"python benchmarks/late_chunking.py quality --overlap {overlap} --corpora {' '.join(names)}", heads, rows))


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("what", choices=["cost", "quality"])
    words.add_argument("--overlap", type=int, default=32)
    words.add_argument("--corpora", nargs="+", default=["handbook", "squad_half"])
    asked = words.parse_args()
    if asked.what == "cost":
        cost()
    else:
        quality(asked.corpora, asked.overlap)


if __name__ == "__main__":
    main()
