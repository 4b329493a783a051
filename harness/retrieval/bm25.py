"""Search by words: BM25, as the library bm25s computes it (Lù 2024, arXiv:2407.03618)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from harness.errors import ConfigError
from harness.remembered import Last
from harness.retrieval.base import Queries, Shelf
from harness.retrieval.orders import LARGE, Rows, as_ranking, check_number
from harness.retrieval.pool import chunks_of, group_rows
from harness.retrieval.words import words
from harness.types import Candidates, Ints, Probes, Ranking

Method = Literal["lucene", "robertson", "atire", "bm25l", "bm25+"]

_METHODS = ("lucene", "robertson", "atire", "bm25l", "bm25+")
_LISTS = {
    **{"da": "DANISH", "de": "GERMAN", "en": "EN", "es": "SPANISH", "fr": "FRENCH", "it": "ITALIAN", "ko": "KOREAN", "nl": "DUTCH"},
    **{"no": "NORWEGIAN", "pt": "PORTUGUESE", "ru": "RUSSIAN", "sv": "SWEDISH", "tr": "TURKISH"},
}
"""Languages whose stop words come with bm25s. Its Chinese list is of words, which text without spaces is not cut into here."""
_BLOCK_SCORES = 2**24


@dataclass(frozen=True)
class Bm25Retriever:
    """Ranks the candidates of a question by the words they share with it (harness.retrieval.words), rare words counting more.

    `k1` is how much a repeated word adds, `b` how much long chunks are held back, `delta` what "bm25l" and "bm25+" grant any occurrence; `method` is
    one of the five forms that Kamphuis et al. (2020) compare. `stopwords`: a language whose commonest words are left out (None: none are). How rare a
    word is, and how long chunks are, is counted over all chunks, whatever a question's filter. Scores are from 0 up, and equal where no word is
    shared: such chunks come last, in chunk order. Several vectors that lead to a chunk change nothing: it has one text. Statistics are NaN. Raises
    ConfigError for values that mean nothing.
    """

    k1: float = 1.5
    b: float = 0.75
    method: Method = "lucene"
    delta: float = 0.5
    stopwords: str | None = None

    def __post_init__(self) -> None:
        check_number("k1", self.k1, 0, LARGE)
        check_number("b", self.b, 0, 1)
        check_number("delta", self.delta, 0, LARGE)
        if self.method not in _METHODS:
            raise ConfigError("retriever.method", self.method, f"one of {', '.join(_METHODS)} would do")
        if self.stopwords is not None and self.stopwords not in _LISTS:
            raise ConfigError("retriever.stopwords", self.stopwords, f"null or one of {', '.join(_LISTS)} would do")

    @property
    def reads_vectors(self) -> bool:
        """Never: it reads words."""
        return False

    def build(self, shelf: Shelf) -> Bm25Index:
        """An index of the words of `shelf.texts`. Linear in their length."""
        return Bm25Index(shelf, self)


@dataclass(frozen=True, slots=True)
class Lexicon:
    """A number for every distinct word, by first appearance, and the words of text t as numbers: `words[begin[t]:begin[t + 1]]`. 4 bytes a word."""

    number: Mapping[str, int]
    words: npt.NDArray[np.int32]
    begin: Ints
    _asked: Last[list[list[str]]] = field(default_factory=Last, repr=False, compare=False)

    def asked(self, questions: tuple[str, ...]) -> list[list[str]]:
        """The words of every question, taken once for all indexes that are asked the same."""
        return self._asked.of(questions, lambda: [words(question) for question in questions])

    def without(self, left_out: frozenset[str]) -> tuple[dict[str, int], list[list[int]]]:
        """The numbers of the words that stay, dense from 0, and the words of each text as a list of them."""
        stays = np.array([word not in left_out for word in self.number], dtype=bool)
        renumbered = np.cumsum(stays) - 1
        kept = stays[self.words] if len(stays) else np.zeros(0, dtype=bool)
        ends = np.concatenate([[0], np.cumsum(kept)])[self.begin].tolist()
        flat = renumbered[self.words[kept]].tolist()
        numbers = {word: int(renumbered[number]) for word, number in self.number.items() if stays[number]}
        return numbers, [flat[start:end] for start, end in pairwise(ends)]


def lexicon_of(texts: Sequence[str]) -> Lexicon:
    """The words of `texts`. Linear in their length."""
    number: dict[str, int] = {}
    found = [np.array([number.setdefault(word, len(number)) for word in words(text)], dtype=np.int32) for text in texts]
    begin = np.concatenate([[0], np.cumsum([len(one) for one in found])]).astype(np.int64)
    return Lexicon(number, np.concatenate([np.zeros(0, dtype=np.int32), *found]), begin)


class Bm25Index:
    """What each word adds to each chunk that has it. Where no chunk has a word, all scores are 0."""

    def __init__(self, shelf: Shelf, by: Bm25Retriever) -> None:
        import bm25s

        self._doc = shelf.doc
        self._lexicon = shelf.once("words", lambda: lexicon_of(shelf.texts))
        self._number, numbers = self._lexicon.without(_stopwords(by.stopwords))
        self._built: Any = bm25s.BM25(k1=by.k1, b=by.b, delta=by.delta, method=by.method)
        if self._number:
            self._built.index((numbers, self._number), create_empty_token=False, show_progress=False)

    @property
    def nbytes(self) -> int:
        """Bytes of the numbers that are kept; the words themselves are not counted."""
        if not self._number:
            return 0
        scores, absent = self._built.scores, self._built.nonoccurrence_array
        return sum(int(scores[name].nbytes) for name in ("data", "indices", "indptr")) + (0 if absent is None else int(absent.nbytes))

    def search(self, queries: Queries, candidates: Candidates, depth: int, probes: Probes) -> Ranking:
        """The first `depth` candidates of every question. Costs the postings of its words, and a pass over its candidates."""
        found, asked = np.zeros(len(queries.texts), dtype=np.int64), self._lexicon.asked(queries.texts)
        parts = [Rows(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros(0))]
        for rows, documents in group_rows(candidates):
            chunk = chunks_of(self._doc, documents)
            found[rows] = len(chunk)
            step = max(_BLOCK_SCORES // max(len(chunk), 1), 1)
            for block in np.split(rows, range(step, len(rows), step)) if len(chunk) else ():
                scores = np.stack([self._scores(asked[row])[chunk] for row in block])
                row, column = _highest(scores, min(depth, len(chunk)))
                parts.append(Rows(block[row], chunk[column], scores[row, column].astype(np.float64)))
        together = Rows(*(np.concatenate(column) for column in zip(*parts, strict=True)))
        return as_ranking(together.where(np.argsort(together.question, kind="stable")), found, depth, probes)

    def _scores(self, question: list[str]) -> npt.NDArray[np.float32]:
        """Of every chunk."""
        known = [self._number[word] for word in question if word in self._number]
        if not known:
            return np.zeros(len(self._doc), dtype=np.float32)
        scores: npt.NDArray[np.float32] = self._built.get_scores_from_ids(known)
        return scores


def _highest(scores: npt.NDArray[np.float32], depth: int) -> tuple[Ints, Ints]:
    """(row, column) of the `depth` highest scores of each row, row by row, best first; equal scores by column, also at the cut."""
    if depth < 1:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    cut = np.partition(scores, scores.shape[1] - depth, axis=1)[:, scores.shape[1] - depth, None]
    above, level = scores > cut, scores == cut
    kept = above | (level & (np.cumsum(level, axis=1) <= depth - above.sum(axis=1, keepdims=True)))
    column = np.nonzero(kept)[1].reshape(len(scores), depth)
    order = np.argsort(-np.take_along_axis(scores, column, axis=1), axis=1, kind="stable")
    return np.repeat(np.arange(len(scores)), depth), np.take_along_axis(column, order, axis=1).ravel()


def _stopwords(language: str | None) -> frozenset[str]:
    """Cut into words as texts are ("don't" is two)."""
    if language is None:
        return frozenset()
    from bm25s import stopwords

    return frozenset(part for word in getattr(stopwords, f"STOPWORDS_{_LISTS[language]}") for part in words(word))
