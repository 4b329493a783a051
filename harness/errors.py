"""Every error that this project raises on purpose.

HarnessError
├── ConfigError          a value that a person typed can't be used
│   └── ImpossibleCell   a combination that can't exist (overlap >= size): an error for one run, skipped and counted in a grid
├── CommandLineError     a word of a command line can't be understood
├── DataError            a document or label file can't be used
│   └── LabelError       a question points at text that is not there
├── FilterError          a question's filter has a shape or a comparison that means nothing
├── PartError            a chunker, embedder or retriever broke its contract or could not do its work
│   └── ModelError       weights are missing, damaged, or not the ones that were promised
└── StoreError           a cache, result or tracking store can't be read or written

A message names the file, the line or key, what was found and what would do. The cause, where there is one, is chained.
"""

from __future__ import annotations

import traceback
from pathlib import PurePath


class HarnessError(Exception):
    """Root of the tree. A console command prints its message alone, without a traceback."""


class ConfigError(HarnessError):
    """A configuration value can't be used."""

    def __init__(self, key: str, found: object, expected: str) -> None:
        self.key, self.found, self.expected = key, found, expected
        super().__init__(f"{key}={_typed(found)}: {expected}")


def _typed(value: object) -> object:
    """A value as it is typed."""
    return {"None": "null", "True": "true", "False": "false", "": "''"}.get(str(value), value)


class ImpossibleCell(ConfigError):
    """Single values are fine, their combination is not (for example overlap=64 with size=64)."""


class CommandLineError(HarnessError):
    """A word of a command line can't be understood."""


class DataError(HarnessError):
    """A file of documents or questions can't be used. `line` counts from 1."""

    def __init__(self, path: object, problem: str, *, line: int | None = None) -> None:
        self.path, self.line, self.problem = str(path), line, problem
        place = self.path if line is None else f"{self.path}, line {line}"
        super().__init__(f"{place}: {problem}")


class LabelError(DataError):
    """A label does not agree with the documents."""


class FilterError(HarnessError):
    """A filter has a shape or a comparison that means nothing. Loading turns it into a DataError that names file and line."""


class PartError(HarnessError):
    """A part of the pipeline could not do its work."""


class ModelError(PartError):
    """Model weights are missing or are not the ones that were promised."""


class StoreError(HarnessError):
    """A store on disk or on a server can't be read or written."""


def unforeseen(error: BaseException) -> str:
    """One line for an exception that nobody foresaw: what it says, where it was raised, and what shows the rest."""
    last = traceback.extract_tb(error.__traceback__)[-1:]
    place = "".join(f" at {PurePath(frame.filename).name}:{frame.lineno}" for frame in last)
    return f"{reason(error)}{place} (a fault of chunk-sweep, or of a part of your own; with {SHOW_ALL}=1 before the command the whole trace is shown)"


SHOW_ALL = "HYDRA_FULL_ERROR"
"""An environment variable: where it is set, an exception that nobody foresaw comes out as it is."""


def reason(error: BaseException) -> str:
    """What an exception says, on one line: the first line of our own; of anybody else's the name of its type, and all lines as far as they help."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    if isinstance(error, HarnessError):
        return lines[0] if lines else type(error).__name__
    told = " ".join(line for line in lines if not line.startswith("For further information"))
    shown = told if len(told) <= _LONGEST else f"{told[:_LONGEST]}…"
    return f"{type(error).__name__}: {shown}" if shown else type(error).__name__


_LONGEST = 400
