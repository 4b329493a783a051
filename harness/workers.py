"""Forward passes of a model, side by side.

On a CPU, one single-threaded worker a core keeps every core busy on its own small batch, where several threads on one batch wait for each other;
the threads share one copy of the weights. Batches hold inputs of nearly equal length within a budget of padded tokens, so little is padding. On a
GPU one stream takes larger batches.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from itertools import pairwise
from typing import TypeVar

import numpy as np

from harness.types import Ints

_Work = TypeVar("_Work")
_Found = TypeVar("_Found")
_CPU_BUDGET = 1024
_GPU_BUDGET = 32768
_BATCHES_WORTH = 100
"""A batch takes about a 100th of its budget besides its own tokens: the calls, and products of fewer rows. On a CPU anything from 5 to 30 of 1,024
gives the same time for thousands of texts; for a few dozen the smaller is better, as it leaves less padding (docs/embedding-speed.md). On a GPU not
measured."""


def batches(lengths: Ints, budget: int) -> list[Ints]:
    """Places of `lengths`, longest first, in batches of at most `budget` padded tokens (a longer input goes alone): those that take least together,
    where a batch takes its padded tokens and `budget / 100` more for being one. So lengths that are met often go by themselves, without padding.

    A batch is decided by what comes behind it and never by what came before: without the first ones, the rest forms the same batches again. Ties go
    to the larger batch. Time grows with the places times the places of a batch (a million of 100 tokens: some seconds).
    """
    order = np.argsort(-lengths, kind="stable")
    sizes = np.maximum(lengths[order], 1).astype(np.int64)
    rooms = np.maximum(budget // sizes, 1)
    counts, apiece = np.arange(int(rooms.max(initial=1)), 0, -1), max(budget // _BATCHES_WORTH, 1)
    least, taken = np.zeros(len(order) + 1, dtype=np.int64), [0] * len(order)
    for place, size, room in zip(range(len(order) - 1, -1, -1), sizes[::-1].tolist(), rooms[::-1].tolist(), strict=True):
        behind = least[place + 1 : place + room + 1][::-1]  # after a batch of as many places as there is room for, of one less, … of one
        together = behind + counts[len(counts) - len(behind) :] * size
        found = int(together.argmin())
        least[place], taken[place] = together[found] + apiece, len(behind) - found
    starts = [0]
    while starts[-1] < len(order):
        starts.append(starts[-1] + taken[starts[-1]])
    return [order[start:stop] for start, stop in pairwise(starts)]


def usual_budget(on_cpu: bool) -> int:
    """Padded tokens that a batch holds at most."""
    return _CPU_BUDGET if on_cpu else _GPU_BUDGET


def in_order(forward: Callable[[_Work], _Found], work: Iterable[_Work], *, on_cpu: bool) -> Iterator[tuple[_Work, _Found]]:
    """Each piece of `work` with what `forward` makes of it, in the order of `work`: what is kept of an interrupted run is then a whole number of
    batches from the front, so that the rest forms the same batches again and gives the same bits.

    On a CPU as many pieces are worked on at once as there are cores, each on one thread; elsewhere one. The process's number of threads is as before
    afterwards.
    """
    count = cores() if on_cpu else 1
    waiting = iter(work)
    running: deque[tuple[_Work, Future[_Found]]] = deque()
    with _one_thread_each(count, on_cpu) as workers:
        while True:
            while len(running) < 4 * count and (batch := next(waiting, None)) is not None:
                running.append((batch, workers.submit(forward, batch)))
            if not running:
                return
            batch, future = running.popleft()
            yield batch, future.result()


CORES = "CHUNK_SWEEP_CORES"
"""An environment variable: the most cores that this process may use, where several processes share a machine."""


def cores() -> int:
    """How many cores this process may use."""
    here = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    asked = os.environ.get(CORES, "")
    return min(here, int(asked)) if asked.isdecimal() and int(asked) else here


def best_device() -> str:
    """cuda, mps or cpu: the fastest there is."""
    import torch

    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


@contextmanager
def quiet_loading() -> Iterator[None]:
    """transformers draws a bar of its own while it loads; a sweep has one already."""
    from transformers.utils import logging as bars

    shown = bars.is_progress_bar_enabled()
    bars.disable_progress_bar()
    try:
        yield
    finally:
        if shown:
            bars.enable_progress_bar()


@contextmanager
def _one_thread_each(count: int, on_cpu: bool) -> Iterator[ThreadPoolExecutor]:
    """So many workers; on a CPU each computes on one thread."""
    import torch

    before = torch.get_num_threads()
    workers = ThreadPoolExecutor(count, initializer=partial(torch.set_num_threads, 1) if on_cpu else None)
    try:
        yield workers
    finally:
        workers.shutdown(wait=True, cancel_futures=True)
        torch.set_num_threads(before)
