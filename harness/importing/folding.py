"""The skeleton of a text: its letters and digits alone, each in its plainest form, and where each of them stands.

White space, punctuation, quotation marks, dashes, soft hyphens, Markdown marks and accents fall away; ligatures and other compatibility forms become
plain letters; case is folded. Two passages that a person would call the same have the same skeleton. It is only used to find candidates: whether
a candidate really agrees is looked at afterwards (harness.importing.canon).

Each character is folded on its own, whatever stands beside it. So the skeleton of a slice is a slice of the skeleton, and a quote that stands in a
text word for word is always found in its skeleton.
"""

from __future__ import annotations

import unicodedata

import numpy as np
import numpy.typing as npt

from harness.types import Ints

Codes = npt.NDArray[np.uint32]

_PAGE = 8
_CHARACTERS = 0x110000


class _Folds:
    """What each character folds to, worked out in pages of 256 when one is first met: `flat[first : first + length]`."""

    def __init__(self) -> None:
        self.known = np.zeros(_CHARACTERS >> _PAGE, dtype=bool)
        self.length = np.zeros(_CHARACTERS, dtype=np.uint8)
        self.first = np.zeros(_CHARACTERS, dtype=np.int32)
        self.flat: Codes = np.zeros(0, dtype=np.uint32)

    def learn(self, codes: Codes) -> None:
        """Make sure that the pages of all `codes` are known."""
        met = np.bincount(codes >> np.uint32(_PAGE), minlength=len(self.known)).astype(bool)
        for page in np.flatnonzero(met & ~self.known).tolist():
            self._learn_page(page)

    def _learn_page(self, page: int) -> None:
        flat = self.flat.tolist()
        for code in range(page << _PAGE, (page + 1) << _PAGE):
            folded = _fold(chr(code))
            self.first[code], self.length[code] = len(flat), len(folded)
            flat.extend(folded)
        self.flat = np.array(flat, dtype=np.uint32)
        self.known[page] = True


def _fold(character: str) -> list[int]:
    # NUL stays: documents are joined by it, so that no passage reaches over the end of one.
    if character == "\0":
        return [0]
    plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", character).casefold())
    return [ord(it) for it in plain if unicodedata.category(it)[0] in "LN"]


_FOLDS = _Folds()


def skeleton(text: str) -> tuple[Codes, Ints]:
    """The folded code points of `text` and the place in `text` that each comes from, ascending. Linear time."""
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")
    _FOLDS.learn(codes)
    lengths = _FOLDS.length[codes]
    if int(lengths.max(initial=0)) <= 1:
        place = np.flatnonzero(lengths)
        return _FOLDS.flat[_FOLDS.first[codes[place]]], place
    place = np.repeat(np.arange(len(codes)), lengths)
    ends = np.cumsum(lengths, dtype=np.int64)
    inside = np.arange(len(place)) - np.repeat(ends - lengths, lengths)
    return _FOLDS.flat[_FOLDS.first[codes[place]] + inside], place
