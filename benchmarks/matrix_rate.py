"""How near embedding on a CPU comes to the rate of the matrix products that it can't do without.

    python benchmarks/matrix_rate.py [--model minilm | --model FOLDER | --shape NAME] [--clock wall|cpu] [--rounds 9] [--mutate batch32|unsorted]

One process. What the engine embeds (chunks of the handbook, recursive, of 64, 128 and 250 tokens) is put into its own batches; one forward pass of
each tells, by its calls, the products that the model makes: (rows, inner, columns) of every linear layer, queries x keys and weights x values of
every head. These products alone are done with the model's own weights in two ways, all threads on one after another and one single-threaded worker a
core; the faster one is the limit. Then all ways alternate: both limits, the engine on ids, the whole `embed` on texts with its tokenising, and
sentence-transformers' own `encode` of the same texts. FLOPs are those of the products (2 x rows x inner x columns) in all cases. Two shares are told:
of the products that were made, padding included, and of those that the texts need, padding left out. The last line judges the whole `embed` by the
second, the stricter one: softmax, normalisation, activation, tokenising and padding count as lost. Medians over the rounds.

`--clock cpu` divides by CPU-seconds instead of time by the clock, for a machine that is busy with other things; waiting is then not seen. `--shape`
takes a model of random weights (good for speed alone): the sizes of bert-base, mpnet, e5-small, modernbert. `--mutate` embeds otherwise (32 texts a
batch as they come, or our batches of unsorted texts), which must fall under the limit.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import torch
from model_shapes import SHAPES, shaped_model
from torch.utils._python_dispatch import TorchDispatchMode

from harness import workers
from harness.chunking import chunk_documents
from harness.chunking.recursive import RecursiveChunker
from harness.corpus.bundled import bundled
from harness.embedding.reading import Inputs
from harness.embedding.sentence_transformer import SentenceTransformerEmbedder, minilm_package
from harness.types import Ints
from harness.units import measure_all
from harness.workers import batches, in_order

LIMIT = 0.95
SIZES = (64, 128, 250)


@dataclass(frozen=True)
class Product:
    """rows x inner by inner x columns, `many` times side by side; `weight` is the model's own where there is one."""

    many: int
    rows: int
    inner: int
    columns: int
    weight: torch.Tensor | None = None

    @property
    def flops(self) -> float:
        return 2.0 * self.many * self.rows * self.inner * self.columns


class Recorder(TorchDispatchMode):
    """The products that a forward pass makes, by the calls that reach torch's kernels."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[Product] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = func._schema.name
        if name == "aten::linear":
            x, weight = args[:2]
            self.found.append(Product(1, x.numel() // x.shape[-1], x.shape[-1], weight.shape[0], weight.t()))
        elif name in ("aten::addmm", "aten::mm"):
            x, weight = args[-2:]
            self.found.append(Product(1, x.shape[0], x.shape[1], weight.shape[1], weight))
        elif "scaled_dot_product" in name:
            query, key = args[:2]
            many, rows, inner, columns = query.shape[0] * query.shape[1], query.shape[2], query.shape[3], key.shape[2]
            self.found += [Product(many, rows, inner, columns), Product(many, rows, columns, inner)]
        elif name == "aten::matmul":
            with self:
                return func.decompose(*args, **(kwargs or {}))
        elif name in ("aten::bmm", "aten::baddbmm"):
            x, y = args[-2:]
            self.found.append(Product(x.shape[0], x.shape[1], x.shape[2], y.shape[2]))
        return func(*args, **(kwargs or {}))


class Replay:
    """Does products alone, with buffers of its own for each thread."""

    def __init__(self) -> None:
        self._here = threading.local()

    def _buffer(self, *shape: int) -> torch.Tensor:
        held = self._here.__dict__
        if shape not in held:
            held[shape] = torch.rand(shape[1:]) - 0.5  # the first number tells buffers of one shape apart
        return held[shape]

    def __call__(self, products: list[Product]) -> None:
        with torch.inference_mode():
            for product in products:
                left = self._buffer(0, product.many, product.rows, product.inner)
                found = self._buffer(1, product.many, product.rows, product.columns)
                if product.weight is not None:
                    torch.mm(left[0], product.weight, out=found[0])
                elif product.columns > product.inner:  # queries x keys: keys lie as rows
                    torch.bmm(left, self._buffer(2, product.many, product.columns, product.inner).transpose(1, 2), out=found)
                else:
                    torch.bmm(left, self._buffer(3, product.many, product.inner, product.columns), out=found)


def recorded(embedder: SentenceTransformerEmbedder, inputs: Inputs, work: list[Ints]) -> tuple[list[list[Product]], float]:
    """The products of each batch, and the FLOPs that its texts need without padding."""
    found, needed = [], 0.0
    for rows in work:
        with Recorder() as recorder:
            embedder.engine._forward(inputs, rows)
        lengths = inputs.lengths[rows]
        width = int(lengths.max())
        share, square = lengths.sum() / (len(rows) * width), (lengths**2).sum() / (len(rows) * width**2)
        for product in recorder.found:
            padded = product.rows == len(rows) * width if product.weight is not None else product.many % len(rows) == 0 and product.rows == width
            needed += product.flops * (float(share if product.weight is not None else square) if padded else 1.0)
        found.append(recorder.found)
    return found, needed


def texts(share: float) -> list[str]:
    """So many of the handbook's distinct chunks, drawn at random."""
    documents, unit = bundled("handbook").documents, minilm_package().unit
    rulers, found = measure_all(unit, documents), []
    for size in SIZES:
        found += chunk_documents(RecursiveChunker(size, size // 10), documents, rulers).indexed_texts(documents)
    distinct = list(dict.fromkeys(found))
    drawn = np.random.default_rng(0).permutation(len(distinct))[: max(int(share * len(distinct)), 1)]
    return [distinct[place] for place in sorted(drawn.tolist())]


def as_told(mutate: str | None) -> None:
    """Batches as others make them."""
    if mutate == "batch32":
        changed: Callable[[Ints, int], list[Ints]] = lambda lengths, budget: [  # noqa: E731
            np.arange(start, min(start + 32, len(lengths))) for start in range(0, len(lengths), 32)
        ]
    else:
        shuffled = np.random.default_rng(0).permutation

        def changed(lengths: Ints, budget: int) -> list[Ints]:
            rows = max(budget // int(lengths.max()), 1)
            return np.array_split(shuffled(len(lengths)), -(-len(lengths) // rows))

    import harness.embedding.engine as engine

    engine.batches = changed  # type: ignore[assignment]


def rates(ways: dict[str, tuple[Callable[[], object], float]], rounds: int, clock: Callable[[], float]) -> dict[str, float]:
    """FLOPs a second of each way, the median of rounds in which they take turns."""
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    for turn in range(rounds + 1):
        for name, (way, _) in ways.items():
            began = clock()
            way()
            if turn:  # the first is a warm-up
                seconds[name].append(clock() - began)
    return {name: flops / statistics.median(seconds[name]) for name, (_, flops) in ways.items()}


def measure(embedder: SentenceTransformerEmbedder, some: list[str], rounds: int, clock: str, mutate: str | None) -> float:
    """Tells the table; the share that is judged."""
    inputs = embedder.read(some, "passage")
    rows = np.arange(len(inputs.keys))
    everything = batches(inputs.lengths, embedder.engine.budget)
    made, needed = recorded(embedder, inputs, everything)
    flops = sum(product.flops for products in made for product in products)
    if mutate:
        as_told(mutate)
    replay, cores = Replay(), workers.cores()
    ticks = time.perf_counter if clock == "wall" else time.process_time
    torch.set_num_threads(cores)
    ways = {
        "products, all threads on each": (lambda: [replay(products) for products in made], flops),
        "products, one worker a core": (lambda: list(in_order(replay, made, on_cpu=True)), flops),
        "engine, padding counted": (lambda: list(embedder.engine.vectors(inputs, rows)), flops),
        "embed, with tokenising": (lambda: embedder.embed(some, "passage"), needed),
        "encode of sentence-transformers": (lambda: embedder.engine.model.encode(some, batch_size=32, show_progress_bar=False), needed),
    }
    found = rates(ways, rounds, ticks)
    found["engine, padding left out"] = found["engine, padding counted"] * needed / flops
    limit = max(rate for name, rate in found.items() if name.startswith("products"))
    per = "second" if clock == "wall" else "CPU-second"
    sys.stdout.write(
        f"{date.today()}  {embedder.name}, {cores} cores, {len(rows)} texts, {int(inputs.lengths.sum())} tokens, {len(everything)} batches\n"
    )
    sys.stdout.write(f"padding: {flops / needed - 1:.2%} of the FLOPs{f'   MUTATED: {mutate}' if mutate else ''}\n")
    for name, rate in found.items():
        sys.stdout.write(f"{name:<31} {rate / 1e9:7.1f} GFLOP a {per}   share {rate / limit:.3f}\n")
    return found["embed, with tokenising"] / limit


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--model", default="minilm")
    words.add_argument("--shape", choices=sorted(SHAPES))
    words.add_argument("--clock", choices=["wall", "cpu"], default="wall")
    words.add_argument("--share", type=float, default=0.2, help="of the chunks")
    words.add_argument("--rounds", type=int, default=9)
    words.add_argument("--mutate", choices=["batch32", "unsorted"])
    asked = words.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if asked.shape:
            embedder = SentenceTransformerEmbedder(str(shaped_model(asked.shape, Path(folder))), label=f"{asked.shape} (random weights)")
        else:
            embedder = minilm_package() if asked.model == "minilm" else SentenceTransformerEmbedder(asked.model)
        share = measure(embedder, texts(asked.share), asked.rounds, asked.clock, asked.mutate)
    sys.stdout.write(f"share {share:.3f}, limit {LIMIT}: {'ok' if share >= LIMIT else 'UNDER'}\n")


if __name__ == "__main__":
    main()
