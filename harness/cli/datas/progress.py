"""A bar on standard error while something is imported; nothing where that is no terminal."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bars

from harness.hydra_front.console import plain_console
from harness.importing.base import Progress, silent


@contextmanager
def shown_progress() -> Iterator[Progress]:
    """A `Progress` that draws one bar for what is being done now."""
    console = plain_console(stderr=True)
    if not console.is_terminal:
        yield silent
        return
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Bars(*columns, console=console, transient=True) as bars:
        task = bars.add_task("reading", total=None)

        def progress(what: str, done: int, total: int) -> None:
            bars.update(task, description=what, completed=done, total=total or None)

        yield progress
