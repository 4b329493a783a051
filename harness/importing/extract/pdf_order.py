"""The order in which people read the blocks of a page.

Breuel (2003), "High performance document layout analysis": block a comes before block b if they share some of their width and a is higher; or if a
lies wholly to the left of b and no block that shares width with both stands between them in height. A topological sort of this partial order reads
columns one after the other, and cuts them where a title, table or figure spans them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from harness.importing.extract.pdf_blocks import Box

_MOST = 400
_MARGIN = 0.07
_SLACK = 1.0
"""Points by which neighbours may overlap without standing in each other's way."""


def reading_order(boxes: Sequence[Box], others: Sequence[Box] = (), height: float = 0.0) -> list[int]:
    """The numbers of `boxes` in reading order. `others` (figures) have no text but part columns as blocks do.

    What stands in the outer 7% of a page of this `height` is read first or last. Time is cubic, so pages of more than 400 blocks are read by rows of
    equal top, then from left to right. Ties go to the higher block, then to the one further left.
    """
    head = [number for number, box in enumerate(boxes) if box.bottom < _MARGIN * height]
    foot = [number for number, box in enumerate(boxes) if height and box.top > (1 - _MARGIN) * height]
    inner = [number for number in range(len(boxes)) if number not in {*head, *foot}]
    order = [inner[number] for number in _inner_order([boxes[number] for number in inner], others)]
    return [*sorted(head, key=lambda it: (boxes[it].top, boxes[it].left)), *order, *sorted(foot, key=lambda it: (boxes[it].top, boxes[it].left))]


def _inner_order(boxes: Sequence[Box], others: Sequence[Box]) -> list[int]:
    everything = [*boxes, *others]
    natural = sorted(range(len(everything)), key=lambda number: (round(everything[number].top), everything[number].left, number))
    if not 1 < len(everything) <= _MOST:
        return [number for number in natural if number < len(boxes)]
    before = _before(np.array([(box.left, box.top, box.right, box.bottom) for box in everything]))
    return [number for number in _sorted(before, natural) if number < len(boxes)]


def _before(places: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
    """before[a, b]: a is read before b."""
    left, top, right, bottom = places.T
    centre = (top + bottom) / 2
    shared = (left[:, None] < right[None, :] - _SLACK) & (left[None, :] < right[:, None] - _SLACK)
    above = centre[:, None] < centre[None, :]
    beside = (right[:, None] <= left[None, :] + _SLACK) & ~shared
    # Whether the middle of some block, which shares width with both, lies between those of a and b.
    spans = np.zeros_like(beside)
    low, high = np.minimum(centre[:, None], centre[None, :]), np.maximum(centre[:, None], centre[None, :])
    for number in range(len(places)):
        spans |= (shared[number][:, None] & shared[number][None, :]) & (low < centre[number]) & (centre[number] < high)
    before: npt.NDArray[np.bool_] = (shared & above) | (beside & ~spans)
    np.fill_diagonal(before, False)
    return before


def _sorted(before: npt.NDArray[np.bool_], natural: Sequence[int]) -> list[int]:
    """Every block after all that come before it; where that goes round in a circle, the one with the fewest before it, then the natural first."""
    rank = {number: place for place, number in enumerate(natural)}
    waiting = before.sum(axis=0)
    left = set(natural)
    order: list[int] = []
    while left:
        number = min(left, key=lambda it: (waiting[it], rank[it]))
        left.remove(number)
        order.append(number)
        waiting -= before[number]
    return order
