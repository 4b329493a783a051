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


class HarnessError(Exception):
    """Root of the tree. A console command prints its message alone, without a traceback."""


class ConfigError(HarnessError):
    """A configuration value can't be used."""

    def __init__(self, key: str, found: object, expected: str) -> None:
        self.key, self.found, self.expected = key, found, expected
        super().__init__(f"{key}={found}: {expected}")


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
