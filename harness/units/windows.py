"""A long text through a tokenizer, some at a time: in one piece, 50 MB of text would take several gigabytes.

Cuts lie at a space between two letters or digits, and only where the tokenizer gives for what surrounds the cut the same tokens whether or
not it is cut there; so a tokenizer that merges across spaces is asked for the whole. The pieces of a text go to all cores.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain, islice, pairwise

import numpy as np
import numpy.typing as npt
from tokenizers import Encoding, Tokenizer

from harness.types import Ints

WINDOW = 1 << 19
"""Characters of a piece, about."""
_AT_ONCE = 4
_AROUND = 200
_TRIES = 50
_PLACE = re.compile(r"(?<=[^\W_]) (?=[^\W_])")

TokenIds = npt.NDArray[np.int32]


def tokens_of(tokenizer: Tokenizer, text: str) -> tuple[TokenIds, Ints]:
    """The tokens of a text (no half surrogate pairs in it): their ids, and the characters that each covers, shape (n, 2)."""
    if len(text) <= 2 * WINDOW:
        return columns_of(tokenizer.encode(text, add_special_tokens=False))
    ids, spans = list[TokenIds](), list[Ints]()
    edges = pairwise(_edges(tokenizer, text))
    while some := list(islice(edges, _AT_ONCE)):
        found = tokenizer.encode_batch([text[begin:end] for begin, end in some], add_special_tokens=False)
        for (begin, _), encoding in zip(some, found, strict=True):
            own, where = columns_of(encoding)
            ids.append(own)
            spans.append(where + begin)
    return np.concatenate(ids), np.concatenate(spans)


def columns_of(encoding: Encoding) -> tuple[TokenIds, Ints]:
    """Ids and characters of the tokens of one encoding."""
    count = len(encoding.ids)
    spans = np.fromiter(chain.from_iterable(encoding.offsets), dtype=np.int64, count=2 * count).reshape(count, 2)
    return np.array(encoding.ids, dtype=np.int32), spans


def _edges(tokenizer: Tokenizer, text: str) -> Iterator[int]:
    """Where the pieces begin, and the end of the last."""
    yield 0
    place = WINDOW
    while len(text) - place > WINDOW:
        cut = next((at for at in _places(text, place) if _apart(tokenizer, text, at)), None)
        if cut is None:
            break
        yield cut
        place = cut + WINDOW
    yield len(text)


def _places(text: str, start: int) -> Iterator[int]:
    return (match.start() for match in islice(_PLACE.finditer(text, start), _TRIES))


def _apart(tokenizer: Tokenizer, text: str, cut: int) -> bool:
    """Whether what lies on both sides of `cut` has the same tokens by itself as together."""
    left, right = text[max(cut - _AROUND, 0) : cut], text[cut : cut + _AROUND]
    whole, first, second = (columns_of(it) for it in tokenizer.encode_batch([left + right, left, right], add_special_tokens=False))
    return np.array_equal(whole[0], np.concatenate([first[0], second[0]])) and np.array_equal(
        whole[1], np.concatenate([first[1], second[1] + len(left)])
    )
