"""What a sweep would do and take, in numbers: counts that are exact, and estimates of time, disk, memory and money that say how they were made."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from harness.calibration import Trial, calibrate, dim_of, rehearse
from harness.course import Failure, Impossible
from harness.embedding.base import EmbedsSpans, priced
from harness.loads import Forecaster, Load, Order, pairs_of, put_in_order
from harness.planned import Planned
from harness.types import Cell, ChunkSet

_ROW_BYTES = 200
"""What SQLite takes for a vector beside its numbers: key, checksum, time of use, two indexes, room in its pages."""
_CHUNK_BYTES, _PLACE_BYTES, _QUESTION_BYTES, _FOLDER_BYTES = 12, 8, 600, 22_000
"""On disk: a chunk and a place of a stored ranking, a question of a result, and what a cell's two folders take at the least."""
_ROWS_WAITING, _KEPT_BYTES = 2048, 512 * 2**20
"""Vectors that wait for the disk at most, and bytes of them that an embedder keeps in memory (harness.embedding.cached)."""
_UNSURE = 0.25
"""By how much an estimate of time may be off, as a share of it, where the machine is as busy as it was during the trial."""


@dataclass(frozen=True)
class Forecast:
    """The cells by what becomes of them, the load of every set of chunks that has to be made, and what trials found.

    `cell_seconds`: what searching and scoring one cell takes (None: not tried).
    """

    order: Order
    loads: Sequence[Load]
    trials: Mapping[str, Trial] = field(default_factory=dict)
    cell_seconds: float | None = None

    @cached_property
    def failures(self) -> list[Failure]:
        """Sets of chunks that can't be made."""
        return [load.failure for load in self.loads if load.failure is not None]

    @cached_property
    def open(self) -> list[Load]:
        """Loads whose chunks are not known before the strategy has embedded something: their tokens are not in the counts."""
        return [load for load in self.loads if load.open]

    def total(self, count: Callable[[Load], int]) -> int:
        """The sum of `count` over all loads."""
        return sum(map(count, self.loads))

    @cached_property
    def sets(self) -> int:
        """Distinct sets of chunks that are known."""
        return len({load.digest for load in self.loads if load.digest})

    @cached_property
    def lengths(self) -> Counter[str]:
        """Tokens that go through each model, special ones and prompts included, where the chunks are known."""
        return sum((load.lengths for load in self.loads), Counter[str]())

    @cached_property
    def guessed(self) -> Counter[str]:
        """The same, guessed, for the chunks that are not known: each character of a document once."""
        found = Counter[str]()
        for load in self.open:
            found[load.plan.experiment.embedder.name] += load.guessed
        return found

    @cached_property
    def pairs(self) -> int:
        """Pairs for cross-encoders, at most."""
        return sum(pairs_of(load.cells, load.entries or load.guessed) for load in self.loads)

    @cached_property
    def dollars(self) -> dict[str, float]:
        """What the tokens cost, for embedders whose price is known."""
        found = {}
        for load in self.loads:
            embedder = load.plan.experiment.embedder
            asked = priced(embedder)
            if asked is not None and asked.price_per_million_tokens:
                tokens = self.lengths[embedder.name] + self.guessed[embedder.name]
                found[embedder.name] = tokens * asked.price_per_million_tokens / 1e6
        return found

    @cached_property
    def untried(self) -> list[str]:
        """Embedders that have work to do, and no known speed."""
        return [name for name, length in (self.lengths + self.guessed).items() if length and name not in self.trials]

    @cached_property
    def embedding_seconds(self) -> float:
        """Embedding, by the embedders whose speed is known."""
        return sum(length / self.trials[name].rate for name, length in (self.lengths + self.guessed).items() if name in self.trials)

    @cached_property
    def other_seconds(self) -> float:
        """Chunking and reading, which were just done once, and searching and scoring."""
        cells = sum(len(load.cells) for load in self.loads if load.failure is None) + len(self.order.rescored)
        return sum(load.seconds for load in self.loads) + cells * (self.cell_seconds or 0.0)

    @property
    def seconds(self) -> float:
        """All of it."""
        return self.embedding_seconds + self.other_seconds

    @property
    def between(self) -> tuple[float, float]:
        """What is likely while the machine is as busy as it was during the trial."""
        return (1 - _UNSURE) * self.seconds, (1 + _UNSURE) * self.seconds

    @cached_property
    def memory(self) -> int:
        """Bytes at the peak beside the program and the model: two copies of the largest set of vectors, those that wait for the disk, what each
        embedder keeps in memory for the sets to come, the texts, and the documents."""
        largest, kept = 0, Counter[str]()
        for load in self.loads:
            embedder = load.plan.experiment.embedder
            row = 4 * dim_of(embedder) if load.entries and load.vectors else 0
            largest = max(largest, (2 * load.entries + min(load.entries, _ROWS_WAITING)) * row + load.text_bytes)
            kept[embedder.identity] += load.entries * row
        corpora = {id(plan.experiment.corpus): plan.experiment.corpus for plan in self._plans()}
        documents = sum(document.length for corpus in corpora.values() for document in corpus.documents)
        return largest + sum(min(size, _KEPT_BYTES) for size in kept.values()) + documents

    @cached_property
    def disk(self) -> dict[str, int]:
        """Bytes that would be added, roughly: vectors or token states, rankings, results."""
        questions = [(load, len(load.plan.experiment.corpus.questions)) for load in self.loads]
        rankings = sum(len(load.cells) * (_CHUNK_BYTES * load.entries + _PLACE_BYTES * count * _depth(load)) for load, count in questions)
        scored = [(plan, len(plan.experiment.corpus.questions)) for plan in self._plans()]
        return {
            "vectors": sum(_stored(load) for load in self.loads),
            "rankings": rankings,
            "results": sum(_FOLDER_BYTES + _QUESTION_BYTES * count for _, count in scored),
        }

    def _plans(self) -> Iterable[Planned]:
        return [*(plan for load in self.loads for plan in load.cells), *self.order.rescored]

    def work(self) -> list[tuple[Cell, float, int]]:
        """For each cell that will run: seconds that it is expected to take, and the tokens of its chunks that are to go through the model.

        Where no speed is known a token counts as a millisecond: only the shares matter to a progress bar.
        """
        each = self.cell_seconds or 0.0
        found = [(plan.cell, each, 0) for plan in self.order.rescored]
        for load in self.loads:
            name, first = load.plan.experiment.embedder.name, load.cells[0]
            lengths = load.lengths + Counter({name: load.guessed})
            seconds = sum(length / (self.trials[name].rate if name in self.trials else 1000.0) for name, length in lengths.items())
            found.append((first.cell, seconds + load.seconds + each, load.passages or load.guessed))
            found += [(plan.cell, each, 0) for plan in load.cells[1:]]
        return found


def _depth(load: Load) -> int:
    """About as deep as a ranking goes: for the largest k and the largest budget."""
    experiment = load.plan.experiment
    size = max(load.plan.cell.size or 0, 1) if load.entries else 1
    return min(2 * experiment.widest + int(1.5 * max(experiment.budgets) / size), max(load.entries, 1))


def _stored(load: Load) -> int:
    embedder: Any = load.plan.experiment.embedder
    dim = dim_of(embedder)
    if isinstance(embedder, EmbedsSpans):
        return load.passages * (2 * dim + 8) if embedder.contextual else 0
    return sum(load.rows.values()) * (4 * dim + _ROW_BYTES)


def foresee(
    plans: Sequence[Planned | Impossible],
    finished: Callable[[Planned], bool],
    ranked: Callable[[Planned], bool],
    *,
    known: Mapping[str, ChunkSet] | None = None,
    tried: Mapping[str, Trial] | None = None,
) -> Forecast:
    """The forecast of a grid, given which cells have their result, and which of the others a stored ranking that serves. `known` has chunks by shelf
    key; `tried`, what trials have found already. Costs as much as chunking and tokenising for all cells, and some seconds.
    """
    order, forecaster = put_in_order(plans, finished, ranked), Forecaster()
    loads = [forecaster.look(cells, (known or {}).get(cells[0].shelf_key)) for cells in order.making]
    found = calibrate(loads) if tried is None else tried
    made = sorted((load for load in loads if load.entries), key=lambda load: load.entries)
    return Forecast(order, loads, found, rehearse(made[len(made) // 2]) if made else None)
