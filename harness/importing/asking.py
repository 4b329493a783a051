"""From rows of a table to quoted questions: rows of one question are pieces of evidence of one answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Literal

from harness.corpus.problems import Problems, excerpt
from harness.corpus.shapes import id_faults
from harness.errors import ConfigError
from harness.importing.base import Note, Quoted, QuotedQuestion
from harness.importing.tables import Row, cell_text, column, read_rows

Lists = Literal["together", "alternatives"]


@dataclass(frozen=True, slots=True)
class Columns:
    """What the columns are called. Without a column `id` rows of the same question text belong together. Rows of one question with different values
    in `alternative` are different answers, any of which will do."""

    question: str = "question"
    quote: str = "quote"
    document: str = "document"
    id: str = "id"
    role: str = "role"
    kind: str = "kind"
    alternative: str = "alternative"


@dataclass(frozen=True, slots=True)
class Reading:
    """How cells are read. `separator` parts a cell into several quotes; `lists` says what several quotes of one cell are; `blank` what a question
    without a quote is: an unfinished row, which is dropped and noted, or a question without an answer."""

    columns: Columns = field(default_factory=Columns)
    separator: str | None = None
    lists: Lists = "together"
    blank: Literal["drop", "unanswerable"] = "drop"

    def __post_init__(self) -> None:
        if self.separator is not None and not self.separator.strip():
            raise ConfigError("--separator", repr(self.separator), "a mark that stands between quotes, for example ' || '")
        if self.lists not in ("together", "alternatives"):
            raise ConfigError("--lists", self.lists, "together or alternatives")
        if self.blank not in ("drop", "unanswerable"):
            raise ConfigError("--blank", self.blank, "drop or unanswerable")


def read_questions(path: Path, reading: Reading | None = None, *, sheet: str | None = None) -> tuple[list[QuotedQuestion], list[Note]]:
    """The questions of a table (see harness.importing.tables.read_rows), in order of their first rows, and what was dropped.

    Raises DataError for missing columns and, with all lines named, for bad ids.
    """
    return questions_of(read_rows(path, sheet=sheet), path, reading or Reading())


def questions_of(rows: Sequence[Row], path: Path, reading: Reading) -> tuple[list[QuotedQuestion], list[Note]]:
    """The questions in `rows`; `path` is for messages."""
    names = list(dict.fromkeys(name for row in rows for name in row.values))
    usual = Columns()
    found: dict[str, str | None] = {}
    for it in fields(Columns):
        asked = getattr(reading.columns, it.name)
        needed = it.name in ("question", "quote") or asked != getattr(usual, it.name)
        found[it.name] = column(asked, names, path, f"--column-{it.name}", needed=needed)
    desk = _Desk(path, reading, found, Problems(path))
    for row in rows:
        desk.take(row)
    desk.problems.refuse()
    return desk.questions(), desk.notes


@dataclass(slots=True)
class _Group:
    line: int
    id: str
    text: str
    kind: str | None
    answers: dict[str, list[Quoted]] = field(default_factory=dict)
    blank: bool = False


@dataclass(slots=True)
class _Desk:
    path: Path
    reading: Reading
    columns: Mapping[str, str | None]
    problems: Problems
    notes: list[Note] = field(default_factory=list)
    groups: dict[str, _Group] = field(default_factory=dict)

    def take(self, row: Row) -> None:
        """Add a row to its question."""
        text, given = cell_text(self._cell(row, "question")), cell_text(self._cell(row, "id"))
        if not text and given not in self.groups:
            self.notes.append(Note("dropped", "row", f"{row.line}", "it has no question"))
            return
        for fault in id_faults(given) if given else []:
            self.problems.add(row.line, fault)
        group = self.groups.setdefault(given or f"\0{text}", _Group(row.line, given or f"q{len(self.groups) + 1:04}", text, self._kind(row)))
        if text and text != group.text:
            self.problems.add(row.line, f"the id {excerpt(given)} stands in line {group.line} with another question; ids of questions must differ")
        quotes = self._quotes(row)
        if not quotes:
            group.blank = True
            self.notes.append(Note("noted" if self.reading.blank == "unanswerable" else "dropped", "row", f"{row.line}", "it has no quote"))
        answer = cell_text(self._cell(row, "alternative"))
        for number, quoted in enumerate(quotes):
            name = f"{answer}\0{number}" if self.reading.lists == "alternatives" else answer
            if quoted not in group.answers.setdefault(name, []):
                group.answers[name].append(quoted)

    def questions(self) -> list[QuotedQuestion]:
        """The questions that have quotes, and those without where they count as unanswerable."""
        taken = {group.id for key, group in self.groups.items() if not key.startswith("\0")}
        found = []
        for key, group in self.groups.items():
            name = group.id if not key.startswith("\0") or group.id not in taken else f"{group.id}-row-{group.line}"
            if group.answers or self.reading.blank == "unanswerable":
                answers = tuple(tuple(answer) for answer in group.answers.values())
                found.append(QuotedQuestion(group.line, name, group.text, tuple(dict.fromkeys(answers)), kind=group.kind))
            else:
                self.notes.append(
                    Note("dropped", "question", name, "none of its rows has a quote (--blank unanswerable keeps it as one without an answer)")
                )
        return found

    def _cell(self, row: Row, name: str) -> Any:
        heading = self.columns[name]
        return None if heading is None else row.values.get(heading)

    def _kind(self, row: Row) -> str | None:
        return cell_text(self._cell(row, "kind")) or None

    def _quotes(self, row: Row) -> list[Quoted]:
        quotes, docs = self._texts(row, "quote"), self._texts(row, "document")
        role = cell_text(self._cell(row, "role")) or None
        one = docs[0] if len(docs) == 1 else None
        if len(docs) > 1 and len(docs) != len(quotes):
            self.problems.add(row.line, f"{len(quotes)} quotes, but {len(docs)} documents; name one for all, or one for each")
            return []
        return [Quoted(quote, docs[number] if len(docs) > 1 else one, role) for number, quote in enumerate(quotes)]

    def _texts(self, row: Row, name: str) -> list[str]:
        """The texts in one cell: the members of a list, or what the separator parts."""
        cell = self._cell(row, name)
        members = [cell_text(it) for it in cell] if isinstance(cell, list | tuple) else [cell_text(cell)]
        if self.reading.separator is not None:
            members = [part.strip() for member in members for part in member.split(self.reading.separator)]
        return [member for member in members if member]
