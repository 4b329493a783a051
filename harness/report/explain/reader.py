"""One cell, read question by question: which chunks hold which evidence, what was retrieved, and in which order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from harness.metrics.held import Relevance, relevant
from harness.report.explain.words import Vocabulary, WordSearch
from harness.report.material import CellMaterial
from harness.types import Candidates, Corpus, Evidence, Floats, Ints, Span


@dataclass(frozen=True, slots=True)
class PieceView:
    """A piece of evidence: `span` is the labelled place without white space at its ends, `held` the returned spans with the whole piece, best
    ranked first, then in document order; `rank` that of the first of them, None where none was retrieved."""

    name: str
    evidence: Evidence
    span: Span
    held: tuple[int, ...]
    rank: int | None


@dataclass(frozen=True, slots=True)
class QuestionView:
    """A question in one cell. `ranked`: distinct returned spans, best first, `chunk` and `score` of the chunk that returned each first.

    `whole`: returned spans that hold a whole answer, best ranked first, then in document order. `above`: of the best of them where it was not
    retrieved, how many chunks score higher (None: not known).
    """

    answers: tuple[tuple[PieceView, ...], ...]
    ranked: tuple[int, ...]
    chunk: tuple[int, ...]
    score: tuple[float, ...]
    rank: dict[int, int]
    whole: tuple[int, ...]
    above: int | None
    candidates: int


class CellReader:
    """Reads a cell. Building one costs a join of chunks and evidence; a question then costs about as much as its ranking is long."""

    def __init__(self, corpus: Corpus, candidates: Candidates, cell: CellMaterial, vocabulary: Vocabulary) -> None:
        self.corpus, self.candidates, self.cell = corpus, candidates, cell
        self.search = WordSearch(vocabulary, cell.chunks)
        copies = cell.result.cell.config.get("scoring", {}).get("copies", "any")
        self.relevance: Relevance = relevant(corpus, cell.chunks, candidates, copies=copies)

    @cached_property
    def first_chunk(self) -> Ints:
        """The first chunk of every returned span."""
        return np.unique(self.relevance.returned.of_chunk, return_index=True)[1]

    @cached_property
    def _of_question(self) -> tuple[list[int], list[int], list[int]]:
        """Where each question begins: in R(q), in the probes, and in the pieces of evidence."""
        begins = range(len(self.corpus.questions) + 1)
        columns = (self.relevance.question, self.cell.ranking.probes.question, self.relevance.labels.evidence_question)
        whole, probes, evidence = (np.searchsorted(column, begins).tolist() for column in columns)
        return whole, probes, evidence

    @cached_property
    def _of_evidence(self) -> tuple[list[int], list[int]]:
        """Where each piece of evidence begins: in its places, and in what is held."""
        labels = self.relevance.labels
        begins = range(len(labels.evidence_question) + 1)
        place, held = (np.searchsorted(column, begins).tolist() for column in (labels.place_evidence, self.relevance.held_evidence))
        return place, held

    @cached_property
    def _by_document(self) -> Ints:
        """Where the returned spans of each document begin."""
        return np.searchsorted(self.relevance.returned.doc, np.arange(len(self.corpus.documents) + 1))

    @cached_property
    def attributions(self) -> list[str]:
        """Each question's fate at 5."""
        return [str(word) for word in self.cell.result.questions["attribution"]]

    @cached_property
    def top_scores(self) -> Floats:
        """The best score of every answerable question, rising."""
        table = self.cell.result.questions
        scores = table.loc[table["answerable"].astype(bool), "top_score"].to_numpy(dtype=np.float64)
        return np.sort(scores[~np.isnan(scores)])

    def chunk_of(self, span: int, view: QuestionView | None = None) -> int:
        """The number of the chunk that returns this span: the one retrieved, otherwise the first."""
        rank = view.rank.get(span) if view else None
        return view.chunk[rank - 1] if view and rank else int(self.first_chunk[span])

    def bounds(self, span: int) -> Span:
        """What a returned span covers."""
        returned = self.relevance.returned
        return Span(int(returned.doc[span]), int(returned.start[span]), int(returned.end[span]))

    def touching(self, place: Span, question: int) -> list[int]:
        """The returned spans, in document order, that share a character with `place` and may be returned for the question."""
        if not self.candidates.documents[self.candidates.group[question], place.doc]:
            return []
        returned, (low, high) = self.relevance.returned, self._by_document[place.doc : place.doc + 2]
        rows = np.flatnonzero((returned.start[low:high] < place.end) & (returned.end[low:high] > place.start)) + low
        found: list[int] = rows.tolist()
        return found

    def view(self, question: int) -> QuestionView:
        """The question with this number."""
        ranked, chunk, score = self._ranked(question)
        rank = {span: place for place, span in enumerate(ranked, 1)}
        low, high = self._of_question[0][question : question + 2]
        whole = _ordered(self.relevance.span[low:high].tolist(), rank)
        unseen = bool(whole) and whole[0] not in rank
        answers = self._answers(question, rank)
        candidates = int(self.cell.ranking.candidates[question])
        best, above = self._best_unseen(question) if unseen else (None, None)
        if best is not None:
            whole = (best, *(span for span in whole if span != best))
        return QuestionView(answers, ranked, chunk, score, rank, whole, above, candidates)

    def _ranked(self, question: int) -> tuple[tuple[int, ...], tuple[int, ...], tuple[float, ...]]:
        ranking = self.cell.ranking
        low, high = int(ranking.indptr[question]), int(ranking.indptr[question + 1])
        chunks, scores = ranking.chunk[low:high], ranking.score[low:high]
        spans = self.relevance.returned.of_chunk[chunks]
        if not self.relevance.returned.distinct:
            first = np.sort(np.unique(spans, return_index=True)[1])
            spans, chunks, scores = spans[first], chunks[first], scores[first]
        return tuple(spans.tolist()), tuple(chunks.tolist()), tuple(scores.tolist())

    def _best_unseen(self, question: int) -> tuple[int | None, int | None]:
        """Of the chunks with a whole answer the best scored, and how many score higher, where the retriever knows."""
        ranking = self.cell.ranking
        low, high = self._of_question[1][question : question + 2]
        below, tied = ranking.probe_below[low:high], ranking.probe_tied[low:high]
        if high == low or (below < 0).any():
            return None, None
        best = int(np.argmax(below))
        span = int(self.relevance.returned.of_chunk[ranking.probes.chunk[low + best]])
        return span, int(ranking.candidates[question] - below[best] - tied[best])

    def _answers(self, question: int, rank: dict[int, int]) -> tuple[tuple[PieceView, ...], ...]:
        labels, (places, held) = self.relevance.labels, self._of_evidence
        number = self._of_question[2][question]
        answers = []
        for answer in self.corpus.questions[question].answers:
            pieces = []
            names = _names([piece.role for piece in answer.evidence])
            for name, piece in zip(names, answer.evidence, strict=True):
                place = places[number]
                span = Span(int(labels.place_doc[place]), int(labels.place_start[place]), int(labels.place_end[place]))
                low, high = held[number : number + 2]
                spans = _ordered(set(self.relevance.held_span[low:high].tolist()), rank)
                pieces.append(PieceView(name, piece, span, spans, rank.get(spans[0]) if spans else None))
                number += 1
            if pieces:
                answers.append(tuple(pieces))
        return tuple(answers)


def _ordered(spans: Collection[int], rank: dict[int, int]) -> tuple[int, ...]:
    return tuple(sorted(spans, key=lambda span: (rank.get(span, len(rank) + 1), span)))


def _names(roles: Sequence[str | None]) -> list[str]:
    """What sentences call the pieces of one answer."""
    if len(roles) == 1:
        return ["the answer"]
    words = [role or "passage" for role in roles]
    total, seen = Counter(words), Counter[str]()
    names = []
    for word in words:
        seen[word] += 1
        names.append(f"the {word}" if total[word] == 1 else f"the {ordinal(seen[word])} {word}")
    return names


def ordinal(number: int) -> str:
    """1st, 2nd, 3rd, 4th, …"""
    ending = "th" if 10 <= number % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number:,}{ending}"
