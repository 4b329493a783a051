"""Is a sweep long? Told from a sample, so that a short one is not held up by its own forecast."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from harness.calibration import Trial, calibrate, may_try
from harness.course import Impossible
from harness.loads import Forecaster, Load, Order, put_in_order
from harness.planned import Planned
from harness.types import ChunkSet, Ints
from harness.units import measure_all

_FEW = 60_000
"""Tokens, before anything is chunked, under which nobody waits a minute: a thousand a second."""
_SAMPLE = 48
"""Chunks of a set that are looked at."""


@dataclass
class Glance:
    """What the look came to: seconds of embedding, about and rather too many (None: no speed is known); the trials; and by shelf key the chunks,
    and the tokens of them that were embedded in a trial."""

    seconds: float | None
    chunks: dict[str, ChunkSet] = field(default_factory=dict)
    embedded: dict[str, int] = field(default_factory=dict)
    trials: Mapping[str, Trial] = field(default_factory=dict)


def glance(plans: Sequence[Planned | Impossible], finished: Callable[[Planned], bool], ranked: Callable[[Planned], bool]) -> Glance:
    """Look at some chunks of every set that would be made; what sets have in common counts in each. Costs chunking, and a trial if need be."""
    order = put_in_order(plans, finished, ranked)
    if most(order) < _FEW:
        return Glance(0.0)
    draw, forecaster, chunks = np.random.default_rng(0), Forecaster(), dict[str, ChunkSet]()
    loads, lengths = list[Load](), Counter[str]()
    for cells in order.making:
        whole = forecaster.chunked(cells)
        if whole is None:
            continue
        chunks[cells[0].shelf_key] = whole
        rows = np.sort(draw.permutation(len(whole))[:_SAMPLE])
        load = forecaster.look(cells, _some(whole, rows))
        loads.append(load)
        for name, length in load.lengths.items():
            lengths[name] += round(length * len(whole) / max(len(rows), 1))
    if sum(lengths.values()) < _FEW:
        return Glance(0.0, chunks)
    if not all(may_try(load.plan.experiment.embedder) for load in loads):
        return Glance(None, chunks)
    trials = calibrate(loads)
    seconds = sum(length / trials[name].rate for name, length in lengths.items() if name in trials)
    return Glance(seconds, chunks, {load.plan.shelf_key: load.trial for load in loads if load.trial}, trials)


def most(order: Order) -> float:
    """Tokens of all chunks that would be made, about: those of the documents x size / (size - overlap), in the embedder's unit."""
    total = 0.0
    for cells in order.making:
        size, overlap = cells[0].cell.size, cells[0].cell.overlap
        often = size / (size - overlap) if size and overlap is not None else 1.0
        experiment = cells[0].experiment
        total += often * sum(ruler.total for ruler in measure_all(experiment.embedder.unit, experiment.corpus.documents))
    return total


def _some(chunks: ChunkSet, rows: Ints) -> ChunkSet:
    def texts(column: tuple[str, ...] | None) -> tuple[str, ...] | None:
        return None if column is None else tuple(column[row] for row in rows.tolist())

    columns = {name: getattr(chunks, name)[rows] for name in ("doc", "start", "end", "returned_start", "returned_end")}
    return replace(chunks, **columns, context=texts(chunks.context), also=texts(chunks.also))
