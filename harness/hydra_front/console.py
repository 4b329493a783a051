"""The console: bars while a sweep runs, the verdict when it ends. Results go to standard output, everything else to standard error."""

from __future__ import annotations

import json
import logging
import sys
import time
from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

from harness.course import Failure
from harness.report.tables import COLUMNS, headings, leaderboard, number
from harness.report.verdict import Section, duration
from harness.sweep import Summary
from harness.types import Cell, CellResult
from harness.visible import visible

log = logging.getLogger(__name__)
_UNBOUNDED = 10_000
"""Columns where nobody watches: no cell of the table is cut in a file or a pipe."""


def plain_console(*, stderr: bool = False, width: int | None = None) -> Console:
    """A console that shows what others wrote as it stands: no colours of its own, no :name: turned into an emoji."""
    return Console(stderr=stderr, width=width, highlight=False, emoji=False)


class SweepConsole:
    """A listener that draws one bar for the sweep and one for the embedding inside a cell; plain lines where standard error is no terminal."""

    def __init__(self, metric: str) -> None:
        self._metric = metric
        self._err = plain_console(stderr=True)
        self._bars: Progress | None = None
        self._sweep: TaskID | None = None
        self._cell: TaskID | None = None
        self._cells, self._done, self._began, self._ran = 0, 0, 0.0, 0
        self._work: dict[str, tuple[float, int]] = {}
        self._worked, self._now = 0.0, (0.0, 0)

    def expect(self, work: Iterable[tuple[Cell, float, int]]) -> None:
        """What is left is then told by the work that cells are expected to be, not by their number: for each the seconds, and the tokens of its
        chunks that are to go through the model."""
        self._work = {_name(cell): (seconds, tokens) for cell, seconds, tokens in work}

    def planning(self, cells: int) -> None:
        """The grid is being checked. Told on a terminal only, where someone waits: a mistake is then all that is said."""
        if self._err.is_terminal:
            self._say(f"Checking {cells} cells ..." if cells > 1 else "Checking the cell ...")

    def sweep_started(self, cells: int) -> None:
        """Draw the bars."""
        self._cells, self._done, self._ran, self._began = cells, 0, 0, time.perf_counter()
        if self._err.is_terminal:
            columns = (TextColumn("{task.description}", markup=False), BarColumn(), _counted(), TimeElapsedColumn(), TimeRemainingColumn())
            self._bars = Progress(*columns, console=self._err, transient=True)
            self._sweep = self._bars.add_task("cells", total=self._whole(), counted=f"0/{cells}")
            self._cell = self._bars.add_task("", total=None, visible=False, counted="")
            self._bars.start()

    def cell_started(self, cell: Cell) -> None:
        """Name the cell beside its bar."""
        self._now = self._work.get(_name(cell), (0.0, 0))
        if self._bars is not None and self._cell is not None:
            self._bars.reset(self._cell, description=visible(cell.label), total=None, visible=True, counted="")

    def stage(self, name: str) -> None:
        """Stages show only in the log: each is short but the embedding."""
        log.debug("stage %s", name)

    def tokens(self, done: int, total: int) -> None:
        """Move the bars: what is left of the cell's tokens has to go through the model, what came before may have been in the cache."""
        if self._bars is not None and self._cell is not None and self._sweep is not None:
            self._bars.update(self._cell, completed=done, total=total, counted=f"{done:,}/{total:,}")
            seconds, expected = self._now
            if expected:
                self._bars.update(self._sweep, completed=self._worked + seconds * min(max(1 - (total - done) / expected, 0.0), 1.0))

    def cell_finished(self, result: CellResult, reused: bool) -> None:
        """Count the cell, and say what it measured."""
        self._count(result.cell)
        self._ran += 0 if reused else 1
        value = number(result.metrics.get(self._metric), 3)
        line = f"{self._done}/{self._cells}  {result.cell.label}  {self._metric} {value}" + ("  (reused)" if reused else "")
        self._step(line + ("" if self._bars is not None else self._remaining()))

    def cell_failed(self, failure: Failure) -> None:
        """Say at once what went wrong."""
        self._count(failure.cell)
        self._step(f"{self._done}/{self._cells}  FAILED  {failure.cell.label}: {failure.problem}", style="bold red")

    def tell(self, line: str) -> None:
        """A line that is no warning."""
        self._say(line)
        log.info("%s", line)

    def warn(self, line: str) -> None:
        """A line that a person should see."""
        self._say(line, style="yellow")
        log.warning("%s", line)

    def close(self) -> None:
        """Take the bars away."""
        if self._bars is not None:
            self._bars.stop()
            self._bars = None

    def _step(self, line: str, style: str = "") -> None:
        self._say(line, style)
        log.info("%s", line)
        if self._bars is not None and self._sweep is not None:
            self._bars.update(self._sweep, completed=self._worked if self._work else self._done, counted=f"{self._done}/{self._cells}")

    def _count(self, cell: Cell) -> None:
        self._done += 1
        self._now = (0.0, 0)
        self._worked += self._work.get(_name(cell), (0.0, 0))[0]

    def _whole(self) -> float:
        """What the sweep's bar comes to: seconds that are expected, else cells."""
        return sum(seconds for seconds, _ in self._work.values()) or self._cells

    def _remaining(self) -> str:
        """By the work that is done and left, where it is known; else by cells."""
        done, left = (self._worked, self._whole() - self._worked) if self._work else (float(self._ran), float(self._cells - self._done))
        if self._cells == self._done or not self._ran:
            return ""
        spent = time.perf_counter() - self._began
        return f"  (about {duration(left * (spent / done if done else 1.0))} left)"

    def _say(self, line: str, style: str = "") -> None:
        self._err.print(visible(line), style=style or None, markup=False, soft_wrap=True)


def _counted() -> TextColumn:
    return TextColumn("{task.fields[counted]}", style="progress.download", markup=False)


def _name(cell: Cell) -> str:
    """Tells the cells of one command apart; labels leave the dataset out."""
    return json.dumps([cell.label, cell.config.get("dataset")], default=str, sort_keys=True)


def print_summary(summary: Summary, parts: Sequence[Section], title: str) -> None:
    """The leaderboard and the verdict."""
    out, title = plain_console(), visible(title)
    if not out.is_terminal:
        out = plain_console(width=_UNBOUNDED)
    if summary.standings:
        table = Table(
            title=visible(title),
            title_justify="left",
            box=None,
            padding=(0, 1),
            header_style="bold",
            caption=_caption(summary),
            caption_justify="left",
        )
        rows = leaderboard(summary)
        shown = fitting([headings(), *rows], out.width)
        for place in shown:
            table.add_column(headings()[place], justify="left" if place < 2 else "right", no_wrap=place != 1, overflow="fold")
        for row in rows:
            table.add_row(*(visible(row[place]) for place in shown))
        out.print(table, markup=False)
        if hidden := len(headings()) - len(shown):
            out.print(f"{hidden} columns have no room in this terminal; leaderboard.csv has all", markup=False)
    print_sections(parts)


def print_sections(parts: Sequence[Section]) -> None:
    """Sentences under titles."""
    out = plain_console()
    for part in parts:
        out.print(f"\n{part.title}", style="bold", markup=False)
        for line in part.lines:
            out.print(f"  {visible(line)}", markup=False, soft_wrap=True)


def fitting(rows: Sequence[Sequence[str]], width: int) -> list[int]:
    """The columns that a terminal of this width has room for: the mark and the cell always, then as many as fit, the heaviest first."""
    widths = [max(len(row[place]) for row in rows) + 2 for place in range(len(rows[0]))]
    kept = [0, 1]
    left = width - widths[0] - widths[1]
    for place in sorted(range(2, len(widths)), key=lambda place: -COLUMNS[place - 2].weight):
        if widths[place] <= left:
            kept.append(place)
            left -= widths[place]
    return sorted(kept)


def _caption(summary: Summary) -> str:
    limits = ", x breaks a limit" if any(item.broken for item in summary.standings) else ""
    return f"1 best by {summary.select.metric}, = can't be told from it, * the cheapest of these{limits}; [95% intervals]; columns: docs/metrics.md"


def print_lines(lines: Sequence[str]) -> None:
    """Plain lines to standard output."""
    sys.stdout.write("\n".join(map(visible, lines)) + "\n")
