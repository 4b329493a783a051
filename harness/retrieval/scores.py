"""From blocks of scores to a ranking: order, statistics over all candidates, and the standing of probes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol

import numpy as np

from harness.retrieval.places import Places
from harness.retrieval.pool import Owners, Pool
from harness.retrieval.standing import Moments, Scores, Scratch, Standing, Weights
from harness.types import Floats, Ints, Probes, Ranking
from harness.workers import cores

_SLAB_SCORES = 2**18
"""Scores of a block that are looked at together, and on one thread: 1 MB."""

_BUFFER = 512
"""NumPy copies rows shorter than its buffer (8192 numbers) before it compares them with a column of others; not to do so halves the time."""


class Blocks(Protocol):
    """Scores of some questions for all columns of a pool."""

    def pairs(self, question: Ints, column: Ints) -> Scores:
        """Those of some pairs, bit for bit as the blocks have them. To be asked once, before the blocks."""
        ...

    def __iter__(self) -> Iterator[tuple[int, Scores]]:
        """Blocks of shape (questions, columns), in the order of their columns, each with the number of its first one. The next may overwrite it."""
        ...


class Slabs:
    """Looks at blocks of scores slab by slab, on as many threads as there are cores."""

    def __init__(self) -> None:
        self._cores = cores()
        self._threads, self._scratch = ThreadPoolExecutor(self._cores), Scratch()

    def look(self, blocks: Iterable[tuple[int, Scores]], best: Places, moments: Moments, standing: Standing) -> None:
        """Show all `blocks`, in the order of their columns, to those who gather."""

        def look(rows: slice, start: int, scores: Scores) -> None:
            slab = scores[rows]
            with np.errstate():  # which puts the size of buffers back
                np.setbufsize(_BUFFER)
                best.add(rows, start, slab, self._scratch)
                moments.add(rows, start, slab, self._scratch)
                standing.add(rows, start, slab, self._scratch)

        for start, scores in blocks:
            self._each(look, start, scores)
            best.settle(start + scores.shape[1])

    def _each(self, look: Callable[[slice, int, Scores], None], start: int, scores: Scores) -> None:
        """`look` at the slabs of a block."""
        count, step = len(scores), max(_SLAB_SCORES // scores.shape[1], 1)
        slabs = [slice(first, min(first + step, count)) for first in range(0, count, step)]
        if len(slabs) == 1 or self._cores == 1:
            for rows in slabs:
                look(rows, start, scores)
        else:
            for done in [self._threads.submit(look, rows, start, scores) for rows in slabs]:
                done.result()

    def close(self) -> None:
        """End the threads."""
        self._threads.shutdown()


class Findings:
    """Gathers what blocks of scores say, question by question; `ranking` puts it together. Questions that were never taken have no candidates."""

    def __init__(self, questions: int, probes: Probes) -> None:
        self.candidates: Ints = np.zeros(questions, dtype=np.int64)
        self._probes = probes
        self._mean: Floats = np.full(questions, np.nan)
        self._m2: Floats = np.full(questions, np.nan)
        self._score: Floats = np.full(len(probes.question), np.nan)
        self._below: Ints = np.full(len(probes.question), -1, dtype=np.int64)
        self._tied: Ints = np.full(len(probes.question), -1, dtype=np.int64)
        self._by_question = np.argsort(probes.question, kind="stable")
        self._sorted_questions = probes.question[self._by_question]
        self._hits: list[tuple[Ints, Ints, Scores]] = []
        self._slabs = Slabs()

    def take(self, questions: Ints, pool: Pool, owners: Owners, blocks: Blocks, depth: int) -> None:
        """Scores of the `questions` (ascending) for the candidates of `pool`, whose columns `owners` has."""
        places, row, column = self.known(questions, pool)
        wanted, weights = blocks.pairs(row, column), Weights(owners)
        best, moments, standing = Places(len(questions), depth), Moments(len(questions), weights), Standing(row, wanted, weights)
        self._slabs.look(blocks, best, moments, standing)
        self.keep(questions, moments.result(), best.chunks(owners))
        self.keep_probes(places, wanted, standing.below, standing.tied)

    def keep(self, questions: Ints, moments: tuple[Floats, Floats], places: tuple[Ints, Ints, Scores]) -> None:
        """What was found of some questions: mean and sum of squared deviations of all scores, and the first `places`: which of these questions, chunk
        and score."""
        self._mean[questions], self._m2[questions] = moments
        asked, chunk, score = places
        self._hits.append((questions[asked], chunk, score))

    def keep_probes(self, places: Ints, wanted: Scores, below: Ints, tied: Ints) -> None:
        """Score and standing of the probes at `places`."""
        self._score[places], self._below[places], self._tied[places] = wanted, below, tied

    def known(self, questions: Ints, pool: Pool) -> tuple[Ints, Ints, Ints]:
        """Probes of the `questions` whose chunk is a candidate: their places, the question of each counted in `questions`, and its column."""
        first = np.searchsorted(self._sorted_questions, questions, side="left")
        counts = np.searchsorted(self._sorted_questions, questions, side="right") - first
        row = np.repeat(np.arange(len(questions)), counts)
        places = self._by_question[np.arange(len(row)) + np.repeat(first - np.cumsum(counts) + counts, counts)]
        wanted = self._probes.chunk[places]
        candidate = np.minimum(np.searchsorted(pool.chunk, wanted), len(pool.chunk) - 1)
        known = pool.chunk[candidate] == wanted
        candidate = candidate[known]
        return places[known], row[known], candidate if pool.column is None or pool.first is not None else pool.column[candidate]

    def ranking(self) -> Ranking:
        """Everything taken so far, in the order of the questions."""
        self._slabs.close()
        counts = np.zeros(len(self.candidates) + 1, dtype=np.int64)
        question = np.concatenate([hit[0] for hit in self._hits]) if self._hits else np.zeros(0, dtype=np.int64)
        chunk = np.concatenate([hit[1] for hit in self._hits]) if self._hits else np.zeros(0, dtype=np.int64)
        score = np.concatenate([hit[2] for hit in self._hits]).astype(np.float64) if self._hits else np.zeros(0)
        order = np.argsort(question, kind="stable")
        counts[1:] = np.bincount(question, minlength=len(self.candidates))
        return Ranking(
            indptr=np.cumsum(counts),
            chunk=chunk[order],
            score=score[order],
            candidates=self.candidates,
            score_mean=self._mean,
            score_m2=self._m2,
            probes=self._probes,
            probe_score=self._score,
            probe_below=self._below,
            probe_tied=self._tied,
        )
