"""The card of a corpus: its counts and digests, as data and as Markdown."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from harness.corpus.copies import SHORTEST
from harness.corpus.counts import evidence_of, is_multi_document, repeated, unasked
from harness.types import Corpus


def card(corpus: Corpus) -> dict[str, Any]:
    """Counts of `corpus`, ready for JSON. Characters are code points; `evidence_per_answer` maps pieces of evidence to answers that have so many."""
    questions = corpus.questions
    evidence = list(evidence_of(questions))
    return {
        "name": corpus.name,
        "documents": _about_documents(corpus),
        "questions": {
            "count": len(questions),
            "answerable": sum(bool(question.answers) for question in questions),
            "unanswerable": sum(not question.answers for question in questions),
            "multi_document": sum(map(is_multi_document, questions)),
            "several_answers": sum(len(question.answers) > 1 for question in questions),
            "with_filter": sum(bool(question.filter) for question in questions),
            "by_kind": _ordered(Counter(question.kind or "none given" for question in questions)),
        },
        "evidence": {
            "count": len(evidence),
            "characters_median": _median([it.span.end - it.span.start for it in evidence]),
            "evidence_per_answer": _ordered(Counter(str(len(answer.evidence)) for question in questions for answer in question.answers)),
            "by_role": _ordered(Counter(it.role or "none given" for it in evidence)),
            f"of_{SHORTEST}_characters_or_more": sum(it.span.end - it.span.start >= SHORTEST for it in evidence),
            "with_copies": sum(bool(it.copies) for it in evidence),
        },
        "digest": corpus.digest,
        "questions_digest": corpus.questions_digest,
        "warnings": list(corpus.warnings),
    }


def _about_documents(corpus: Corpus) -> dict[str, Any]:
    lengths = [document.length for document in corpus.documents]
    return {
        "count": len(lengths),
        "characters": sum(lengths),
        "characters_median": _median(lengths),
        "characters_longest": max(lengths, default=0),
        "blank": sum(document.blank for document in corpus.documents),
        "repeated": repeated(corpus.documents),
        "evidence_for_no_question": unasked(corpus.documents, corpus.questions),
        "metadata_fields": sorted({name for document in corpus.documents for name in document.metadata}),
    }


def _median(values: list[int]) -> float | None:
    return float(np.median(values)) if values else None


def _ordered(counts: Counter[str]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda item: (len(item[0]), item[0]) if item[0].isdigit() else (0, item[0])))


def card_markdown(corpus: Corpus, *, warnings: bool = True) -> str:
    """The card as Markdown: one table a section, digests and warnings below. Without `warnings`, which may quote a label, it holds no text of
    documents or questions."""
    values = card(corpus)
    parts = [f"# {values['name']}"]
    for section in ("documents", "questions", "evidence"):
        rows = [f"| {name.replace('_', ' ')} | {_cell(value)} |" for name, value in values[section].items()]
        parts.append("\n".join([f"## {section.capitalize()}", "", "| | |", "|---|---|", *rows]))
    parts.append(f"Digest of the documents: `{values['digest']}`  \nDigest of the questions: `{values['questions_digest']}`")
    if warnings and values["warnings"]:
        parts.append("\n".join(["## Warnings", "", *(f"- {warning}" for warning in values["warnings"])]))
    return "\n\n".join(parts) + "\n"


def _cell(value: object) -> str:
    match value:
        case None:
            return "-"
        case dict():
            return _cell([f"{name}: {count:,}" for name, count in value.items()])
        case list():
            return ", ".join(str(it).replace("|", "\\|") for it in value) or "-"
        case float() | int():
            return f"{value:,.0f}"
        case _:
            return str(value)
