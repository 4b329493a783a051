"""How alike texts are: the share of their shingles (runs of words) that two texts have in common, the resemblance of Broder (1997).

Words are runs of characters that are not white space, in lower case; in scripts without spaces every character is one. All of it is done in passes
over code points and over sorted columns; shingles are told apart by 64-bit hashes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import sparse

from harness.types import Bools, Ints
from harness.units.codepoints import code_points, white_mask

_Hashes = npt.NDArray[np.uint64]
_ODD = np.uint64(0x9E3779B97F4A7C15)
_TEXTS_AT_ONCE = 64
"""Few enough for their columns to stay near the processor, many enough to make the passes long."""


class Alike(NamedTuple):
    """Which of some texts are near-duplicates. `kind` numbers the texts so that those with the very same shingles share one; `one` and `other` are
    the pairs of different kinds that have enough in common, each in both orders, sorted by `one`."""

    kind: Ints
    one: Ints
    other: Ints


def alike(texts: Sequence[str], share: float, width: int) -> Alike:
    """The texts whose shingles of `width` words (all its words, where a text has fewer) agree: common / all of either >= `share`.

    Exact, without comparing all pairs: two such texts must have one in common even of the few rarest shingles of each (prefix filtering: Bayardo, Ma
    and Srikant 2007), so those find the pairs that are then counted. Costs the sorting of all shingles.
    """
    kind, held = _kinds(_by_rarity(_held(texts, width)))
    size = np.diff(held.indptr).astype(np.int64)
    one, other = _likely(held, size, share)
    common: Ints = np.asarray(held[one].multiply(held[other]).sum(axis=1)).ravel()
    near = common >= share * (size[one] + size[other] - common)
    one, other = np.concatenate([one[near], other[near]]), np.concatenate([other[near], one[near]])
    order = np.argsort(one, kind="stable")
    return Alike(kind, one[order], other[order])


def _likely(held: sparse.csr_array, size: Ints, share: float) -> tuple[Ints, Ints]:
    """Pairs of rows that may be near-duplicates: a shingle in common among the first of each (the rarest: one more than may be missing), and sizes
    that allow it."""
    missing = size - np.ceil(share * size - 1e-9).astype(np.int64)
    place = np.arange(held.nnz) - np.repeat(held.indptr[:-1], size)
    leads = (place <= np.repeat(missing, size)) & (np.bincount(held.indices)[held.indices] > 1 if held.nnz else False)
    row = np.repeat(np.arange(len(size)), size)
    first = sparse.csr_array((np.ones(int(leads.sum()), dtype=np.int32), (row[leads], held.indices[leads])), shape=held.shape)
    pairs = (first @ first.T).tocoo()
    one, other = pairs.row.astype(np.int64), pairs.col.astype(np.int64)
    likely = (one < other) & (np.minimum(size[one], size[other]) >= share * np.maximum(size[one], size[other]))
    return one[likely], other[likely]


def _held(texts: Sequence[str], width: int) -> sparse.csr_array:
    """Which shingles each text holds: texts x distinct shingles, ones."""
    parts = [_shingles(texts[start : start + _TEXTS_AT_ONCE], width) for start in range(0, max(len(texts), 1), _TEXTS_AT_ONCE)]
    text = np.concatenate([part[0] + number * _TEXTS_AT_ONCE for number, part in enumerate(parts)])
    shingle = np.concatenate([part[1] for part in parts])
    number, distinct = pd.factorize(shingle)
    held = sparse.csr_array((np.ones(len(text), dtype=np.int32), (text, number)), shape=(len(texts), len(distinct)))
    held.data[:] = 1  # a shingle that a text repeats counts once
    return held


def _by_rarity(held: sparse.csr_array) -> sparse.csr_array:
    """The same with shingles numbered from the rarest, ascending in every row."""
    spread = np.bincount(held.indices, minlength=held.shape[1])
    rank = np.empty(held.shape[1], dtype=held.indices.dtype)
    rank[np.argsort(np.minimum(spread, 2**15 - 1).astype(np.int16), kind="stable")] = np.arange(held.shape[1])
    renamed = sparse.csr_array((held.data, rank[held.indices], held.indptr), shape=held.shape)
    renamed.sort_indices()
    return renamed


def _kinds(held: sparse.csr_array) -> tuple[Ints, sparse.csr_array]:
    """The kind of every row, and one row a kind."""
    mixed = _mixed(held.indices.astype(np.uint64) + np.uint64(1))
    total = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(mixed, dtype=np.uint64)])
    _, first, kind = np.unique(total[held.indptr[1:]] - total[held.indptr[:-1]], return_index=True, return_inverse=True)
    return kind.astype(np.int64), held[first]


def _shingles(texts: Sequence[str], width: int) -> tuple[Ints, _Hashes]:
    """The text and hash of every shingle, in order."""
    text, word = _words(texts)
    count = np.bincount(text, minlength=len(texts))
    left = np.repeat(np.cumsum(count), count) - np.arange(len(text))  # words from here to the end of the text
    total = word.copy()
    for step in range(1, min(width, int(left.max(initial=0)))):  # no text reaches further
        reach = np.flatnonzero(left > step)
        total[reach] = total[reach] * _ODD + word[reach + step]
    begins = (left >= width) | (left == count[text])
    return text[begins], total[begins]


def _words(texts: Sequence[str]) -> tuple[Ints, _Hashes]:
    """The text and hash of every word, in order. The hash is the sum of the code points, each times a number for its place, mixed."""
    lowered = [text.lower() for text in texts]
    codes = code_points(" ".join([*lowered, ""]))
    solid, apart = ~white_mask(codes), _spaceless(codes)
    begins = solid.copy()
    begins[1:] &= ~solid[:-1] | apart[1:] | apart[:-1]
    start = np.flatnonzero(begins)
    solid_codes = codes[solid]
    first = np.flatnonzero(begins[solid])
    length = np.diff(np.append(first, len(solid_codes)))
    within = np.arange(len(solid_codes)) - np.repeat(first, length)
    factor = np.random.default_rng(0).integers(1, 2**63, int(length.max(initial=0)), dtype=np.uint64) * np.uint64(2) + np.uint64(1)
    word = np.add.reduceat(solid_codes * factor[within], first) if len(first) else np.zeros(0, dtype=np.uint64)
    ends = np.cumsum(np.fromiter((len(text) + 1 for text in lowered), dtype=np.int64, count=len(lowered)))
    return np.searchsorted(ends, start, side="right").astype(np.int64), _mixed(word)


def _mixed(values: _Hashes) -> _Hashes:
    """Every bit of each value spread over all of them (the finish of splitmix64: Steele, Lea and Flood 2014)."""
    mixed = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))


def _spaceless(codes: npt.NDArray[np.uint32]) -> Bools:
    """Characters of Thai, Lao, Myanmar, Khmer, Kana and Han, by their blocks."""
    out = np.zeros(len(codes), dtype=bool)
    later = np.flatnonzero(codes >= 0x0E00)
    code = codes[later]
    south = (code < 0x0F00) | ((code >= 0x1000) & (code < 0x10A0)) | ((code >= 0x1780) & (code < 0x1800))
    east = ((code >= 0x2E80) & (code < 0xA000)) | ((code >= 0xF900) & (code < 0xFB00)) | ((code >= 0x20000) & (code < 0x32400))
    out[later] = south | east
    return out
