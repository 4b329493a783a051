"""What is counted of a corpus, for the check before a sweep and for its card."""

from __future__ import annotations

import hashlib
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence

from harness.types import Document, Evidence, Question


def is_multi_document(question: Question) -> bool:
    """Whether the evidence of *each* answer lies in more than one document; False for unanswerable questions."""
    return bool(question.answers) and all(len({it.span.doc for it in answer.evidence}) > 1 for answer in question.answers)


def evidence_of(questions: Sequence[Question]) -> Iterator[Evidence]:
    """All evidence of all answers."""
    return (evidence for question in questions for answer in question.answers for evidence in answer.evidence)


def repeated(documents: Sequence[Document]) -> int:
    """Documents whose text stood in an earlier one already; blank ones are not counted."""
    seen = Counter(_digest_of(document.text) for document in documents if not document.blank)
    return seen.total() - len(seen)


def _digest_of(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def unasked(documents: Sequence[Document], questions: Sequence[Question]) -> int:
    """Documents that are evidence for no question."""
    return len(documents) - len({evidence.span.doc for evidence in evidence_of(questions)})


def words_in(text: str) -> list[str]:
    """Runs of letters and digits, case folded, compatibility forms made one."""
    spaced = (character if character.isalnum() else " " for character in unicodedata.normalize("NFKC", text).casefold())
    return "".join(spaced).split()
