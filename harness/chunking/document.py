"""The whole document as one chunk."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from harness.chunking.base import Pieces
from harness.units.base import Ruler


@dataclass(frozen=True, slots=True)
class DocumentChunker:
    """One chunk a document, less white space at both ends: for documents that are short and self-contained, and as the ceiling of existence.

    It has no size, so every chunk is counted in the note "unbounded".
    """

    def split(self, text: str, ruler: Ruler) -> Pieces:
        """One span, or none for a blank text."""
        end = len(text.rstrip())
        start = len(text) - len(text.lstrip())
        if start >= end:
            return Pieces(np.zeros(0, np.int64), np.zeros(0, np.int64))
        return Pieces(np.array([start], np.int64), np.array([end], np.int64), {"unbounded": 1})
