"""Processes that are killed at random moments, or stopped by the person."""

from __future__ import annotations

import random
import signal
import time
from collections.abc import Iterator
from pathlib import Path

from fault_bench import Bench, Process, Row

MOMENTS = 50


def killed(bench: Bench) -> Iterator[Row]:
    """`MOMENTS` moments, half of them drawn evenly over an uninterrupted run, half while it writes; then the same command goes on."""
    draw, problems, kept, early = random.Random(7), [], [], 0
    _ = bench.whole
    for number in range(MOMENTS):
        with bench.room() as outputs:
            moment = draw.random() * bench.seconds
            process = bench.start(outputs)
            while number % 2 and not (outputs / "rankings").exists() and not process.ended():
                time.sleep(0.002)
            time.sleep(moment / (1 + number % 2))
            early += process.ended()
            process.kill()
            process.wait()
            kept.append(len(list(outputs.glob("cells/[!.]*"))))
            problems += [f"moment {number} ({moment:.2f} s): {line}" for line in bench.again(outputs)]
            problems += [f"moment {number}: a draft was left behind and served"] if list(outputs.glob("cells/.*/SHA256SUMS")) else []
    spread = ", ".join(f"{count} cells kept {kept.count(count)} times" for count in sorted(set(kept)))
    how = f"kill -9 to the whole process group at {MOMENTS} random moments of a sweep of 6 cells, each from nothing"
    yield Row("killed", how, f"{spread}; {early} times it was through before; what was kept is reused", not problems, tuple(problems))


def stopped(bench: Bench) -> Iterator[Row]:
    """Ctrl-C once and twice, in the middle of a cell."""
    yield _once(bench)
    yield _twice(bench)


def _slow() -> None:
    """Every cell takes a second in its embedding."""
    from harness.embedding import HashingEmbedder

    quick = HashingEmbedder.vectors

    def vectors(self, inputs, rows):  # type: ignore[no-untyped-def]
        for block in quick(self, inputs, rows):
            for _ in range(10):
                time.sleep(0.05)
            yield block

    HashingEmbedder.vectors = vectors  # type: ignore[method-assign]


def _in_second_cell(outputs: Path, process: Process) -> int:
    """Wait until a cell is done and the next one is at work; how many are done."""
    until = time.monotonic() + 60
    while not (done := len(list(outputs.glob("cells/[!.]*")))) and not process.ended() and time.monotonic() < until:
        time.sleep(0.01)
    time.sleep(0.15)
    return done


def _once(bench: Bench) -> Row:
    with bench.room() as outputs:
        process = bench.start(outputs, first=_slow)
        before = _in_second_cell(outputs, process)
        process.kill(signal.SIGINT)
        ran = process.wait()
        after = len(list(outputs.glob("cells/[!.]*")))
        problems = ran.trouble + ([] if ran.status == 130 else [f"status {ran.status}"])
        problems += [] if after == before + 1 else [f"{before} cells before, {after} after"]
        problems += [] if "finishing this cell; Ctrl-C again to stop now" in ran.err else ["not told"]
        problems += bench.again(outputs)
    seen = f"the cell in flight was finished ({before} before, {after} after), said so, status 130"
    return Row("Ctrl-C, once", "SIGINT to the process group in the middle of the second cell", seen, not problems, tuple(problems))


def _twice(bench: Bench) -> Row:
    with bench.room() as outputs:
        process = bench.start(outputs, first=_slow)
        before = _in_second_cell(outputs, process)
        process.kill(signal.SIGINT)
        time.sleep(0.05)
        pressed = time.monotonic()
        process.kill(signal.SIGINT)
        ran = process.wait()
        seconds = time.monotonic() - pressed
        after = len(list(outputs.glob("cells/[!.]*")))
        problems = ran.trouble + ([] if ran.status == 130 else [f"status {ran.status}"])
        problems += [] if after == before else [f"{before} cells before, {after} after"]
        problems += bench.again(outputs)
    seen = f"ended {seconds:.1f} s later without the cell in flight, status 130; cells that were done are kept"
    return Row("Ctrl-C, twice", "two SIGINT 0.05 s apart", seen, not problems, tuple(problems))
