"""Characters: Unicode code points, as Python counts them. A base letter and its combining mark are two, and so are CR and LF."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from harness.units.base import Ruler


@dataclass(frozen=True, slots=True)
class CharUnit:
    """Every code point counts one."""

    name: str = "chars"
    identity: str = "chars"

    def measure(self, text: str) -> Ruler:
        """The ruler with a cut at every character."""
        every = np.arange(len(text) + 1, dtype=np.int64)
        return Ruler(every, every)
