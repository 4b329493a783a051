"""Values of unknown origin (front matter, document properties) as plain, bounded JSON."""

from __future__ import annotations

import datetime
from typing import Any

_NODES = 500
_DEEPEST = 5
_LONGEST = 2_000


def plain(value: Any) -> Any:
    """`value` with nothing in it but objects with text keys, lists, text, finite numbers, booleans and null.

    Dates become ISO text. What is deeper than five levels, or beyond the 500th value, is left out, and text is cut after 2,000 characters: YAML can
    name one list many times over, so a few lines may stand for more values than fit into memory.
    """
    return _Plain().of(value, 0)


class _Plain:
    def __init__(self) -> None:
        self.left = _NODES

    def of(self, value: Any, depth: int) -> Any:
        self.left -= 1
        if isinstance(value, dict | list | tuple | set):
            return self._several(value, depth)
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, int):
            return value if abs(value) < 1 << 53 else "a number too large"
        if isinstance(value, float):
            return value if value - value == 0 else str(value)  # neither NaN nor infinite
        if isinstance(value, datetime.date | datetime.time):
            return value.isoformat()
        return _text(value)

    def _several(self, value: Any, depth: int) -> Any:
        if depth >= _DEEPEST:
            return None
        if isinstance(value, dict):
            found = {}
            for key, item in value.items():
                if self.left <= 0:
                    break
                found[_text(key)] = self.of(item, depth + 1)
            return found
        items = []
        for item in value:
            if self.left <= 0:
                break
            items.append(self.of(item, depth + 1))
        return items


def _text(value: object) -> str:
    text = value if isinstance(value, str) else str(value)[:_LONGEST]
    return text[:_LONGEST].encode("utf-8", "replace").decode("utf-8")
