"""What stands at the ends of a configuration: its plain values, with their keys."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


def leaves(value: Any, key: str = "") -> Iterator[tuple[str, Any]]:
    """Every value within `value` that is neither a mapping nor a list, with the dotted key that it stands under; members of a list share its key."""
    if isinstance(value, Mapping):
        for name, item in value.items():
            yield from leaves(item, f"{key}.{name}" if key else str(name))
    elif isinstance(value, list):
        for item in value:
            yield from leaves(item, key)
    else:
        yield key, value
