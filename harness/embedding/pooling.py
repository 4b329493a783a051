"""Vectors of chunks from the token states of their document: means over spans, as differences of prefix sums.

Late chunking after Günther et al., "Late Chunking: Contextual Chunk Embeddings Using Long-Context Embedding Models" (2024), with windows for models
whose context is shorter than a document.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import sparse

from harness.embedding.windows import Windows
from harness.types import Floats, Ints, Vectors

States = npt.NDArray[np.float16]
Offsets = npt.NDArray[np.int32]
_STRIDE = 512
_ROWS_AT_ONCE = 8192


@dataclass(frozen=True, slots=True)
class DocumentStates:
    """What a model made of a document of n tokens that went through it in w windows.

    `start`, `end` (n,): the characters of each token, in order. `states` (n, d): the state of each token in the window that serves it. `rest` (w, d)
    float32: for each window, the summed states of what the model pools besides the document's tokens (special tokens, mostly also the prompt), and
    what rounding took from the states that it serves. `around`: how many such other tokens there are in a window.
    """

    start: Offsets
    end: Offsets
    states: States
    rest: Vectors
    around: int

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays."""
        return self.start.nbytes + self.end.nbytes + self.states.nbytes + self.rest.nbytes


def tokens_under(start: Offsets, end: Offsets, first: Ints, last: Ints) -> tuple[Ints, Ints]:
    """For each span of characters [first, last): the tokens a to b (exclusive) that have a character in it. b == a where there is none.

    A token across the border of two spans is under both. One of no width counts as one character wide.
    """
    reach = np.maximum.accumulate(np.maximum(end, start + 1)) if len(end) else end
    begun = np.minimum.accumulate(start[::-1])[::-1] if len(start) else start
    a, b = np.searchsorted(reach, first, side="right"), np.searchsorted(begun, last, side="left")
    return a.astype(np.int64), np.maximum(a, b).astype(np.int64)


def pool(kept: DocumentStates, served: Windows, a: Ints, b: Ints) -> Floats:
    """The mean state of each range of tokens [a, b), a < b: (ranges, d) float64, not yet of unit length. Linear in tokens and ranges.

    What a window pools besides the document's tokens is shared out evenly over all the tokens of that window, so that a chunk has its part of it, and
    a chunk that is the whole of a window has the whole: then the mean is the ordinary vector of that window's text.
    """
    places, where = np.unique(np.concatenate([a, b]), return_inverse=True)
    sums = prefix_sums(lambda begin, end: kept.states[begin:end].astype(np.float32), kept.states.shape[1], places) + _shares(
        kept.rest.astype(np.float64), served, places
    )
    counts = places + _shares(np.full((len(served), 1), float(kept.around)), served, places)[:, 0]
    low, high = where[: len(a)], where[len(a) :]
    mean: Floats = (sums[high] - sums[low]) / (counts[high] - counts[low])[:, None]
    return mean


def prefix_sums(rows: Callable[[int, int], Vectors], width: int, places: Ints) -> Floats:
    """The sum of a document's rows before each of `places` (rising), less the same amount for all, (places, width). `rows` gives those from one place
    to another, (n, width) float32. Adds in float32 within 512 rows, in float64 beyond them."""
    low, high = int(places[0]), int(places[-1])
    cuts = np.union1d(places, np.arange(low // _STRIDE + 1, -(-high // _STRIDE)) * _STRIDE)
    sums = np.zeros((len(cuts), width))
    begin = low
    while begin < high:
        end = min((begin // _ROWS_AT_ONCE + 1) * _ROWS_AT_ONCE, high)
        first, last = np.searchsorted(cuts, [begin, end])
        edges = cuts[first : last + 1] - begin
        ones = np.ones(end - begin, dtype=np.float32)
        segments = sparse.csr_array((ones, np.arange(end - begin), edges), shape=(len(edges) - 1, end - begin))
        sums[first + 1 : last + 1] = segments @ rows(begin, end)
        begin = end
    found: Floats = np.cumsum(sums, axis=0)[np.searchsorted(cuts, places)]
    return found


def _shares(amounts: Floats, served: Windows, places: Ints) -> Floats:
    """What the tokens before each of `places` have of their windows' `amounts` (w, m), every token of a window having an equal part: (places, m)."""
    each = amounts / served.lengths[:, None]
    before = np.concatenate([np.zeros((1, amounts.shape[1])), np.cumsum(each * np.diff(served.served)[:, None], axis=0)])
    window = np.minimum(np.searchsorted(served.served, places, side="right") - 1, len(served) - 1)
    inside = (places - served.served[window])[:, None]
    found: Floats = before[window] + each[window] * inside
    return found
