"""Writes what was imported as a corpus in the native format: all of it or nothing.

The folder is drafted beside its place and renamed when it is whole and has been loaded back once, so that neither a crash nor a label that
disagrees with its document leaves a corpus that looks finished.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from harness.corpus.files import EXTENSIONS, READ
from harness.corpus.folder import load_folder
from harness.corpus.problems import Problems, excerpt
from harness.corpus.questions import QuestionLabel
from harness.corpus.shapes import id_faults
from harness.errors import ConfigError, DataError, LabelError
from harness.importing.base import Imported
from harness.importing.report import report_json, report_markdown
from harness.importing.rows import document_row, json_line, question_row
from harness.tracking.files import SUMS, sealed, whole_folder
from harness.types import Corpus, Document

REPORT = "import_report.json"
_OURS = {
    "corpus.jsonl",
    "documents",
    "metadata.jsonl",
    "questions.jsonl",
    "questions.jsonl.orig",
    "unplaced.jsonl",
    REPORT,
    "import_report.md",
    SUMS,
}


def check_target(folder: Path, *, overwrite: bool = False) -> None:
    """Refuse a folder that can't be written to, before any work.

    An empty or missing folder will do. With `overwrite` so does one that an import wrote and that holds nothing else; raises ConfigError otherwise.
    """
    if not folder.exists():
        return
    if not folder.is_dir():
        raise ConfigError("--to", folder, "is a file; name a folder, it is made")
    found = sorted(entry.name for entry in folder.iterdir())
    if not found:
        return
    if not overwrite:
        raise ConfigError(
            "--to", folder, f"holds {excerpt(found[0])}{' and more' if len(found) > 1 else ''}; name another folder, or add --overwrite"
        )
    foreign = [name for name in found if name not in _OURS]
    if foreign or REPORT not in found:
        missing = f"it holds {excerpt(foreign[0])}, which no import wrote" if foreign else f"it has no {REPORT}"
        raise ConfigError("--to", folder, f"--overwrite replaces only what an import wrote, and {missing}; name another folder")
    if not sealed(folder):
        raise ConfigError("--to", folder, "was changed after it was imported, and --overwrite would lose that; name another folder")


def write_corpus(imported: Imported, folder: Path, *, overwrite: bool = False, files: bool = False) -> Corpus:
    """Write `folder` and give the corpus as it loads from there.

    Documents go to corpus.jsonl, which holds any text exactly; with `files` to documents/, a file each, where ids are paths that end in one of
    .md, .markdown, .txt, .text, and metadata.jsonl. Beside them questions.jsonl, import_report.json, import_report.md and, where questions had no
    single place, unplaced.jsonl. Raises LabelError for evidence that is not `text[start:end]`, DataError for ids and texts that can't be written,
    ConfigError for a folder in use, StoreError where the disk refuses.
    """
    check_target(folder, overwrite=overwrite)
    verify(imported, folder)
    with whole_folder(folder.absolute()) as draft:
        corpus = _drafted(imported, draft, folder, files)
    return corpus


def verify(imported: Imported, path: Path) -> None:
    """Raise unless ids differ and every piece of evidence is exactly the text at its offsets."""
    texts = {document.id: document.text for document in imported.documents}
    problems = Problems(path)
    for document in imported.documents:
        for fault in id_faults(document.id):
            problems.add("document", fault)
    if len(texts) < len(imported.documents):
        problems.add("documents", "ids must differ")
    if not texts:
        problems.add("documents", "there is none, so nothing can be searched")
    problems.refuse()
    problems = Problems(path, LabelError)
    for label in imported.questions:
        for fault in _faults(label, texts):
            problems.add(f"question {label.id}", fault)
    problems.refuse()


def _faults(label: QuestionLabel, texts: dict[str, str]) -> Iterable[str]:
    for evidence in (evidence for answer in label.answers for evidence in answer):
        text = texts.get(evidence.doc)
        if text is None:
            yield f"there is no document {excerpt(evidence.doc)}"
        elif evidence.start is None or evidence.end is None or not 0 <= evidence.start < evidence.end <= len(text):
            yield f"start {evidence.start} and end {evidence.end} are no passage of {excerpt(evidence.doc)}, which has {len(text)} characters"
        elif text[evidence.start : evidence.end] != evidence.quote:
            found = excerpt(text[evidence.start : evidence.end])
            yield f"from {evidence.start} to {evidence.end} {excerpt(evidence.doc)} has {found}, but the quote is {excerpt(evidence.quote or '')}"


def _drafted(imported: Imported, draft: Path, folder: Path, files: bool) -> Corpus:
    write = _write_files if files else _write_lines
    write(imported.documents, draft, folder)
    _lines(draft / "questions.jsonl", (json_line(question_row(label), folder / "questions.jsonl") for label in imported.questions))
    if imported.unplaced:
        _lines(draft / "unplaced.jsonl", (json_line(row, folder / "unplaced.jsonl") for row in imported.unplaced))
    try:
        corpus = load_folder(draft, name=imported.name)
    except DataError as error:
        raise type(error)(folder, f"what was imported does not load: {error.problem}", line=error.line) from error
    (draft / REPORT).write_bytes(report_json(imported, corpus))
    (draft / "import_report.md").write_text(report_markdown(imported, corpus), encoding="utf-8", errors="replace", newline="\n")
    return corpus


def _lines(path: Path, lines: Iterable[bytes]) -> None:
    with path.open("wb") as file:
        file.writelines(lines)


def _write_lines(documents: Iterable[Document], draft: Path, folder: Path) -> None:
    _lines(draft / "corpus.jsonl", (json_line(document_row(document), folder / "corpus.jsonl") for document in documents))


def _write_files(documents: Iterable[Document], draft: Path, folder: Path) -> None:
    extra = []
    for document in documents:
        for unfit, why in _UNFIT:
            if unfit(document):
                raise DataError(folder / "documents", f"{excerpt(document.id)} {why}; leave --files out to store documents in corpus.jsonl")
        path = draft / "documents" / document.id
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists():  # a file system that takes A.md and a.md for one
            raise DataError(folder / "documents", f"{excerpt(document.id)} meets another file of that name; leave --files out")
        try:
            path.write_bytes(document.text.encode("utf-8"))
        except UnicodeEncodeError as error:
            raise DataError(folder / "documents", f"{excerpt(document.id)} holds half of a surrogate pair, which no file can hold") from error
        extra.append(json_line({"id": document.id, "title": document.title, "metadata": dict(document.metadata)}, folder / "metadata.jsonl"))
    _lines(draft / "metadata.jsonl", extra)


def _hidden(document: Document) -> bool:
    parts = document.id.split("/")
    return any(not part or part.startswith(".") for part in parts) or "\\" in document.id or ":" in document.id


_UNFIT: tuple[tuple[Callable[[Document], bool], str], ...] = (
    (lambda document: not document.id.lower().endswith(EXTENSIONS), f"is no name of a text file ({READ})"),
    (_hidden, "is no plain path below a folder"),
    (lambda document: document.text.startswith("\ufeff"), "begins with a byte order mark, which reading a file drops"),
    (lambda document: "\0" in document.text, "holds a NUL, so its file would be taken for binary"),
)
