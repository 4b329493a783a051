"""What stands more than once: documents, paragraphs, questions."""

from __future__ import annotations

import json
import re
from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np
from rapidfuzz import fuzz

from harness.corpus.counts import words_in
from harness.types import Document, Question

SHORTEST = 80
"""Characters from which on a repeated paragraph is counted: shorter ones recur by chance."""
_PARAGRAPH = re.compile(r"(?:\r\n?|\n)[ \t]*(?:\r\n?|\n)\s*")
_NEAR = 92.0
_BLOCK = 1 << 20
_WINDOW = 4


@dataclass(frozen=True, slots=True)
class Paragraphs:
    """`characters` of all paragraphs of 80 characters or more; `repeated` of them stood in an earlier one, white space aside, `places` of those."""

    count: int
    characters: int
    places: int
    repeated: int

    @property
    def share(self) -> float:
        """Repeated characters as a share of all."""
        return self.repeated / self.characters if self.characters else 0.0


def same_documents(documents: Sequence[Document]) -> list[tuple[str, str]]:
    """Pairs (earlier, later) of ids of documents whose text is the same but for white space. Blank ones are left out."""
    first: dict[bytes, str] = {}
    pairs = []
    for document in documents:
        if document.blank:
            continue
        earlier = first.setdefault(_digest(document.text), document.id)
        if earlier != document.id:
            pairs.append((earlier, document.id))
    return pairs


def _digest(text: str) -> bytes:
    """Of the text without its white space; in blocks, for a list of all the words of a long text would be many times as large."""
    digest = blake2b(digest_size=16)
    for start in range(0, len(text), _BLOCK):
        digest.update("".join(text[start : start + _BLOCK].split()).encode("utf-8", "surrogatepass"))
    return digest.digest()


def repeated_paragraphs(documents: Sequence[Document]) -> Paragraphs:
    """How much of the text are paragraphs (between blank lines) that stood before: notices, footers, clauses. 16 bytes of memory a paragraph."""
    keys, sizes = array("q"), array("q")
    for document in documents:
        for part in _paragraphs(document.text):
            plain = " ".join(part.split())
            if len(plain) >= SHORTEST:
                keys.append(hash(plain))
                sizes.append(len(plain))
    key, size = np.frombuffer(keys, dtype=np.int64), np.frombuffer(sizes, dtype=np.int64)
    _, first = np.unique(key, return_index=True)
    again = len(key) - len(first)
    return Paragraphs(len(key), int(size.sum()), again, int(size.sum() - size[first].sum()))


def _paragraphs(text: str) -> Iterator[str]:
    start = 0
    for gap in _PARAGRAPH.finditer(text):
        yield text[start : gap.start()]
        start = gap.end()
    yield text[start:]


@dataclass(frozen=True, slots=True)
class Twins:
    """Pairs of ids of questions that are asked twice: `same` in the same words with the same answer, `torn` in the same words with another answer
    (those should be alternatives of one question), `near` in nearly the same words."""

    same: list[tuple[str, str]]
    torn: list[tuple[str, str]]
    near: list[tuple[str, str]]


def same_questions(questions: Sequence[Question]) -> Twins:
    """Questions that are alike and ask the same documents (equal filters); case and punctuation count for nothing.

    Near ones are looked for among neighbours in two sorted orders, of the words and of the words read backwards (the sorted-neighbourhood method,
    Hernández and Stolfo 1995, "The Merge/Purge Problem for Large Databases"): 92 of 100 characters agree. Linear but for sorting, so a pair that
    differs near both ends may be missed.
    """
    words = [" ".join(words_in(question.text)) for question in questions]
    scopes = [json.dumps(dict(question.filter), sort_keys=True, ensure_ascii=False) for question in questions]
    first: dict[tuple[str, str], int] = {}
    same: list[tuple[str, str]] = []
    torn: list[tuple[str, str]] = []
    for place, question in enumerate(questions):
        earlier = first.setdefault((words[place], scopes[place]), place)
        if earlier != place:
            pair = (questions[earlier].id, question.id)
            (same if questions[earlier].answers == question.answers else torn).append(pair)
    return Twins(same, torn, _near(questions, words, scopes, sorted(first.values())))


def _near(questions: Sequence[Question], words: list[str], scopes: list[str], places: list[int]) -> list[tuple[str, str]]:
    pairs: Counter[tuple[int, int]] = Counter()
    for turn in (1, -1):
        order = sorted(places, key=lambda place: (scopes[place], words[place][::turn]))
        for at, one in enumerate(order):
            for two in order[at + 1 : at + 1 + _WINDOW]:
                pair = (min(one, two), max(one, two))
                if scopes[one] == scopes[two] and pair not in pairs and fuzz.ratio(words[one], words[two], score_cutoff=_NEAR):
                    pairs[pair] += 1
    return [(questions[one].id, questions[two].id) for one, two in sorted(pairs)]
