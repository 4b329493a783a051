"""A folder of mixed files as documents: one broken file is named and left out, the others are read."""

from __future__ import annotations

import os
import queue
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path, PurePosixPath
from typing import Any

from harness.errors import DataError
from harness.importing.asking import Reading, read_questions
from harness.importing.base import Imported, Note, Progress, silent
from harness.importing.extract.base import Extracted, UnreadableError
from harness.importing.extract.formats import check_installed
from harness.importing.extract.language import language_of
from harness.importing.extract.pool import Limits, Reader
from harness.importing.placing import place
from harness.importing.quotes import THRESHOLD, check_threshold
from harness.importing.walk import Choice, Found, walk
from harness.types import Document

_MOST_READERS = 4
_SHOWN = 3


def read_folder(
    folder: str | os.PathLike[str],
    choice: Choice | None = None,
    limits: Limits | None = None,
    *,
    aside: Path | None = None,
    readers: int | None = None,
    progress: Progress = silent,
) -> tuple[tuple[Document, ...], tuple[Note, ...]]:
    """The documents below `folder` (a leading `~` is the home folder) by id, and a note on all that was left out, assumed or lost.

    A document's id is its path below the folder; its text is fixed here, as Markdown, for good. Metadata: `path`, `format`, what the file says of
    itself (front matter, date, pages) and `language`, guessed where the file does not say. `aside` is a file that is no document (the questions).
    `readers` processes read at the same time (default: one a core, four at most). Raises DataError where there is no folder or nothing in it can be
    read, ConfigError where a package is missing.
    """
    root = Path(os.path.expanduser(folder))
    limits = limits or Limits()
    found, notes = walk(root, choice or Choice(), aside)
    check_installed({it.form.name: it.form for it in found}.values())
    documents: list[Document] = []
    outcomes = _read(found, limits, min(readers or os.cpu_count() or 1, _MOST_READERS, len(found)), progress)
    for it, outcome in zip(found, outcomes, strict=True):
        if isinstance(outcome, UnreadableError):
            notes.append(Note("dropped", "document", it.id, str(outcome)))
        else:
            notes += [Note("noted", "document", it.id, line) for line in outcome.notes]
            documents.append(_document(it, outcome))
    if not documents:
        reasons = "; ".join(f"{note.id}: {note.why}" for note in [note for note in notes if note.fate == "dropped"][:_SHOWN])
        raise DataError(root, f"none of its {len(found)} files could be read ({reasons})")
    return tuple(documents), tuple(notes)


def import_folder(
    folder: str | os.PathLike[str],
    questions: Path | None = None,
    choice: Choice | None = None,
    limits: Limits | None = None,
    reading: Reading | None = None,
    *,
    sheet: str | None = None,
    threshold: float = THRESHOLD,
    progress: Progress = silent,
) -> Imported:
    """The documents of a folder with the questions of a table (.csv, .tsv, .xlsx, .jsonl), their quotes found in the extracted texts.

    Without `questions` the corpus has none, for `data draft` and for questions that are written later. Raises as `read_folder` and
    harness.importing.table_import.read_table do.
    """
    check_threshold(threshold)
    asked, notes = read_questions(questions, reading, sheet=sheet) if questions else ((), ())
    documents, more = read_folder(folder, choice, limits, aside=questions, progress=progress)
    return place(Path(folder).name, documents, asked, threshold=threshold, notes=[*more, *notes], progress=progress)


def _read(found: list[Found], limits: Limits, readers: int, progress: Progress) -> list[Extracted | UnreadableError]:
    idle: queue.SimpleQueue[Reader] = queue.SimpleQueue()

    def read(it: Found) -> Extracted | UnreadableError:
        reader = idle.get()
        try:
            return _one(it, limits, reader)
        finally:
            idle.put(reader)

    with ExitStack() as stack:
        opened = [stack.enter_context(Reader(limits)) for _ in range(readers)]
        for reader in opened:
            idle.put(reader)
        threads = ThreadPoolExecutor(readers)
        try:
            return list(_counted(threads.map(read, found), len(found), progress))
        finally:
            # On Ctrl-C: files that wait are not begun, and ending the readers frees the threads.
            threads.shutdown(wait=False, cancel_futures=True)


def _counted(outcomes: Iterator[Extracted | UnreadableError], total: int, progress: Progress) -> Iterator[Extracted | UnreadableError]:
    progress("reading documents", 0, total)
    for done, outcome in enumerate(outcomes, start=1):
        progress("reading documents", done, total)
        yield outcome


def _one(it: Found, limits: Limits, reader: Reader) -> Extracted | UnreadableError:
    """Errors are given, not raised: one file must not stop the others."""
    try:
        size = it.path.stat().st_size
        if size > limits.bytes:
            return UnreadableError(f"has {size / 1e6:,.1f} MB, over the limit of {limits.max_megabytes:g}; raise it with --max-megabytes")
        return reader.read(it.path.resolve(), it.form.module, it.path.name)
    except UnreadableError as error:
        return error
    except OSError as error:
        return UnreadableError(f"can't be read ({error.strerror or error})")


def _document(it: Found, read: Extracted) -> Document:
    metadata: dict[str, Any] = {**read.metadata, "path": it.id, "format": it.form.name}
    if it.form.name != "code" and not metadata.get("language") and (language := language_of(read.text)):
        metadata["language"] = language
    return Document(it.id, read.text, read.title.strip() or PurePosixPath(it.id).stem, metadata)
