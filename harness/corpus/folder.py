"""The native format: a folder with documents and labelled questions."""

from __future__ import annotations

import os
from pathlib import Path

from harness.corpus.assembly import OnLabelProblem, assemble
from harness.corpus.documents import read_documents
from harness.corpus.files import check_inside
from harness.corpus.questions import read_questions
from harness.corpus.subset import limit
from harness.errors import DataError
from harness.types import Corpus


def load_folder(path: str | os.PathLike[str], *, name: str | None = None, on_label_problem: OnLabelProblem = "error") -> Corpus:
    """The labelled corpus in the folder `path` (a leading `~` is the home folder), called `name` or like the folder.

    The folder holds `questions.jsonl` and either `documents/` (text or Markdown files at any depth; the id is the path below it; titles and
    metadata in an optional `metadata.jsonl`) or `corpus.jsonl`. The text of a document is its file decoded as UTF-8 without a byte order mark, and
    nothing else: CRLF is kept, so offsets count both characters. Every label must agree with that text.

    Raises DataError for files that can't be used and LabelError for labels that don't agree (see harness.corpus.assembly.assemble).
    """
    root = Path(os.path.expanduser(path))
    if not root.is_dir():
        found = "is a file" if root.exists() else "there is no such folder"
        raise DataError(root, f"{found}; name a folder with documents/ or corpus.jsonl, and questions.jsonl")
    documents, warnings = read_documents(root)
    questions = root / "questions.jsonl"
    check_inside(root, questions.name)
    if not questions.is_file():
        raise DataError(questions, "there is no such file; it holds one labelled question a line")
    return assemble(name or root.resolve().name, documents, read_questions(questions), questions, warnings, on_label_problem)


def dataset(
    path: str | os.PathLike[str],
    *,
    name: str | None = None,
    documents: int | None = None,
    questions: int | None = None,
    seed: int | None = None,
    on_label_problem: OnLabelProblem = "error",
) -> Corpus:
    """`load_folder`, then `limit` to so many documents and questions; what conf/dataset/folder.yaml calls."""
    return limit(load_folder(path, name=name, on_label_problem=on_label_problem), documents=documents, questions=questions, seed=seed)
