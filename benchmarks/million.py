"""What does exact search with a filter cost at a million chunks, beside FAISS alone, and does it find the same?

    [taskset -c 0] python benchmarks/million.py [--chunks 1000000] [--questions 1000] [--pairs 3] [--no-filter] [--mutate]

Vectors are clustered random unit vectors of 384 numbers, one chunk in ten a copy of another; documents have about 100 chunks. Each question lies near
some chunk, stands behind one of three filters that let about half of the documents through, and has two probes. FAISS is timed on the top 20 alone,
ours on the top 20, mean and spread of all scores, and the probes. FAISS has three ways to do this: an IndexFlatIP over the rows that a filter leaves
(making it is not timed), the same told to use its matrix product however few the questions, and one IndexFlatIP with an IDSelectorBatch. All are
timed once, the fastest is then timed alternately with ours; medians and the best are told, by the clock and in CPU-seconds. On a machine that others
use as well the clock says little: held to one core (`taskset -c 0`), CPU-seconds are the work that is done. Results are compared up to ties: the
same scores to 1e-5, and the same chunks but for those within 1e-5 of the last. `--mutate` searches vectors moved by one row, which must not pass.
Memory is the largest resident set (Linux) above the vectors.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import date
from typing import Any

import faiss
import numpy as np

from harness.retrieval.base import Queries, Shelf
from harness.retrieval.dense import DenseIndex, DenseRetriever
from harness.types import Candidates, Ints, Probes, Ranking, Vectors

DIM, DEPTH, GROUPS, PER_DOCUMENT = 384, 20, 3, 100
TOLERANCE = 1e-5
Found = tuple[np.ndarray, Ints]


class Clock:
    """Seconds by the clock and of CPU, added up over what is timed."""

    def __init__(self) -> None:
        self.wall, self.cpu = 0.0, 0.0

    @contextmanager
    def running(self) -> Iterator[None]:
        wall, cpu = time.perf_counter(), time.process_time()
        yield
        self.wall, self.cpu = self.wall + time.perf_counter() - wall, self.cpu + time.process_time() - cpu


def peak() -> float:
    """Largest resident set so far in MB (not ru_maxrss, which a process inherits from the one that started it)."""
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024


def forget_peak() -> None:
    """Let the peak begin again at what is resident now."""
    with open("/proc/self/clear_refs", "w") as control:
        control.write("5")


def unit(random: np.random.Generator, around: Vectors, spread: float) -> Vectors:
    found = around + spread * random.standard_normal(around.shape, dtype=np.float32)
    found /= np.linalg.norm(found, axis=1, keepdims=True)
    return found


def corpus(random: np.random.Generator, chunks: int) -> Vectors:
    centres = unit(random, np.zeros((1000, DIM), dtype=np.float32), 1.0)
    vectors = np.empty((chunks, DIM), dtype=np.float32)
    for start in range(0, chunks, 10_000):
        part = vectors[start : start + 10_000]
        part[:] = unit(random, centres[random.integers(0, len(centres), len(part))], 0.05)
    copies = np.sort(random.choice(chunks, chunks // 10, replace=False))
    vectors[copies] = vectors[random.integers(0, chunks, len(copies))]
    return vectors


class Problem:
    """What is searched, and what for."""

    def __init__(self, chunks: int, questions: int, filtered: bool) -> None:
        random = np.random.default_rng(1)
        self.vectors = corpus(random, chunks)
        self.doc: Ints = np.arange(chunks) // PER_DOCUMENT
        near = random.integers(0, chunks, questions)
        self.asked = unit(random, self.vectors[near], 0.05)
        masks = random.random((GROUPS, int(self.doc[-1]) + 1)) < 0.5
        self.candidates = Candidates(random.integers(0, GROUPS, questions), masks)
        if not filtered:
            self.candidates = Candidates(np.zeros(questions, dtype=np.int64), np.ones_like(masks[:1]))
        every = np.arange(questions)
        self.probes = Probes(np.concatenate([every, every]), np.concatenate([near, random.integers(0, chunks, questions)]))

    def groups(self) -> list[tuple[Ints, Ints]]:
        """The questions and the chunks of each group."""
        masks, group = self.candidates.documents, self.candidates.group
        return [(np.flatnonzero(group == number), np.flatnonzero(mask[self.doc])) for number, mask in enumerate(masks)]


def ours(problem: Problem, index: DenseIndex) -> tuple[Clock, Ranking]:
    queries = Queries(("",) * len(problem.asked), problem.asked)
    clock = Clock()
    with clock.running():
        ranking = index.search(queries, problem.candidates, DEPTH, problem.probes)
    return clock, ranking


def flat(problem: Problem, threshold: int) -> tuple[Clock, Found]:
    """FAISS over the rows that each filter leaves. `threshold`: questions x dimension from which FAISS uses a matrix product."""
    scores, chunks, clock = *empty(problem), Clock()
    before, faiss.cvar.distance_compute_blas_threshold = faiss.cvar.distance_compute_blas_threshold, threshold
    for rows, pool in problem.groups():
        index = faiss.IndexFlatIP(DIM)
        index.add(problem.vectors if len(pool) == len(problem.vectors) else problem.vectors[pool])
        with clock.running():
            found, place = index.search(problem.asked[rows], DEPTH)
        scores[rows], chunks[rows] = found, pool[place]
    faiss.cvar.distance_compute_blas_threshold = before
    return clock, (scores, chunks)


def selected(problem: Problem) -> tuple[Clock, Found]:
    """FAISS over all rows, with a selector for each filter."""
    scores, chunks, clock = *empty(problem), Clock()
    index = faiss.IndexFlatIP(DIM)
    index.add(problem.vectors)
    for rows, pool in problem.groups():
        chosen = faiss.SearchParameters(sel=faiss.IDSelectorBatch(pool))
        with clock.running():
            scores[rows], chunks[rows] = index.search(problem.asked[rows], DEPTH, params=chosen)
    return clock, (scores, chunks)


def empty(problem: Problem) -> Found:
    shape = (len(problem.asked), DEPTH)
    return np.empty(shape, dtype=np.float32), np.empty(shape, dtype=np.int64)


def same(ranking: Ranking, found: Found) -> bool:
    scores, chunks = ranking.score.reshape(-1, DEPTH), ranking.chunk.reshape(-1, DEPTH)
    if np.abs(scores - found[0]).max() > TOLERANCE:
        return False
    for score, mine, theirs in zip(scores, chunks, found[1], strict=True):
        sure = score > score[-1] + TOLERANCE
        if not set(mine[sure].tolist()) <= set(theirs.tolist()):
            return False
    return True


def told(name: str, clocks: list[Clock]) -> str:
    wall, cpu = [clock.wall for clock in clocks], [clock.cpu for clock in clocks]
    return f"{name:<48}{statistics.median(wall):8.2f} s (best {min(wall):.2f}){statistics.median(cpu):8.2f} CPU-s (best {min(cpu):.2f})\n"


def ratios(mine: list[Clock], theirs: list[Clock]) -> str:
    parts = []
    for name in ("wall", "cpu"):
        own, other = [getattr(clock, name) for clock in mine], [getattr(clock, name) for clock in theirs]
        parts.append(f"{name} {statistics.median(own) / statistics.median(other):.2f} (best {min(own) / min(other):.2f})")
    return f"ratio, {', '.join(parts)}; limit 1.3\n"


def main() -> int:
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--chunks", type=int, default=1_000_000)
    words.add_argument("--questions", type=int, default=1000)
    words.add_argument("--pairs", type=int, default=3)
    words.add_argument("--no-filter", action="store_true")
    words.add_argument("--mutate", action="store_true")
    options = words.parse_args()
    problem = Problem(options.chunks, options.questions, not options.no_filter)
    vectors = np.roll(problem.vectors, 1, axis=0) if options.mutate else problem.vectors
    forget_peak()
    begun, began = peak(), time.perf_counter()
    index = DenseRetriever().build(Shelf(problem.doc, ("",) * options.chunks, vectors))
    building, built = time.perf_counter() - began, peak()
    forget_peak()
    held = peak()
    first, ranking = ours(problem, index)
    searched = peak()
    ways: dict[str, Callable[[], tuple[Clock, Any]]] = {
        "FAISS, rows left by the filter": lambda: flat(problem, faiss.cvar.distance_compute_blas_threshold),
        "FAISS, rows left by the filter, matrix product": lambda: flat(problem, 1),
    }
    if not options.no_filter:
        ways["FAISS, selector"] = lambda: selected(problem)
    lines, times = [], {}
    for name, way in ways.items():
        times[name], found = way()
        lines.append(told(name, [times[name]]))
        agree = same(ranking, found)
    fastest = min(times, key=lambda name: times[name].wall)
    theirs, mine = [], []
    for _ in range(options.pairs):
        theirs.append(ways[fastest]()[0])
        mine.append(ours(problem, index)[0])
    say = sys.stdout.write
    say(f"{date.today()}  {options.chunks:,} chunks x {DIM}, {options.questions:,} questions, top {DEPTH}")
    say(f", {'one pool' if options.no_filter else f'{GROUPS} filters'}{'  MUTATED' if options.mutate else ''}\nonce:\n{''.join(lines)}")
    say(f"alternately:\n{told(fastest, theirs)}{told('ours, with moments and probes', mine)}{ratios(mine, theirs)}")
    say(f"build {building:.2f} s, first search {first.wall:.2f} s; memory above {problem.vectors.nbytes / 2**20:,.0f} MB of vectors: ")
    say(f"build {built - begun:.0f} MB, index {held - begun:.0f} MB, search {searched - held:.0f} MB\n")
    say(f"results {'equal up to ties' if agree else 'DIFFER'}\n")
    return 0 if agree != options.mutate else 1


if __name__ == "__main__":
    sys.exit(main())
