"""White space, words and well-formedness of a text, by vectorised passes over its code points."""

from __future__ import annotations

import re

import numpy as np
import numpy.typing as npt

from harness.types import Bools, Ints

_LAST_WHITE = 0x3000  # the ideographic space; no code point above it is white space
_WHITE = np.array([chr(code).isspace() for code in range(_LAST_WHITE + 1)] + [False])
_SURROGATE = re.compile("[\ud800-\udfff]")


def code_points(text: str) -> npt.NDArray[np.uint32]:
    """One number a character."""
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")


def white_mask(codes: npt.NDArray[np.uint32]) -> Bools:
    """Which code points are white space, as `str.isspace` has it."""
    mask: Bools = _WHITE[np.minimum(codes, _LAST_WHITE + 1)]
    return mask


def word_spans(white: Bools) -> tuple[Ints, Ints]:
    """Starts and ends of the runs of characters that are not white space, in order."""
    framed = np.ones(len(white) + 2, dtype=np.bool_)
    framed[1:-1] = white
    edges = np.flatnonzero(framed[1:] != framed[:-1]).astype(np.int64)
    return edges[::2].copy(), edges[1::2].copy()


def well_formed(text: str) -> str:
    """`text` with each lone surrogate replaced by U+FFFD, character by character: libraries that want UTF-8 refuse them, or join two into one."""
    if text.isascii():
        return text
    try:
        text.encode()  # several times as fast as the search
    except UnicodeEncodeError:
        return _SURROGATE.sub("\ufffd", text)
    return text
