"""Real labelled corpora load whole, with the counts that their readme gives."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from harness.corpus.counts import evidence_of, is_multi_document
from harness.corpus.folder import load_folder
from harness.corpus.subset import limit

# documents, answerable, unanswerable, multi-document, pieces of evidence as labelled, after merging
SETS = {
    "contractnli": (183, 1800, 0, 0, 3627, 2687),
    "squad_half": (16, 2910, 3168, 0, 3149, 3149),
    "anthropic_docs": (45, 68, 0, 25, 130, 112),
    "jaquad": (101, 3939, 0, 0, 3939, 3939),
    "xquad_ar": (48, 1190, 0, 0, 1190, 1190),
}


@pytest.mark.parametrize("name", SETS)
def test_a_labelled_set_loads_whole(extra_data: Path, name: str) -> None:
    documents, answerable, unanswerable, multi, labelled, merged = SETS[name]
    folder = extra_data / "labelled" / name
    began = time.perf_counter()
    corpus = load_folder(folder)
    assert time.perf_counter() - began < 20
    answers = [bool(question.answers) for question in corpus.questions]
    assert (len(corpus.documents), answers.count(True), answers.count(False)) == (documents, answerable, unanswerable)
    assert sum(map(is_multi_document, corpus.questions)) == multi
    rows = [json.loads(line) for line in (folder / "questions.jsonl").read_text(encoding="utf-8").split("\n") if line]
    quotes = [evidence["quote"] for row in rows for answer in row["answers"] for evidence in answer["evidence"]]
    assert len(quotes) == labelled
    evidence = list(evidence_of(corpus.questions))
    assert len(evidence) == merged
    texts = ["".join(corpus.documents[it.span.doc].text[it.span.start : it.span.end].split()) for it in evidence]
    assert sum(map(len, texts)) <= sum(len("".join(quote.split())) for quote in quotes)
    assert all(
        corpus.documents[copy.doc].text[copy.start : copy.end] == corpus.documents[it.span.doc].text[it.span.start : it.span.end]
        for it in evidence
        for copy in it.copies
    )


def test_twenty_documents_of_jaquad_and_sixty_contracts(extra_data: Path) -> None:
    small = limit(load_folder(extra_data / "labelled" / "jaquad"), documents=20)
    assert len(small.documents) == 20
    assert {it.span.doc for it in evidence_of(small.questions)} == set(range(20))
    contracts = limit(load_folder(extra_data / "labelled" / "contractnli"), documents=60)
    assert {question.filter["doc"] for question in contracts.questions} == {document.id for document in contracts.documents}
