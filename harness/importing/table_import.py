"""A table of questions and quotes beside the documents that it quotes."""

from __future__ import annotations

from pathlib import Path

from harness.corpus.documents import read_documents, read_lines
from harness.errors import DataError
from harness.importing.asking import Reading, read_questions
from harness.importing.base import Imported, Note, Progress, silent
from harness.importing.placing import place
from harness.importing.quotes import THRESHOLD, check_threshold
from harness.importing.sources import text_files
from harness.types import Document


def read_table(
    source: Path,
    documents: Path,
    reading: Reading | None = None,
    *,
    sheet: str | None = None,
    threshold: float = THRESHOLD,
    progress: Progress = silent,
) -> Imported:
    """The questions of the table `source`, their quotes found in `documents`: a folder of text files, a corpus.jsonl,
    or a corpus in the native format.

    Raises DataError for a table or documents that can't be read, ConfigError for a threshold outside 50 to 100.
    """
    check_threshold(threshold)
    questions, notes = read_questions(source, reading, sheet=sheet)
    progress("reading documents", 0, 0)
    found, warnings = documents_at(documents)
    told = [*notes, *(Note("noted", "document", documents.name, warning) for warning in warnings)]
    return place(source.stem, found, questions, threshold=threshold, notes=told, progress=progress)


def documents_at(path: Path) -> tuple[list[Document], list[str]]:
    """The documents of a folder or file, and warnings."""
    if path.is_file():
        return read_lines(path)
    if not path.is_dir():
        raise DataError(path, "there is no such folder; name the documents that are quoted with --documents")
    if (path / "corpus.jsonl").is_file() or (path / "documents").is_dir():
        documents, warnings = read_documents(path)
        return list(documents), warnings
    return text_files(path), []
