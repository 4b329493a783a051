"""BEIR: corpus.jsonl ({"_id", "title", "text"}), queries.jsonl ({"_id", "text"}) and qrels/SPLIT.tsv (query-id, corpus-id, score).

BEIR judges whole documents, so the whole document is the evidence. A chunk then holds the evidence only where it holds the whole document: the share
of answers that exist says how many documents a size leaves whole, and no more. Every document judged relevant is an answer of its own.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path

from harness.corpus.jsonl import read_records
from harness.corpus.places import trimmed
from harness.corpus.problems import excerpt
from harness.corpus.questions import EvidenceLabel, QuestionLabel
from harness.corpus.shapes import id_faults
from harness.errors import DataError
from harness.importing.base import Imported, Note, Progress, silent
from harness.importing.sources import get, plain, read_text
from harness.types import Document

_WHOLE = (
    "evidence is a whole document, so a chunk holds it only where it holds the whole document: existence tells how many documents a size leaves"
    " whole, and the measures of what is retrieved count parts of documents"
)


def read_beir(source: Path, *, split: str | None = None, together: bool = False, progress: Progress = silent) -> Imported:
    """The documents, and the queries that `split` judges (default: test, or the only one there is).

    Judgements with a score of 0 or less are no answers. With `together` all relevant documents of a query are one answer. Dropped and noted: empty
    documents, judgements that name an unknown query or document, queries that are left without one. Raises DataError for other forms.
    """
    qrels = _qrels(source, split)
    notes = [Note("noted", "corpus", source.name, _WHOLE)]
    documents = _documents(source / "corpus.jsonl", notes, progress)
    queries = {identifier: text for identifier, text in _texts(source / "queries.jsonl")}
    judged = _judgements(qrels)
    relevant: dict[str, list[str]] = {}
    for query, doc, score in judged:
        if score <= 0:
            continue
        if query not in queries or doc not in documents:
            unknown = f"query {excerpt(query)}" if query not in queries else f"document {excerpt(doc)}"
            notes.append(Note("dropped", "judgement", f"{query} {doc}", f"{unknown} is unknown or empty"))
        elif doc not in relevant.setdefault(query, []):
            relevant[query].append(doc)
    if not relevant:
        theirs, ours = excerpt(judged[0][1] if judged else "nothing"), excerpt(next(iter(documents)))
        raise DataError(
            qrels,
            f"none of its {len(judged)} judgements names a known query and document with a score above 0 (it names {theirs}; the corpus has {ours})",
        )
    notes += [
        Note("dropped", "question", query, "no judgement of it can be used")
        for query in dict.fromkeys(it[0] for it in judged)
        if query not in relevant
    ]
    judged_ones = {it[0] for it in judged}
    notes += [Note("dropped", "question", query, f"{qrels.name} does not judge it") for query in queries if query not in judged_ones]
    labels = [_label(number, query, queries[query], found, documents, together) for number, (query, found) in enumerate(relevant.items(), start=1)]
    return Imported(source.name, tuple(documents.values()), tuple(labels), tuple(notes))


def _label(line: int, query: str, text: str, found: Sequence[str], documents: Mapping[str, Document], together: bool) -> QuestionLabel:
    evidence = [_whole(documents[doc]) for doc in found]
    return QuestionLabel(line, query, text, (tuple(evidence),) if together else tuple((it,) for it in evidence))


def _whole(document: Document) -> EvidenceLabel:
    span = trimmed(0, 0, document.text)
    return EvidenceLabel(document.id, document.text[span.start : span.end], span.start, span.end)


def _qrels(source: Path, split: str | None) -> Path:
    if not source.is_dir():
        raise DataError(source, "is no folder; a BEIR set is a folder with corpus.jsonl, queries.jsonl and qrels/")
    there = sorted((source / "qrels").glob("*.tsv"))
    if not there:
        raise DataError(source / "qrels", "holds no .tsv file; a BEIR set has qrels/test.tsv or another split")
    named = {path.stem: path for path in there}
    wanted = split or ("test" if "test" in named or len(named) > 1 else next(iter(named)))
    if wanted not in named:
        raise DataError(source / "qrels", f"there is no split {wanted!r}; --split {' or '.join(named)} would do")
    return named[wanted]


def _documents(path: Path, notes: list[Note], progress: Progress) -> dict[str, Document]:
    documents: dict[str, Document] = {}
    for record in read_records(path):
        where = f"line {record.line}"
        identifier, text = get(record.values, "_id", str, path, where), get(record.values, "text", str, path, where)
        if faults := id_faults(identifier):
            raise DataError(path, faults[0].replace("'id'", "'_id'"), line=record.line)
        if identifier in documents or not text.strip():
            notes.append(
                Note("dropped", "document", identifier, "its text is blank" if identifier not in documents else "its id stands already before it")
            )
            continue
        extra = plain(record.values.get("metadata"))
        documents[identifier] = Document(identifier, text, str(record.values.get("title") or ""), extra if isinstance(extra, dict) else {})
        if len(documents) % 1000 == 0:
            progress("reading documents", len(documents), 0)
    if not documents:
        raise DataError(path, "holds no document with text")
    return documents


def _texts(path: Path) -> list[tuple[str, str]]:
    found = []
    for record in read_records(path):
        where = f"line {record.line}"
        text = get(record.values, "text", str, path, where).strip()
        identifier = get(record.values, "_id", str, path, where)
        if faults := id_faults(identifier):
            raise DataError(path, faults[0].replace("'id'", "'_id'"), line=record.line)
        if text:
            found.append((identifier, text))
    return found


def _judgements(path: Path) -> list[tuple[str, str, float]]:
    found = []
    for line, row in enumerate(csv.reader(read_text(path).splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE), start=1):
        if not row or (line == 1 and row[-1:] == ["score"]):
            continue
        try:
            query, doc, score = row if len(row) == 3 else (row[0], row[2], row[3])
            found.append((query, doc, float(score)))
        except (ValueError, IndexError) as error:
            raise DataError(
                path, f"found {excerpt(' '.join(row))}; query-id, corpus-id and score are expected, with tabs between", line=line
            ) from error
    return found
