"""Which written results this program reads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.errors import StoreError
from harness.tracking.files import SCHEMA_VERSION

READABLE = (SCHEMA_VERSION,)
"""The schema versions that are read; others are refused by name."""


def checked(place: object, record: Any) -> Mapping[str, Any]:
    """`record`, as it was read from `place`. Raises StoreError, with the version found and those that are read, where it is of another schema."""
    found = record.get("schema_version") if isinstance(record, Mapping) else None
    if found not in READABLE:
        readable = ", ".join(map(str, READABLE))
        remedy = "run its command again, or read it with the program that wrote it"
        raise StoreError(f"{place}: schema_version {found}, this program reads {readable}; {remedy}")
    known: Mapping[str, Any] = record
    return known
