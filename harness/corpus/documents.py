"""Documents of a labelled corpus: a folder `documents/` (with an optional `metadata.jsonl` beside it), or `corpus.jsonl`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from harness.corpus.files import check_inside, read_files
from harness.corpus.jsonl import Record, each_record
from harness.corpus.problems import Problems, excerpt
from harness.corpus.shapes import Shape, id_faults, value
from harness.corpus.stored import Place, StoredDocument, is_large, state_of
from harness.errors import DataError
from harness.types import Document

_LINE = Shape("the document", {"id": str, "text": str}, {"title": str, "metadata": dict})
_EXTRA = Shape("the entry", {"id": str}, {"title": str, "metadata": dict})


def read_documents(root: Path) -> tuple[tuple[Document, ...], list[str]]:
    """The documents of the corpus in `root`, in the order that ties are broken by, and warnings of one line each.

    `documents/` is read in order of id, `corpus.jsonl` in order of lines. Empty and blank documents are kept (they give no chunk) and counted.
    Raises DataError where neither or both are there, and for everything that a file does wrong.
    """
    folder, lines, extra = root / "documents", root / "corpus.jsonl", root / "metadata.jsonl"
    check_inside(root, "documents", "corpus.jsonl", "metadata.jsonl")
    if folder.is_dir() == lines.is_file():
        found = "found both documents/ and corpus.jsonl" if folder.is_dir() else "found neither documents/ nor corpus.jsonl"
        raise DataError(root, f"{found}; a corpus has one of them: a folder of text or Markdown files, or one document a line")
    if folder.is_dir():
        documents, warnings = read_files(folder)
        if extra.is_file():
            documents, more = _with_metadata(documents, extra)
            warnings += more
    else:
        if extra.is_file():
            raise DataError(extra, "goes with a folder documents/; with corpus.jsonl the metadata stands in each document's own line")
        documents, warnings = read_lines(lines)
    return tuple(documents), warnings + _blank_warning(documents)


def read_lines(path: Path) -> tuple[list[Document], list[str]]:
    """Documents of a file with one a line, `{"id", "text", "title"?, "metadata"?}`. Raises DataError naming every bad line (ten at most)."""
    state = state_of(path)
    stored = is_large(state[0])
    documents: list[Document] = []
    marked = 0
    for record in _checked(path, _LINE):
        it = record.values
        document = Document(it["id"], it["text"], value(it, "title", ""), value(it, "metadata", {}))
        marked += document.text.startswith("\ufeff")
        documents.append(StoredDocument.of(document, Place(path, state, record.start, record.size, line=True)) if stored else document)
    if not documents:
        raise DataError(path, 'found no document; each line holds one, {"id": …, "text": …}')
    note = f"{path.name}: {marked} texts begin with a byte order mark (U+FEFF); it is kept and counts as a character"
    return documents, [note] if marked else []


def _checked(path: Path, shape: Shape) -> Iterator[Record]:
    """The good records one by one. Raises DataError at the end where there were bad ones: for lines that are no JSON, else for what they hold."""
    unreadable, problems = Problems(path), Problems(path)
    first: dict[str, int] = {}
    for record in each_record(path, unreadable):
        faults = shape.faults(record.values)
        if not faults:
            faults = id_faults(record.values["id"])
            line = first.setdefault(record.values["id"], record.line)
            if line != record.line:
                faults.append(f"the id {excerpt(record.values['id'])} stands already in line {line}; ids must differ")
        for fault in faults:
            problems.add(record.line, fault)
        if not faults:
            yield record
    unreadable.refuse()
    problems.refuse()


def _with_metadata(documents: list[Document], path: Path) -> tuple[list[Document], list[str]]:
    entries = {record.values["id"]: record for record in _checked(path, _EXTRA)}
    known = {document.id for document in documents}
    problems = Problems(path)
    for name, record in entries.items():
        if name not in known:
            problems.add(record.line, f"there is no document {excerpt(name)}; ids are paths below documents/, for example {excerpt(documents[0].id)}")
    problems.refuse()
    lacking = len(known) - len(entries)
    warnings = [f"{path.name}: {lacking} of {len(known)} documents have no line here, so no filter on a field lets them pass"] if lacking else []
    return [_joined(document, entries.get(document.id)) for document in documents], warnings


def _joined(document: Document, entry: Record | None) -> Document:
    if entry is None:
        return document
    return document.described(value(entry.values, "title", ""), value(entry.values, "metadata", {}))


def _blank_warning(documents: list[Document]) -> list[str]:
    blank = [document.id for document in documents if document.blank]
    return [f"{len(blank)} of {len(documents)} documents are empty or blank and give no chunk (first: {excerpt(blank[0])})"] if blank else []
