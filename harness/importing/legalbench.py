"""LegalBench-RAG: a benchmark JSON beside a folder of texts, {"tests": [{"query", "snippets": [{"file_path", "span": [start, end], "answer"?}]}]}.

The snippets of one query are one answer, all needed together. Searched are all texts in the folders that the benchmark names, as the original does.
"""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from typing import Any

from harness.corpus.problems import excerpt
from harness.errors import DataError
from harness.importing.base import Imported, Note, Progress, silent
from harness.importing.offsets import Offered, OfferedQuestion, place_offered
from harness.importing.sources import get, read_json, text_files
from harness.types import Document


def read_legalbench(source: Path, *, corpus: Path | None = None, progress: Progress = silent) -> Imported:
    """The queries of one benchmark file with their texts, from `corpus` (default: the folder `corpus` beside the benchmark's own).

    Ids of documents are paths below `corpus`; of questions, the file's name and a number. A query whose text file is missing is dropped and noted.
    Raises DataError for paths that leave the folder, and for files of another form.
    """
    tests = get(read_json(source), "tests", list, source, "the file")
    folder = corpus or next((it for it in (source.parent / "corpus", source.parent.parent / "corpus") if it.is_dir()), None)
    if folder is None:
        raise DataError(source, "found no folder 'corpus' beside it; name the folder of texts with --corpus")
    parsed = [_query(test, source, f"tests[{number}]") for number, test in enumerate(tests)]
    names = {snippet[0].split("/")[0] for _, snippets in parsed for snippet in snippets if "/" in snippet[0]}
    progress("reading texts", 0, 0)
    documents = text_files(folder, names if all("/" in it[0] for _, snippets in parsed for it in snippets) else None)
    if not documents:
        raise DataError(folder, f"holds no text in {', '.join(sorted(names)) or 'it'}, which {source.name} names")
    return _joined(source, documents, parsed, progress)


_Snippet = tuple[str, int, int, str | None]


def _joined(source: Path, documents: list[Document], parsed: list[tuple[str, list[_Snippet]]], progress: Progress) -> Imported:
    texts = {document.id: document.text for document in documents}
    notes: list[Note] = []
    questions = []
    for number, (text, snippets) in enumerate(parsed):
        identifier = f"{source.stem}-{number:04}"
        missing = [name for name, *_ in snippets if name not in texts]
        if missing or not text or not snippets:
            why = f"there is no text file {excerpt(missing[0])}" if missing else "it has no query" if not text else "it has no snippet"
            notes.append(Note("dropped", "question", identifier, why))
            continue
        passages = tuple(Offered(name, start, end, texts[name][start:end] if quote is None else quote) for name, start, end, quote in snippets)
        questions.append(OfferedQuestion(identifier, text, passages))
    if not questions:
        raise DataError(source, f"none of its {len(parsed)} tests can be used: {notes[0].why if notes else 'there is none'}")
    return place_offered(source.stem, documents, questions, notes=notes, progress=progress)


def _query(test: Any, path: Path, where: str) -> tuple[str, list[_Snippet]]:
    text = get(test, "query", str, path, where).strip()
    snippets = get(test, "snippets", list, path, where)
    return text, [_snippet(snippet, path, f"{where}.snippets[{number}]") for number, snippet in enumerate(snippets)]


def _snippet(snippet: Any, path: Path, where: str) -> _Snippet:
    name = get(snippet, "file_path", str, path, where).replace("\\", "/")
    if PurePosixPath(name).is_absolute() or ".." in name.split("/") or ":" in name.split("/")[0]:
        raise DataError(path, f"{where}: the path {excerpt(name)} leaves the folder of texts; a path below it is expected")
    span = get(snippet, "span", list, path, where)
    if len(span) != 2 or not all(type(it) is int for it in span) or not 0 <= span[0] < span[1]:
        raise DataError(path, f"{where}: 'span' is {excerpt(str(span))}; [start, end] with 0 <= start < end is expected")
    quote = snippet.get("answer")
    return str(PurePosixPath(name)), span[0], span[1], quote if isinstance(quote, str) and quote.strip() else None
