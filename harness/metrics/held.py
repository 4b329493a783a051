"""What the chunking allows before anything is retrieved: which returned spans hold which evidence, and R(q).

Everything is counted over *distinct returned spans*: the children of one parent hand the reader one and the same text.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from harness.metrics.labels import Copies, Labels, labels_of
from harness.remembered import Last
from harness.spans import Line, holding, ranges
from harness.types import Bools, Candidates, ChunkSet, Corpus, Ints, Probes


@dataclass(frozen=True, slots=True)
class Returned:
    """The S distinct spans that the chunks of a cell hand to the reader, ordered by document, start, end.

    `start` and `end` count in the document, `low` and `high` are the same on the corpus's line. `of_chunk` leads from a chunk to its span.
    `distinct`: no two chunks share a span, so chunk and span numbers are the same.
    """

    doc: Ints
    start: Ints
    end: Ints
    low: Ints
    high: Ints
    of_chunk: Ints
    distinct: bool

    def __len__(self) -> int:
        return len(self.doc)

    def chunks(self, span: Ints) -> tuple[Ints, Ints]:
        """All chunks of the given spans, as (chunk, row of `span`), in chunk order within a row."""
        if self.distinct:
            return span, np.arange(len(span))
        order = np.argsort(self.of_chunk, kind="stable")
        end = np.cumsum(np.bincount(self.of_chunk, minlength=len(self)))
        begin = np.concatenate([[0], end[:-1]]).astype(np.int64)
        place, row = ranges(begin[span], end[span])
        return order[place], row


@dataclass(frozen=True, slots=True)
class Relevance:
    """Columns of three lengths.

    Holdings (`held_place`, `held_span`): place p lies wholly inside span s, and s may be returned for p's question.
    R(q) on spans (`question`, `span`): s holds every evidence of some answer; ordered by question, then span; empty for multi-document questions.
    `probes`: R(q) on chunks, ordered by question, then chunk; what the retriever is asked to report on.
    """

    labels: Labels
    returned: Returned
    line: Line
    candidates: Candidates
    held_place: Ints
    held_span: Ints
    question: Ints
    span: Ints
    probes: Probes

    def allowed(self, question: Ints, span: Ints) -> Bools:
        """Whether the span lies in a document that the question may be answered from."""
        return self.candidates.documents[self.candidates.group[question], self.returned.doc[span]]

    @property
    def held_evidence(self) -> Ints:
        """The evidence of every holding."""
        return self.labels.place_evidence[self.held_place]


def relevant(corpus: Corpus, chunks: ChunkSet, candidates: Candidates, *, copies: Copies = "any") -> Relevance:
    """Which chunks hold what, before retrieval; `candidates` has one row a question of `corpus`.

    A span holds a piece of evidence if one of its places lies wholly inside, white space at either end of the place ignored; touching is not
    holding. With copies="labelled" only the place that was labelled counts. The last is kept: searching, fitting and scoring a cell each ask.
    """
    return _last.of((corpus, chunks, candidates, copies), lambda: _relevant(corpus, chunks, candidates, copies))


_last: Last[Relevance] = Last()


def _relevant(corpus: Corpus, chunks: ChunkSet, candidates: Candidates, copies: Copies) -> Relevance:
    labels = labels_of(corpus, copies)
    line = Line.of(corpus.documents)
    returned = _returned(chunks, line)
    low, high = (line.at(labels.place_doc, edge) for edge in (labels.place_start, labels.place_end))
    span, place = holding(returned.low, returned.high, low, high)
    question = labels.evidence_question[labels.place_evidence[place]]
    keep = candidates.documents[candidates.group[question], returned.doc[span]]
    place, span = place[keep], span[keep]
    question, whole = _whole_answers(labels, place, span, len(returned))
    chunk, row = returned.chunks(whole)
    order = np.lexsort((chunk, question[row]))
    probes = Probes(question[row][order], chunk[order])
    return Relevance(labels, returned, line, candidates, place, span, question, whole, probes)


def _returned(chunks: ChunkSet, line: Line) -> Returned:
    low, high = line.at(chunks.doc, chunks.returned_start), line.at(chunks.doc, chunks.returned_end)
    rises = (low[1:] > low[:-1]) | ((low[1:] == low[:-1]) & (high[1:] > high[:-1]))
    if rises.all():
        return Returned(chunks.doc, chunks.returned_start, chunks.returned_end, low, high, np.arange(len(low)), distinct=True)
    order = np.lexsort((high, low))
    new = np.ones(len(low), dtype=bool)
    new[1:] = (low[order][1:] != low[order][:-1]) | (high[order][1:] != high[order][:-1])
    of_chunk = np.empty(len(low), dtype=np.int64)
    of_chunk[order] = np.cumsum(new) - 1
    first = order[new]
    return Returned(chunks.doc[first], chunks.returned_start[first], chunks.returned_end[first], low[first], high[first], of_chunk, distinct=False)


def _whole_answers(labels: Labels, place: Ints, span: Ints, spans: int) -> tuple[Ints, Ints]:
    """R(q) as (question, span): the spans that hold as many different pieces of evidence of an answer as it has."""
    stride = max(spans, 1)
    evidence, span = np.divmod(np.unique(labels.place_evidence[place] * stride + span), stride)
    answer_span, pieces = np.unique(labels.evidence_answer[evidence] * stride + span, return_counts=True)
    answer, span = np.divmod(answer_span, stride)
    question = labels.answer_question[answer]
    keep = (pieces == labels.evidence_count[answer]) & ~labels.multi_document[question]
    question, span = np.divmod(np.unique(question[keep] * stride + span[keep]), stride)
    return question, span
