"""Which rows of a matrix are equal bit for bit. Linear in the rows, and in a few megabytes beside them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from harness import scratch
from harness.shards import Rows
from harness.types import Ints

_ROWS_AT_ONCE = 1024
_ROWS_KEPT = 2**16


def distinct_rows(vectors: Rows) -> Ints | None:
    """For every row a number, the same for equal rows (0.0 and -0.0 are equal) and for no others, from 0 without a gap; None: no two are equal.

    Rows are told apart by a hash of their bits. Those that share one are compared, and where that finds different rows, all are sorted instead.
    """
    hashed = np.empty(len(vectors), dtype=np.uint64)
    multipliers = _multipliers(vectors.shape[1])
    for start in range(0, len(vectors), _ROWS_AT_ONCE):
        bits = _bits(vectors[start : start + _ROWS_AT_ONCE])
        hashed[start : start + len(bits)] = np.einsum("ij,j->i", bits, multipliers, dtype=np.uint64, casting="unsafe")
        if start % _ROWS_KEPT == 0 and isinstance(vectors, np.ndarray):
            scratch.release(vectors)
    _, first, place = np.unique(hashed, return_index=True, return_inverse=True)
    if len(first) == len(vectors):
        return None
    later = np.flatnonzero(first[place] != np.arange(len(vectors)))
    for start in range(0, len(later), _ROWS_AT_ONCE):
        rows = later[start : start + _ROWS_AT_ONCE]
        if not np.array_equal(vectors[rows], vectors[first[place[rows]]]):
            place = np.unique(_bits(vectors), axis=0, return_inverse=True)[1]
            break
    return place.ravel().astype(np.int64)


def _bits(vectors: Rows) -> npt.NDArray[np.uint32]:
    return (np.ascontiguousarray(vectors, dtype=np.float32) + np.float32(0)).view(np.uint32)  # -0.0 becomes 0.0


def _multipliers(count: int) -> npt.NDArray[np.uint64]:
    """Odd numbers, the same in every run."""
    return np.random.default_rng(0).integers(1, 2**63, count, dtype=np.uint64) * np.uint64(2) + np.uint64(1)
