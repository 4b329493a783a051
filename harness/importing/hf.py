"""Datasets in the form of the Hugging Face hub: rows with a question, a quote and the text or the name of a document.

A local folder of parquet, JSON Lines or CSV files is read with pyarrow alone. A name is loaded with the library `datasets`, from version 4 on, which
runs no code that comes with a dataset; nothing is ever unpickled.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from importlib import metadata
from pathlib import Path
from typing import Any

from harness.corpus.problems import excerpt
from harness.errors import ConfigError, DataError
from harness.importing.asking import Reading, questions_of
from harness.importing.base import Imported, Note, Progress, silent
from harness.importing.placing import place
from harness.importing.quotes import THRESHOLD, check_threshold
from harness.importing.table_import import documents_at
from harness.importing.tables import TABLES, Row, cell_text, column, read_rows
from harness.types import Document

_NEEDED = 4


def read_hf(
    source: str,
    reading: Reading | None = None,
    *,
    context: str | None = "context",
    title: str | None = None,
    split: str = "train",
    config: str | None = None,
    documents: Path | None = None,
    threshold: float = THRESHOLD,
    progress: Progress = silent,
) -> Imported:
    """The rows of a dataset as questions; columns may be nested, parted by dots (`answers.text`).

    The documents are the distinct texts in the column `context`, called doc-0000 and on (equal texts are one), titled by the column `title`; or those
    in `documents`, when the rows name them. Raises DataError for rows or columns that are not there, ConfigError where a name needs the library.
    """
    check_threshold(threshold)
    asked = reading or Reading()
    rows = _rows(source, split, config)
    progress("reading rows", len(rows), len(rows))
    path = Path(source)
    if documents is not None:
        found, warnings = documents_at(documents)
        notes = [Note("noted", "document", documents.name, warning) for warning in warnings]
        flat = _flat(rows, _names(asked))
    else:
        flat, found, notes = _with_contexts(rows, path, asked, context or "context", title)
        asked = replace(asked, columns=replace(asked.columns, document="\0document"))
    questions, more = questions_of(flat, path, asked)
    return place(path.name, found, questions, threshold=threshold, notes=[*notes, *more], progress=progress)


def _names(reading: Reading) -> list[str]:
    columns = reading.columns
    return [columns.question, columns.quote, columns.document, columns.id, columns.role, columns.kind, columns.alternative]


def _with_contexts(rows: list[Row], path: Path, reading: Reading, context: str, title: str | None) -> tuple[list[Row], list[Document], list[Note]]:
    flat = _flat(rows, [*_names(reading), context, *([title] if title else [])])
    names = list(dict.fromkeys(name for row in flat for name in row.values))
    text_in = column(context, names, path, "--column-context", needed=True)
    title_in = column(title, names, path, "--column-title", needed=True) if title else None
    documents: dict[str, Document] = {}
    kept, notes = [], []
    for row in flat:
        text = row.values.get(text_in or "")
        if not isinstance(text, str) or not text.strip():
            notes.append(Note("dropped", "row", str(row.line), f"its {context!r} is {excerpt(str(text))}, not a text"))
            continue
        name = f"doc-{len(documents):04}"
        document = documents.setdefault(text, Document(name, text, cell_text(row.values.get(title_in or "")), {}))
        kept.append(Row(row.line, {**row.values, "\0document": document.id}))
    if not kept:
        raise DataError(path, f"no row has a text in {context!r}; name the column with --column-context, or the documents with --documents")
    return kept, list(documents.values()), notes


def _flat(rows: Iterable[Row], names: Iterable[str]) -> list[Row]:
    """Rows with nested cells that are asked for by a dotted name beside the others."""
    dotted = [name for name in names if "." in name]
    return [Row(row.line, {**row.values, **{name: cell for name in dotted if (cell := _inside(row.values, name)) is not None}}) for row in rows]


def _inside(values: Any, name: str) -> Any:
    for part in name.split("."):
        if isinstance(values, list):
            values = [it.get(part) for it in values if isinstance(it, Mapping)]
        elif isinstance(values, Mapping):
            values = values.get(part)
        else:
            return None
    return values


def _rows(source: str, split: str, config: str | None) -> list[Row]:
    there = Path(source).expanduser()
    if there.exists():
        return _local(there, split)
    try:
        version = metadata.version("datasets")
    except metadata.PackageNotFoundError as error:
        needed = "there is no such folder or file; to load a dataset by its name, pip install 'chunk-sweep[hf]' (the library datasets)"
        raise ConfigError("SOURCE", source, needed) from error
    if int(version.split(".")[0]) < _NEEDED:
        raise ConfigError("datasets", version, f"is too old: it may run code that comes with a dataset; version {_NEEDED} or later is needed")
    return _loaded(source, split, config)


def _loaded(source: str, split: str, config: str | None) -> list[Row]:
    # Not an import statement: where the library is missing, tools would take a folder datasets/ for it, such as this repository has.
    library = importlib.import_module("datasets")
    try:
        table = library.load_dataset(source, config, split=split)
    except Exception as error:  # the library raises its own, those of its client, and pyarrow's
        raise DataError(source, f"can't be loaded ({type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''})") from error
    return [Row(number, row) for number, row in enumerate(table, start=1)]


def _local(path: Path, split: str) -> list[Row]:
    """The rows of one file, or of the files of a folder that belong to the split (all of them, where none is named after a split)."""
    readable = (".parquet", *TABLES)
    files = [path] if path.is_file() else sorted(it for it in path.rglob("*") if it.is_file() and it.suffix.lower() in readable)
    home = path.resolve()
    files = [it for it in files if path.is_file() or it.resolve().is_relative_to(home)]
    named = [it for it in files if split in it.stem.split("-")[0].split("_") or split in it.relative_to(path).parts[:-1]]
    if not files:
        raise DataError(path, f"holds no file that can be read; {', '.join(readable)} would do")
    if path.is_dir() and not named and len({it.stem.split("-")[0] for it in files}) > 1:
        raise DataError(path, f"holds {', '.join(it.name for it in files[:6])}, none of the split {split!r}; name one with --split, or one file")
    rows: list[Row] = []
    for file in named or files:
        rows += _parquet(file) if file.suffix.lower() == ".parquet" else read_rows(file)
    return [Row(number, row.values) for number, row in enumerate(rows, start=1)]


def _parquet(path: Path) -> list[Row]:
    import pyarrow
    from pyarrow import parquet

    try:
        table = parquet.read_table(path)
    except (pyarrow.ArrowException, OSError) as error:
        raise DataError(path, f"is no parquet file that can be read ({str(error).splitlines()[0]})") from error
    return [Row(number, row) for number, row in enumerate(table.to_pylist(), start=1)]
