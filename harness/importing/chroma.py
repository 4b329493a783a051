"""Chroma's chunking_evaluation: a folder with corpora/*.md and questions_df.csv (columns question, references, corpus_id).

`references` is a JSON list of {"content", "start_index", "end_index"}, all needed together. Questions have no ids of their own: `chroma-0000` is the
first row. They are asked over all corpora, as the original does.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from harness.corpus.places import occurrences
from harness.corpus.problems import excerpt
from harness.errors import DataError
from harness.importing.base import Imported, Note, Progress, silent
from harness.importing.offsets import Offered, OfferedQuestion, place_offered
from harness.importing.sources import get, read_text, text_files
from harness.types import Document

_COLUMNS = ("question", "references", "corpus_id")


def read_chroma(source: Path, *, progress: Progress = silent) -> Imported:
    """The corpora and questions of a folder as Chroma publishes it. Ids of documents are the corpora's names.

    Passages that stand at several places of their corpus are noted: the place given is the labelled one. Raises DataError for other forms.
    """
    documents = [replace(it, id=it.id.removesuffix(".md"), title=it.id.removesuffix(".md")) for it in text_files(source / "corpora")]
    path = source / "questions_df.csv"
    rows = _rows(path)
    known = {document.id for document in documents}
    questions = []
    for number, row in enumerate(rows):
        if row["corpus_id"] not in known:
            raise DataError(path, f"row {number + 1}: there is no corpus {excerpt(row['corpus_id'])}; there are {', '.join(sorted(known))}")
        passages = tuple(_passages(row["references"], row["corpus_id"], path, f"row {number + 1}"))
        questions.append(OfferedQuestion(f"chroma-{number:04}", row["question"].strip(), passages))
        progress("reading questions", number + 1, len(rows))
    return place_offered(source.name, documents, questions, notes=_repeated(documents, questions), progress=progress)


def _rows(path: Path) -> list[dict[str, str]]:
    reader = csv.DictReader(io.StringIO(read_text(path), newline=""))
    missing = [name for name in _COLUMNS if name not in (reader.fieldnames or ())]
    if missing:
        raise DataError(path, f"the column {missing[0]!r} is missing; there are {', '.join(reader.fieldnames or ())}")
    rows = []
    for number, row in enumerate(reader):
        empty = [name for name in _COLUMNS if not (row[name] or "").strip()]
        if empty:
            raise DataError(path, f"row {number + 1}: {empty[0]!r} is empty")
        rows.append(row)
    return rows


def _passages(found: str, doc: str, path: Path, where: str) -> list[Offered]:
    try:
        references: Any = json.loads(found)
    except ValueError as error:
        raise DataError(path, f"{where}: 'references' is not JSON: {excerpt(found)}") from error
    if not isinstance(references, list):
        raise DataError(path, f"{where}: 'references' is {excerpt(found)}; it must be a list […]")
    kinds = (("start_index", int), ("end_index", int), ("content", str))
    return [Offered(doc, *(get(it, name, kind, path, f"{where}.references") for name, kind in kinds)) for it in references]


def _repeated(documents: Sequence[Document], questions: Sequence[OfferedQuestion]) -> list[Note]:
    texts = {document.id: document.text for document in documents}
    notes = []
    for question in questions:
        for offered in question.passages:
            count = len(occurrences(texts[offered.doc], offered.quote))
            if count > 1:
                notes.append(
                    Note(
                        "noted",
                        "evidence",
                        question.id,
                        f"{excerpt(offered.quote)} stands at several places of {offered.doc}; {offered.start} is the labelled one",
                    )
                )
    return notes
