"""What the reader asks of a place where results are kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from harness.types import CellResult


@dataclass(frozen=True, slots=True)
class Entry:
    """A sweep that is kept somewhere. `place` finds it there (a folder, a run id); `date` is when it ended, in local time without a zone.

    `record` is what sweep.json holds: name, command, status, corpus, select, cells, winner, tied, cheapest and pareto (keys of cells). Where it can't
    be read it is empty, and `problem` says why.
    """

    name: str
    date: datetime
    place: str
    record: Mapping[str, Any]
    problem: str = ""


class Source(Protocol):
    """Where results are kept."""

    def entries(self) -> list[Entry]:
        """Every sweep, the newest first, those that can't be read included."""
        ...

    def results(self, entry: Entry) -> list[CellResult]:
        """The sweep's finished cells in grid order. Raises StoreError where one is gone, damaged or of another schema version."""
        ...

    def texts(self, entry: Entry) -> Mapping[str, str]:
        """The questions' text by id, as far as this place holds it."""
        ...
