"""What a person may type for `overlap`."""

from __future__ import annotations

import math
import re
from fractions import Fraction

from harness.errors import ConfigError

_AMOUNT = re.compile(r"[0-9]{1,18}")
_SHARE = re.compile(r"([0-9]{1,18}(?:\.[0-9]{1,18})?)%")
_EXPECTED = "a whole number of units, 0 or more (40), or a share of size from 0% to under 100%, with its sign (10%)"


def resolve_overlap(value: str | int | float, size: int) -> int:
    """`overlap` in whole units: an amount as it is, a share ("10%") of `size` rounded half up.

    Raises ConfigError for anything else. A bare number below 1 could mean a share or an amount, so it is refused.
    """
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    if isinstance(value, float) and 0 < value < 1:
        raise ConfigError("overlap", value, f"write {value * 100:g}% for a share, or a whole number of units")
    if isinstance(value, str):
        typed = value.strip()
        if _AMOUNT.fullmatch(typed):
            return int(typed)
        share = _SHARE.fullmatch(typed)
        if share and Fraction(share[1]) < 100:
            return math.floor(Fraction(share[1]) * size / 100 + Fraction(1, 2))
    raise ConfigError("overlap", value, _EXPECTED)
