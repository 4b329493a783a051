"""Plain text and source code, as they are."""

from __future__ import annotations

from harness.importing.extract.base import Extracted, Source
from harness.importing.extract.encoding import decode


def extract(source: Source) -> Extracted:
    """The text of the file, unchanged."""
    text, notes = decode(source.raw)
    return Extracted(text, notes=notes)
