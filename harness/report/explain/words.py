"""Words of texts, and a search by words alone to hold a ranking against."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property

import bm25s
import numpy as np
from bm25s.stopwords import STOPWORDS_EN_PLUS

from harness.types import ChunkSet, Document, Floats, Ints

_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_MARKS = "\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u0900-\u0963\u0971-\u0dff\u0e31-\u0e4e"
_WORD = re.compile(rf"[{_CJK}]+|(?:(?![{_CJK}_])[\w{_MARKS}])+")
_COMMON = frozenset(STOPWORDS_EN_PLUS)


def words(text: str) -> list[tuple[int, int, str]]:
    """(start, end, folded word) in order: runs of letters, digits and marks; of Chinese and Japanese, which have no spaces, pairs of characters."""
    found = []
    for match in _WORD.finditer(text):
        start, end = match.span()
        if end - start > 1 and "\u3040" <= text[start] <= "\ufaff" and re.match(f"[{_CJK}]", text[start]):
            found += [(at, at + 2, text[at : at + 2]) for at in range(start, end - 1)]
        else:
            found.append((start, end, match[0].casefold()))
    return found


def telling(text: str) -> tuple[str, ...]:
    """The different words of `text` in order, without the commonest English ones; all of them where nothing else is left."""
    every = tuple(dict.fromkeys(word for _, _, word in words(text)))
    return tuple(word for word in every if word not in _COMMON) or every


def shared(question: Sequence[str], text: str) -> tuple[str, ...]:
    """Those words of the question that stand in `text`."""
    there = {word for _, _, word in words(text)}
    return tuple(word for word in question if word in there)


class Vocabulary:
    """The words of a corpus, each document read once: where they stand, and their numbers."""

    def __init__(self, documents: Sequence[Document]) -> None:
        self.number: dict[str, int] = {}
        self._asked: dict[str, list[int]] = {}
        self._columns = [self._read(document.text) for document in documents]

    def _read(self, text: str) -> tuple[Ints, Ints, Ints]:
        rows = [(start, end, self.number.setdefault(word, len(self.number))) for start, end, word in words(text)]
        table = np.array(rows, dtype=np.int64).reshape(-1, 3)
        return table[:, 0], table[:, 1], table[:, 2]

    def inside(self, chunks: ChunkSet) -> list[list[int]]:
        """The numbers of the words that lie whole inside each chunk; what is put in front of it before it is embedded comes first."""
        out: list[list[int]] = []
        for doc in range(len(self._columns)):
            start, end, number = self._columns[doc]
            low, high = np.searchsorted(chunks.doc, [doc, doc + 1])
            first = np.searchsorted(start, chunks.start[low:high], side="left").tolist()
            last = np.searchsorted(end, chunks.end[low:high], side="right").tolist()
            listed = number.tolist()
            out += [listed[a:b] for a, b in zip(first, last, strict=True)]
        if chunks.context is not None:
            out = [[*self._known(front), *inner] for front, inner in zip(chunks.context, out, strict=True)]
        return out

    def _known(self, text: str) -> list[int]:
        return [self.number[word] for _, _, word in words(text) if word in self.number]

    def asked(self, text: str) -> list[int]:
        """The numbers of a question's words, those that no document has left out. Every cell asks the same questions, so they are kept."""
        if text not in self._asked:
            self._asked[text] = self._known(text)
        return self._asked[text]


class WordSearch:
    """BM25 (Lucene's form, k1 1.5, b 0.75) over the texts of a cell's chunks."""

    def __init__(self, vocabulary: Vocabulary, chunks: ChunkSet) -> None:
        self._vocabulary, self._chunks = vocabulary, chunks

    @cached_property
    def _index(self) -> bm25s.BM25 | None:
        inside = self._vocabulary.inside(self._chunks)
        if not any(inside):
            return None
        index = bm25s.BM25(backend="numpy", csc_backend="numpy", auto_compile=False)
        index.index(bm25s.tokenization.Tokenized(ids=inside, vocab=dict(self._vocabulary.number)), show_progress=False)
        return index

    def scores(self, question: str) -> Floats:
        """One score a chunk, 0 where they share no word."""
        asked = self._vocabulary.asked(question)
        if self._index is None or not asked:
            return np.zeros(len(self._chunks))
        return np.asarray(self._index.get_scores_from_ids(asked), dtype=np.float64)
