"""What becomes of chunks that are too short to stand alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from harness.chunking.base import Pieces
from harness.chunking.surroundings import Surroundings
from harness.types import Ints
from harness.units.base import Ruler

Run = tuple[int, int]
"""First and last of the chunks that become one."""


def settle_short(pieces: Pieces, ruler: Ruler, around: Surroundings, size: int | None) -> Pieces:
    """The pieces of one document with those under `around.min_size` units merged, dropped or kept.

    "merge" joins a short chunk to the neighbour with which it makes the smaller chunk (the one before it where they are equal), as long as that
    measures at most `size` (None: whatever it measures), and goes on while the outcome is short; one that fits with neither stays, counted in the
    note "short". The outcome spans what its parts span and has the context of its first part. "drop" leaves them out, counted in "dropped": their
    text is in no chunk then, unless a neighbour overlaps it. "keep" changes nothing and counts them in "short". Linear in the number of chunks.
    """
    if not around.min_size:
        return pieces
    small = ruler.size(pieces.start, pieces.end) < around.min_size
    count = int(np.count_nonzero(small))
    if not count:
        return pieces
    if around.short == "keep":
        return replace(pieces, notes={**pieces.notes, "short": count})
    if around.short == "drop":
        kept = np.flatnonzero(~small)
        return _taken(pieces, kept, kept, {"dropped": count})
    runs = np.array(_merged(ruler.floor(pieces.start).tolist(), ruler.ceil(pieces.end).tolist(), around.min_size, size), dtype=np.int64)
    first, last = runs[:, 0], runs[:, 1]
    left = int(np.count_nonzero(ruler.size(pieces.start[first], pieces.end[last]) < around.min_size))
    return _taken(pieces, first, last, {"merged": len(pieces.start) - len(first), **({"short": left} if left else {})})


def _merged(floor: list[int], ceil: list[int], least: int, size: int | None) -> list[Run]:
    """The runs of chunks that become one. Chunks a to b, joined, measure ceil[b] - floor[a]."""
    done: list[Run] = []
    waiting: Run | None = None  # a short chunk that may still be joined to the next
    for number in range(len(floor)):
        run = (number, number)
        if waiting is not None:
            before = _joined_size(floor, ceil, done[-1], waiting, size) if done else None
            after = _joined_size(floor, ceil, waiting, run, size)
            if after is not None and (before is None or after < before):
                run = (waiting[0], number)
            else:
                _put_back(done, waiting, before)
        waiting = run if ceil[run[1]] - floor[run[0]] < least else None
        if waiting is None:
            done.append(run)
    if waiting is not None:
        _put_back(done, waiting, _joined_size(floor, ceil, done[-1], waiting, size) if done else None)
    return done


def _put_back(done: list[Run], waiting: Run, before: int | None) -> None:
    """Join what waited to the run before it, or leave it alone where that is too large."""
    if before is None:
        done.append(waiting)
    else:
        done[-1] = (done[-1][0], waiting[1])


def _joined_size(floor: list[int], ceil: list[int], one: Run, two: Run, size: int | None) -> int | None:
    """What two neighbours measure as one, None where that is more than `size`."""
    units = ceil[two[1]] - floor[one[0]]
    return units if size is None or units <= size else None


def _taken(pieces: Pieces, first: Ints, last: Ints, notes: dict[str, int]) -> Pieces:
    known = dict(pieces.notes)
    if "unbounded" in known:  # of a strategy that does not go by size: every chunk is one
        known["unbounded"] = len(first)
    context = None if pieces.context is None else tuple(pieces.context[row] for row in first.tolist())
    return Pieces(pieces.start[first], pieces.end[last], {**known, **notes}, context)
