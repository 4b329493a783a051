"""Batches of texts on their way through an endpoint: what came right is handed on at once, what did not is asked for again or named."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

import httpx
import numpy as np

from harness.embedding.http_crew import Crew, Stopped
from harness.embedding.http_endpoint import Endpoint, TooLarge
from harness.embedding.http_text import Sent
from harness.errors import PartError
from harness.types import Ints, Vectors


@dataclass(frozen=True, slots=True)
class Batch:
    """Readings that are asked for together. `again`: an answer to them was wrong once before."""

    rows: tuple[int, ...]
    again: bool = False


@dataclass(frozen=True, slots=True)
class _Found:
    """What came of a batch: vectors, what is still to be asked for, and the error of what can't be had."""

    rows: tuple[int, ...] = ()
    vectors: tuple[Vectors, ...] = ()
    more: tuple[Batch, ...] = ()
    error: PartError | None = None


def batches(rows: Iterable[int], lengths: Ints, tokens: int, texts: int) -> Iterator[Batch]:
    """`rows` in order, at most `texts` and about `tokens` a batch; a longer one is alone."""
    batch: list[int] = []
    room = tokens
    for row in rows:
        length = int(lengths[row])
        if batch and (len(batch) == texts or length > room):
            yield Batch(tuple(batch))
            batch, room = [], tokens
        batch.append(row)
        room -= length
    if batch:
        yield Batch(tuple(batch))


@dataclass
class Worker:
    """Asks `endpoint` for the texts of `inputs`, vectors of `dim` numbers; `pay` is told the tokens of every answer."""

    endpoint: Endpoint
    inputs: Sent
    dim: int
    concurrency: int
    pay: Callable[[int], None] = field(repr=False)

    def run(self, todo: Iterable[Batch]) -> Iterator[tuple[Ints, Vectors]]:
        """Vectors of the batches as they come, and then the first error, if there was one: after it nothing new is asked for, but what is under way
        is waited for, since it is paid. Whoever stops listening waits for nothing."""
        waiting, failure = deque(todo), None
        with self.endpoint.client(self.concurrency) as client:
            crew: Crew[Batch, _Found] = Crew(lambda batch: self._ask(client, batch, crew.sleep), self.concurrency)
            with crew:
                while crew.busy or (waiting and failure is None):
                    while waiting and failure is None and crew.free:
                        crew.give(waiting.popleft())
                    found = crew.take()
                    if found.rows:
                        yield np.array(found.rows, dtype=np.int64), np.stack(found.vectors)
                    waiting.extendleft(reversed(found.more))
                    failure = failure or found.error
        if failure is not None:
            raise failure

    def _ask(self, client: httpx.Client, batch: Batch, sleep: Callable[[float], None]) -> _Found:
        rows = batch.rows
        tokens = int(self.inputs.weights[list(rows)].sum())
        try:
            answer = self.endpoint.ask(client, [self.inputs.sent[row] for row in rows], tokens, self.dim, sleep)
        except TooLarge as error:
            return self._halved(batch, error)
        except (PartError, Stopped) as error:
            return _Found(error=error if isinstance(error, PartError) else PartError("stopped"))
        self.pay(tokens if answer.tokens is None else answer.tokens)
        places = sorted(answer.vectors)
        good, vectors = tuple(rows[place] for place in places), tuple(answer.vectors[place] for place in places)
        missing = tuple(row for place, row in enumerate(rows) if place not in answer.vectors)
        if not missing:
            return _Found(good, vectors)
        if not batch.again:
            return _Found(good, vectors, more=(Batch(missing, again=True),))
        return _Found(good, vectors, error=PartError(f"{self.endpoint}: twice {answer.wrong}; text {self.inputs.sent[missing[0]][:60]!r}"))

    def _halved(self, batch: Batch, error: TooLarge) -> _Found:
        rows, half = batch.rows, len(batch.rows) // 2
        if half:
            return _Found(more=(Batch(rows[:half], batch.again), Batch(rows[half:], batch.again)))
        told = f"a text of {int(self.inputs.weights[rows[0]])} tokens by embedder.tokenizer, {self.inputs.sent[rows[0]][:60]!r}"
        return _Found(error=PartError(f"{error}; {told}; if that is too long, a smaller embedder.max_length would do"))
