"""Which of the text some question touches."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass

from harness.corpus.counts import evidence_of
from harness.types import Corpus


@dataclass(frozen=True, slots=True)
class Coverage:
    """`characters` of all documents; `untouched` documents are evidence for no question and have `untouched_characters`; `evidence` characters are
    evidence, each counted once. `asked` has the number of questions of each document that has any, and `most` the share of the answerable questions
    that the one document with most of them has."""

    documents: int
    characters: int
    untouched: int
    untouched_characters: int
    evidence: int
    asked: tuple[int, ...]
    most: float


def coverage(corpus: Corpus) -> Coverage:
    """Count it. Linear but for sorting the evidence."""
    spans: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for evidence in evidence_of(corpus.questions):
        spans[evidence.span.doc].append((evidence.span.start, evidence.span.end))
    asked = Counter(doc for question in corpus.questions for doc in {it.span.doc for it in evidence_of([question])})
    lengths = [document.length for document in corpus.documents]
    untouched = [length for place, length in enumerate(lengths) if place not in spans]
    answerable = sum(bool(question.answers) for question in corpus.questions)
    return Coverage(
        documents=len(lengths),
        characters=sum(lengths),
        untouched=len(untouched),
        untouched_characters=sum(untouched),
        evidence=sum(map(_union, spans.values())),
        asked=tuple(asked.values()),
        most=max(asked.values(), default=0) / answerable if answerable else 0.0,
    )


def _union(spans: list[tuple[int, int]]) -> int:
    covered = reached = 0
    for start, end in sorted(spans):
        covered += max(end - max(start, reached), 0)
        reached = max(reached, end)
    return covered
