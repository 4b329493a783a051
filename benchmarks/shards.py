"""Search in shards against one search over all vectors: the same numbers, what it costs, and how much memory each takes.

    python benchmarks/shards.py                  # 400,000 chunks x 384, a tenth copies, 8 shards, 300 questions, two probes each
    python benchmarks/shards.py --mutate         # the vectors of two shards change places: the comparison must say so

Each way runs in a process of its own, over the same files. CPU-seconds of search alone; `anonymous` is memory that can't be given back (RssAnon at
its highest, sampled), less what the process had before; pages of mapped files can.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import threading
import time
from itertools import pairwise
from pathlib import Path

import numpy as np

from harness.retrieval.base import Queries, Shelf
from harness.retrieval.dense import DenseRetriever
from harness.retrieval.shards import Sharded
from harness.shards import ShardedVectors, VectorFiles, shard_bounds, write_vectors
from harness.types import Candidates, Probes

DIM, QUESTIONS = 384, 300


def anonymous() -> float:
    """MB of this process that lie in no file."""
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) / 1e3 for line in lines if line.startswith("RssAnon"))


class Watched:
    """The highest `anonymous` while it goes on."""

    def __enter__(self) -> Watched:
        self.begin = self.highest = anonymous()
        self._going = True
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()
        return self

    def _watch(self) -> None:
        while self._going:
            self.highest = max(self.highest, anonymous())
            time.sleep(0.005)

    def __exit__(self, *_: object) -> None:
        self._going = False
        self._thread.join()


def make(folder: Path, chunks: int, shards: int) -> None:
    bounds = shard_bounds(chunks, shards)
    for shard, (low, high) in enumerate(pairwise(bounds)):
        random = np.random.default_rng(shard)
        found = random.standard_normal((high - low, DIM), dtype=np.float32)
        copies = random.random(len(found)) < 0.1
        found[copies] = found[random.integers(0, len(found), int(copies.sum()))]
        write_vectors(folder / f"{shard}.npy", found / np.linalg.norm(found, axis=1, keepdims=True))


def search(folder: Path, way: str, chunks: int, shards: int) -> None:
    """One way, told as a line of JSON; the ranking goes to a file."""
    random = np.random.default_rng(99)
    doc = np.sort(random.integers(0, 200, chunks))
    masks = np.stack([np.ones(200, dtype=bool), random.random(200) < 0.5])
    candidates = Candidates(random.integers(0, 2, QUESTIONS), masks)
    probes = Probes(np.repeat(np.arange(QUESTIONS), 2), random.integers(0, chunks, 2 * QUESTIONS))
    queries = Queries(("",) * QUESTIONS, random.standard_normal((QUESTIONS, DIM), dtype=np.float32))
    order = [1, 0, *range(2, shards)] if way == "swapped" else list(range(shards))
    paths = [folder / f"{shard}.npy" for shard in order]
    with Watched() as memory:
        if way == "plain":
            held = np.empty((chunks, DIM), dtype=np.float32)
            for path, low in zip(paths, shard_bounds(chunks, shards), strict=False):
                held[low : low + len(np.load(path, mmap_mode="r"))] = np.load(path, mmap_mode="r")
            shelf = Shelf(doc, (), held)
        else:
            ends = np.cumsum([len(np.load(path, mmap_mode="r")) for path in paths])
            vectors = ShardedVectors(VectorFiles(tuple(map(str, paths)), tuple(ends.tolist()), DIM), np.arange(chunks))
            shelf = Shelf(doc, (), np.zeros((0, DIM), dtype=np.float32), sharded=Sharded(vectors))
        index = DenseRetriever().build(shelf)
        begin = time.process_time()
        ranking = index.search(queries, candidates, 50, probes)
        seconds = time.process_time() - begin
    np.savez(folder / f"{way}.npz", **{name: getattr(ranking, name) for name in COLUMNS})
    print(json.dumps({"cpu_seconds": round(seconds, 2), "anonymous_mb": round(memory.highest - memory.begin)}))


COLUMNS = ("indptr", "chunk", "score", "candidates", "score_mean", "score_m2", "probe_score", "probe_below", "probe_tied")


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--chunks", type=int, default=400_000)
    asked.add_argument("--shards", type=int, default=8)
    asked.add_argument("--mutate", action="store_true")
    asked.add_argument("--way", nargs=2, help=argparse.SUPPRESS)
    words = asked.parse_args()
    if words.way:
        search(Path(words.way[1]), words.way[0], words.chunks, words.shards)
        return
    with tempfile.TemporaryDirectory() as place:
        make(Path(place), words.chunks, words.shards)
        ways = ("plain", "swapped" if words.mutate else "shards")
        for way in ways:
            command = [sys.executable, __file__, "--chunks", str(words.chunks), "--shards", str(words.shards), "--way", way, place]
            told = subprocess.run(command, check=True, capture_output=True, text=True).stdout
            print(f"{way:8}", told.strip())
        one, other = (np.load(Path(place) / f"{way}.npz") for way in ways)
        unlike = [name for name in COLUMNS if not np.array_equal(one[name], other[name], equal_nan=one[name].dtype.kind == "f")]
        print(f"vectors {words.chunks * DIM * 4 / 1e6:,.0f} MB;", f"NOT equal: {', '.join(unlike)}" if unlike else "equal to the last bit")


if __name__ == "__main__":
    main()
