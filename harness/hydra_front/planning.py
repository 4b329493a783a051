"""`plan=true`, and the lines that a long sweep says by itself: what it would do and take, before it does it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.course import Earlier, Impossible
from harness.experiment import fitted
from harness.forecast import Forecast, foresee
from harness.glance import glance
from harness.hydra_front.console import SweepConsole, print_sections
from harness.loads import Load
from harness.planned import Planned
from harness.report.verdict import Section, duration
from harness.tracking.files import read_cell
from harness.tracking.rankings import read_retrieved

_LONG = 60.0
_SHOWN = 20


@dataclass(frozen=True)
class Ahead:
    """Looks ahead of a sweep into `outputs`; `rerun`: nothing that lies there is used but vectors."""

    outputs: Path
    rerun: bool

    def forecast(self, plans: Sequence[Planned | Impossible]) -> Forecast:
        """All of it. Writes nothing but vectors of what was tried, which the sweep takes from the cache."""
        return foresee(plans, self._finished, self._ranked)

    def of_a_long_sweep(self, plans: Sequence[Planned | Impossible]) -> tuple[Forecast | None, Earlier]:
        """The same where embedding would take more than a minute, or money; else None, after a look that costs little. And what that embedded. A
        corpus that is read from disk as it is needed is not looked at: to cut it once more would take as long as the cell does."""
        if any(isinstance(plan, Planned) and plan.experiment.corpus.stored for plan in plans):
            return None, Earlier()
        seen = glance(plans, self.seems_finished, self._seems_ranked)
        earlier = Earlier(embedded=seen.embedded)
        if seen.seconds is not None and seen.seconds < _LONG:
            return None, earlier
        found = foresee(plans, self.seems_finished, self._seems_ranked, known=seen.chunks, tried=seen.trials)
        return found if seen.seconds is None or found.seconds >= _LONG else None, earlier

    def _finished(self, plan: Planned) -> bool:
        result = None if self.rerun else read_cell(self._cell(plan))
        return result is not None and result.key == plan.key

    def _ranked(self, plan: Planned) -> bool:
        stored = None if self.rerun else read_retrieved(self._ranking(plan))
        return stored is not None and fitted(plan.experiment, stored) is not None

    def seems_finished(self, plan: Planned) -> bool:
        """Whether its result lies there, which may still turn out to be damaged."""
        return not self.rerun and (self._cell(plan) / "result.json").is_file()

    def _seems_ranked(self, plan: Planned) -> bool:
        return not self.rerun and (self._ranking(plan) / "ranking.parquet").is_file()

    def _cell(self, plan: Planned) -> Path:
        return self.outputs / "cells" / plan.key[:20]

    def _ranking(self, plan: Planned) -> Path:
        return self.outputs / "rankings" / plan.ranking_key[:20]


def look_ahead(ahead: Ahead, plans: Sequence[Planned | Impossible], console: SweepConsole, *, only: bool, alone: bool) -> Earlier | None:
    """Where `only` that is asked for, say what the sweep would do; then None: that is all. Else a long sweep says it by itself, and its bar goes by
    it. Not where other processes do the work (not `alone`): this one would load the model for a trial, and go at another speed."""
    if only:
        print_sections(in_full(ahead.forecast(plans)))
        return None
    if not alone:
        return Earlier()
    forecast, earlier = ahead.of_a_long_sweep(plans)
    if forecast is not None:
        for line in in_short(forecast):
            console.tell(line)
        console.expect(forecast.work())
    return earlier


def in_short(forecast: Forecast) -> list[str]:
    """Two or three lines."""
    order = forecast.order
    making = sum(len(load.cells) for load in forecast.loads)
    lines = [f"{_count(order.cells, 'cell')}: {making} to run, {len(order.rescored)} to score again, {len(order.reused)} reused; {_tokens(forecast)}"]
    lines.append(f"{_time(forecast)}; memory {_bytes(forecast.memory)} beside the program, disk {_bytes(sum(forecast.disk.values()))} more")
    lines += [f"cost: about ${dollars:,.{2 if dollars >= 1 else 4}f} for {name}" for name, dollars in forecast.dollars.items()]
    return lines


def in_full(forecast: Forecast) -> list[Section]:
    """Everything."""
    return [
        Section("Cells", tuple(_cells(forecast))),
        Section("Chunks and tokens", tuple(_work(forecast))),
        Section("Time, memory, disk", tuple(_cost(forecast))),
    ]


def _cells(forecast: Forecast) -> Iterator[str]:
    order, making = forecast.order, sum(len(load.cells) for load in forecast.loads)
    told = [f"{making} to run", f"{len(order.rescored)} to score again (their ranking is stored)", f"{len(order.reused)} finished, so reused"]
    yield f"{order.cells} distinct: {', '.join(told)}"
    yield from _some([f"twin, run once: {cell.label} (same as {label})" for cell, label in order.twins])
    yield from _some([f"impossible: {cell.cell.label}: {cell.reason}" for cell in order.impossible])
    yield from _some([f"would FAIL: {failure.cell.label}: {failure.problem}" for failure in forecast.failures])


def _work(forecast: Forecast) -> Iterator[str]:
    if not forecast.loads:
        yield "nothing to chunk, nothing to embed"
        return
    least = "at least " if forecast.open else ""
    rows = sum(sum(load.rows.values()) for load in forecast.loads)
    sets = f"{forecast.sets} distinct sets of chunks in {_count(len(forecast.loads), 'combination')} of strategy and embedder"
    yield f"{sets}, {least}{forecast.total(lambda load: load.entries):,} chunks; {least}{rows:,} distinct texts to embed, questions included"
    yield _tokens(forecast)
    if forecast.total(_strategy):
        yield f"{forecast.total(_strategy):,} tokens more that strategies embed in order to cut"
    if forecast.open:
        guess = f"about {sum(forecast.guessed.values()):,} tokens more, less what they have in common"
        yield f"{len(forecast.open)} of these sets are not known before their strategy has embedded its sentences: {guess}"
    if forecast.pairs:
        yield f"at most {forecast.pairs:,} pairs for a cross-encoder, less what is stored; their time is not in the estimate"


def _cost(forecast: Forecast) -> Iterator[str]:
    if not forecast.loads and not forecast.order.rescored:
        yield "a few seconds, to read what is stored"
        return
    yield _time(forecast)
    for name, trial in forecast.trials.items():
        kept = f"the {trial.tokens:,} tokens of the trial are in the cache now"
        yield f"{name}: {trial.rate:,.0f} tokens a second, special ones included, tried on this machine just now; {kept}"
    if forecast.untried:
        yield f"not tried, so not in the time: {', '.join(forecast.untried)} (paid, behind a network, or too little to do)"
    held = "the largest set of vectors twice, those kept for later sets, texts"
    yield f"memory at the peak: {_bytes(forecast.memory)} beside the program and the model ({held})"
    parts = ", ".join(f"{name} {_bytes(size)}" for name, size in forecast.disk.items())
    yield f"disk: {_bytes(sum(forecast.disk.values()))} more ({parts}), roughly, by counts of vectors, chunks and places"
    for name, dollars in forecast.dollars.items():
        yield f"money: about ${dollars:,.{2 if dollars >= 1 else 4}f} for {name}, by its price for a million tokens"


def _tokens(forecast: Forecast) -> str:
    least = "at least " if forecast.open else ""
    served = forecast.total(lambda load: load.served)
    held = forecast.total(lambda load: load.held)
    return f"{least}{forecast.total(lambda load: load.embed):,} tokens to embed; {served:,} served: {held:,} in the cache, the rest repeats"


def _time(forecast: Forecast) -> str:
    low, high = forecast.between
    if forecast.untried and not forecast.embedding_seconds:
        return f"about {duration(forecast.other_seconds)} beside embedding, whose speed was not tried"
    parts = f"{duration(forecast.embedding_seconds)} embedding, {duration(forecast.other_seconds)} chunking, searching and scoring"
    if forecast.seconds < 10:
        return f"a few seconds ({parts})"
    return f"about {duration(low)} to {duration(high)} at the speed found just now, which other programs on the machine change ({parts})"


def _strategy(load: Load) -> int:
    return load.strategy


def _some(lines: Sequence[str]) -> list[str]:
    return [*lines[:_SHOWN], *([f"... and {len(lines) - _SHOWN} more"] if len(lines) > _SHOWN else [])]


def _count(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _bytes(size: float) -> str:
    for unit in ("B", "KB", "MB", "GB"):
        if size < 1000 or unit == "GB":
            return f"{size:,.0f} {unit}" if unit in ("B", "KB") or size >= 10 else f"{size:,.1f} {unit}"
        size /= 1000
    raise AssertionError
