"""What the suites on surroundings share: a text with headings, and a strategy whose chunks can be seen in it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from harness.chunking.base import Pieces
from harness.units.base import Ruler

BOATS = "# Boats\n\nAll about boats.\n\n## Hire\n\nBoats go out at nine. They come back at six.\n\n## Fees\n\n### Members\n\nMembers pay less.\n"


@dataclass(frozen=True)
class Lines:
    """A chunk a line that is not blank; the second word of the first line is what it wants in front of the others."""

    size: int = 50
    front: str = ""

    def split(self, text: str, ruler: Ruler) -> Pieces:
        spans, place = [], 0
        for line in text.splitlines(keepends=True):
            if line.strip():
                spans.append((place, place + len(line.rstrip())))
            place += len(line)
        start, end = np.array(spans, dtype=np.int64).reshape(-1, 2).T.copy()
        return Pieces(start, end, context=("", *[self.front] * (len(spans) - 1)) if self.front else None)
