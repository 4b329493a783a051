"""Collecting everything that is wrong with a file before refusing it, so that a person mends it once and not line by line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from harness.errors import DataError

SHOWN = 10
"""Problems spelled out in one message; the rest is counted."""

_EXCERPT = 60


def excerpt(text: str) -> str:
    """`text` quoted on one line, cut after 60 characters."""
    return repr(text) if len(text) <= _EXCERPT else repr(text[:_EXCERPT]) + "…"


@dataclass(slots=True)
class Problems:
    """What was found wrong in `path` (a file, or a folder whose files are the places)."""

    path: Path
    error: type[DataError] = DataError
    count: int = 0
    shown: list[tuple[int | str, str]] = field(default_factory=list)

    def add(self, place: int | str, text: str, hint: Callable[[], str] | None = None) -> None:
        """Note a problem at a line (counted from 1) or file. `hint` may be dear: it is asked only for problems that will be shown."""
        self.count += 1
        if len(self.shown) < SHOWN:
            self.shown.append((place, f"{text}{hint() if hint else ''}"))

    def lines(self) -> list[str]:
        """One line a shown problem, with its place."""
        return [f"line {place}: {text}" if isinstance(place, int) else f"{place}: {text}" for place, text in self.shown]

    def refuse(self) -> None:
        """Raise one error for all problems; do nothing where there are none."""
        if not self.count:
            return
        place, text = self.shown[0]
        if self.count > 1:
            rest = [f"and {self.count - SHOWN} more"] if self.count > SHOWN else []
            raise self.error(self.path, "\n  ".join([f"{self.count} problems", *self.lines(), *rest]))
        if isinstance(place, int):
            raise self.error(self.path, text, line=place)
        raise self.error(self.path / place, text)
