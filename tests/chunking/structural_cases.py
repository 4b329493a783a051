"""What the tests of the structural strategies share."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable

from harness.chunking.base import Chunker, Pieces
from harness.units import CharUnit, Unit

Shown = tuple[str, str]


def pieces_of(chunker: Chunker, text: str, unit: Unit | None = None) -> Pieces:
    return chunker.split(text, (unit or CharUnit()).measure(text))


def chunks_of(chunker: Chunker, text: str, unit: Unit | None = None) -> list[str]:
    pieces = pieces_of(chunker, text, unit)
    return [text[start:end] for start, end in zip(pieces.start.tolist(), pieces.end.tolist(), strict=True)]


def shown(chunker: Chunker, text: str, unit: Unit | None = None) -> list[Shown]:
    """(context, chunk) of every chunk."""
    pieces = pieces_of(chunker, text, unit)
    contexts = pieces.context or ("",) * len(pieces.start)
    return list(zip(contexts, chunks_of(chunker, text, unit), strict=True))


def least_seconds(act: Callable[[], object], times: int = 2) -> float:
    """CPU seconds of the best run, without Python's garbage collector: what it looks through is what other tests left behind."""
    found = []
    for _ in range(times):
        gc.collect()
        gc.disable()
        try:
            begun = time.process_time()
            act()
            found.append(time.process_time() - begun)
        finally:
            gc.enable()
    return min(found)
