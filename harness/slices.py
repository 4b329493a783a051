"""Texts that are slices of documents, cut when they are asked for: a million of them take no more memory than their columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol, overload

import numpy as np
import numpy.typing as npt

_ROWS_AT_ONCE = 4096


class HasText(Protocol):
    """A document."""

    @property
    def text(self) -> str:
        """Its text, which may have to be read for that."""
        ...


class Slices(Sequence[str]):
    """Text number i is `documents[doc[i]].text[start[i]:end[i]]`, with `front[i]` before it (None: nothing). A slice of them is a list.

    Gone through in order, a document's text is asked for once a run of its rows.
    """

    def __init__(
        self,
        documents: Sequence[HasText],
        doc: npt.NDArray[np.int64],
        start: npt.NDArray[np.int64],
        end: npt.NDArray[np.int64],
        front: Sequence[str] | None = None,
    ) -> None:
        self._documents, self._columns, self._front = documents, (doc, start, end), front

    def __len__(self) -> int:
        return len(self._columns[0])

    def __iter__(self) -> Iterator[str]:
        return self._of(range(len(self)))

    @overload
    def __getitem__(self, place: int) -> str: ...

    @overload
    def __getitem__(self, place: slice) -> list[str]: ...

    def __getitem__(self, place: int | slice) -> str | list[str]:
        if isinstance(place, slice):
            return list(self._of(range(len(self))[place]))
        row = range(len(self))[place]
        return next(self._of(range(row, row + 1)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and len(self) == len(other) and all(one == its for one, its in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]  # as a list

    def _of(self, rows: range) -> Iterator[str]:
        number, text = -1, ""
        for first in range(0, len(rows), _ROWS_AT_ONCE):
            some = rows[first : first + _ROWS_AT_ONCE]
            columns = (column[np.array(some, dtype=np.int64)].tolist() for column in self._columns)
            for row, doc, start, end in zip(some, *columns, strict=True):
                if doc != number:
                    number, text = doc, self._documents[doc].text
                yield text[start:end] if self._front is None else self._front[row] + text[start:end]
