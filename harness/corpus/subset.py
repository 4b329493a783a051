"""A smaller corpus, for trying out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from harness.corpus.digests import documents_digest, questions_digest
from harness.errors import ConfigError
from harness.filters import candidates_of
from harness.types import Answer, Bools, Corpus, Evidence, Question, Span


def limit(corpus: Corpus, documents: int | None = None, questions: int | None = None, seed: int | None = None) -> Corpus:
    """`corpus` with at most so many documents and questions: the first ones, or with a seed a sample, in their old order either way.

    A question stays where one of its answers lies wholly in the documents that stay, with those answers, and its filter still lets one pass.
    Unanswerable questions are thinned to the share they had, so that fewer documents do not mean mostly questions without an answer. What is
    dropped is counted in `warnings`; digests are those of the smaller corpus. Raises ConfigError for anything but a whole number from 1 up.
    """
    for key, wanted in (("documents", documents), ("questions", questions)):
        if wanted is not None and (not isinstance(wanted, int) or wanted < 1):
            raise ConfigError(f"dataset.{key}", wanted, "a whole number, 1 or more, or null for all")
    random = None if seed is None else np.random.default_rng(seed)
    kept = _pick(len(corpus.documents), documents, random)
    chosen = corpus.questions
    if len(kept) < len(corpus.documents):
        chosen = _within(corpus, kept, random)
    within = len(chosen)
    chosen = tuple(chosen[number] for number in _pick(within, questions, random))
    return _smaller(corpus, kept, chosen, len(corpus.questions) - within)


def _pick(count: int, wanted: int | None, random: np.random.Generator | None) -> list[int]:
    if wanted is None or wanted >= count:
        return list(range(count))
    if random is None:
        return list(range(wanted))
    return sorted(random.choice(count, size=wanted, replace=False).tolist())


def _within(corpus: Corpus, kept: Sequence[int], random: np.random.Generator | None) -> tuple[Question, ...]:
    """The questions that the kept documents can be asked, with their documents renumbered."""
    renumber = {old: new for new, old in enumerate(kept)}
    candidates = candidates_of([corpus.documents[old] for old in kept], corpus.questions)
    searchable: Bools = np.any(candidates.documents, axis=1)[candidates.group]
    answerable: dict[int, Question] = {}
    unanswerable: list[int] = []
    for number, question in enumerate(corpus.questions):
        answers = tuple(_renumbered(answer, renumber) for answer in question.answers if _inside(answer, renumber))
        if not searchable[number]:
            continue
        if answers:
            answerable[number] = replace(question, answers=answers)
        elif not question.answers:
            unanswerable.append(number)
    before = sum(bool(question.answers) for question in corpus.questions)
    share = len(answerable) / before if before else 1.0
    thinned = [unanswerable[place] for place in _pick(len(unanswerable), round(share * (len(corpus.questions) - before)), random)]
    chosen = answerable | {number: corpus.questions[number] for number in thinned}
    return tuple(chosen[number] for number in sorted(chosen))


def _inside(answer: Answer, renumber: Mapping[int, int]) -> bool:
    return all(evidence.span.doc in renumber for evidence in answer.evidence)


def _renumbered(answer: Answer, renumber: Mapping[int, int]) -> Answer:
    def move(span: Span) -> Span:
        return span._replace(doc=renumber[span.doc])

    return Answer(tuple(Evidence(move(it.span), it.role, tuple(move(copy) for copy in it.copies if copy.doc in renumber)) for it in answer.evidence))


def _smaller(corpus: Corpus, kept: Sequence[int], questions: tuple[Question, ...], outside: int) -> Corpus:
    documents = tuple(corpus.documents[number] for number in kept)
    if len(documents) == len(corpus.documents) and len(questions) == len(corpus.questions):
        return corpus
    warning = (
        f"{corpus.name}: limited to {len(documents)} of {len(corpus.documents)} documents and {len(questions)} of {len(corpus.questions)} questions"
        f" ({outside} had no place in those documents)"
    )
    digests = documents_digest(documents), questions_digest(questions, documents)
    return Corpus(corpus.name, documents, questions, *digests, (*corpus.warnings, warning))
