"""How a document longer than the model goes through it: in windows that overlap, and which window speaks for a token where two hold it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from harness.types import Ints


@dataclass(frozen=True, slots=True)
class Windows:
    """Windows of a document's tokens, in order: number w holds the tokens `start[w]` to `end[w]` (exclusive) and serves those from `served[w]` to
    `served[w + 1]`: each token is served by just one window."""

    start: Ints
    end: Ints
    served: Ints

    def __len__(self) -> int:
        return len(self.start)

    @property
    def lengths(self) -> Ints:
        """Tokens of each window."""
        return self.end - self.start


def windows(tokens: int, room: int, overlap: int) -> Windows:
    """As few windows of at most `room` tokens as let neighbours share `overlap` of them (0 <= overlap < room). No tokens, no window.

    All are equally long, give or take one, rather than full ones and a short last one with little context; the tokens that pass through the model
    are the same: `tokens + overlap * (windows - 1)`. The seam lies in the middle of what two windows share (of an odd number, the later one gets
    the larger part), so that a token is served by the window in which it has more context on its poorer side: at least `overlap // 2` tokens,
    except at the ends of the document.
    """
    if tokens < 1:
        none = np.zeros(0, dtype=np.int64)
        return Windows(none, none, np.zeros(1, dtype=np.int64))
    count = max(-(-(tokens - overlap) // (room - overlap)), 1)
    start = np.arange(count, dtype=np.int64) * max(tokens - overlap, 0) // count
    end = np.append(start[1:] + overlap, tokens).astype(np.int64)
    served = np.concatenate([[0], start[1:] + overlap // 2, [tokens]]).astype(np.int64)
    return Windows(start, end, served)
