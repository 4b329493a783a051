"""Small corpora, rankings made from a full table of scores, and a reference scorer in plain loops."""

from __future__ import annotations

import itertools
import math
import random

import numpy as np

from harness.filters import candidates_of
from harness.metrics.held import Relevance, relevant
from harness.types import Answer, Candidates, ChunkSet, Corpus, Document, Evidence, Probes, Question, Ranking, Span
from harness.units.base import Ruler


def corpus_of(texts, questions) -> Corpus:
    """`questions`: a list of answers each, or (answers, filter); an answer is a list of Evidence or of (doc, start, end[, role])."""
    built = []
    for number, entry in enumerate(questions):
        answers, wanted = entry if isinstance(entry, tuple) else (entry, {})
        built.append(Question(f"q{number}", f"question {number}", tuple(Answer(tuple(map(evidence_of, answer))) for answer in answers), wanted))
    documents = tuple(Document(f"d{number}", text) for number, text in enumerate(texts))
    return Corpus("toy", documents, tuple(built), "", "")


def evidence_of(entry) -> Evidence:
    return entry if isinstance(entry, Evidence) else Evidence(Span(*entry[:3]), *entry[3:])


def chunks_of(spans, returned=None) -> ChunkSet:
    table = np.array(spans, dtype=np.int64).reshape(-1, 3)
    back = table[:, 1:] if returned is None else np.array(returned, dtype=np.int64).reshape(-1, 2)
    return ChunkSet(table[:, 0], table[:, 1], table[:, 2], back[:, 0], back[:, 1])


def characters(text) -> Ruler:
    return Ruler(np.arange(len(text) + 1), np.arange(len(text) + 1))


def ranked(corpus: Corpus, chunks: ChunkSet, scores, depth=None, copies="any") -> tuple[Candidates, Relevance, Ranking]:
    """What an exact retriever gives for a table of scores (questions x chunks)."""
    candidates = candidates_of(corpus.documents, corpus.questions)
    relevance = relevant(corpus, chunks, candidates, copies=copies)
    rows, values, mean, m2, count = [], [], [], [], []
    probes: Probes = relevance.probes
    below, tied = np.zeros(len(probes.chunk), np.int64), np.zeros(len(probes.chunk), np.int64)
    table = np.asarray(scores, dtype=np.float64)
    for question in range(len(corpus.questions)):
        allowed = np.flatnonzero(candidates.documents[candidates.group[question]][chunks.doc])
        line = table[question, allowed]
        order = np.argsort(-line, kind="stable")[:depth]
        rows.append(allowed[order])
        values.append(line[order])
        count.append(len(line))
        mean.append(line.mean() if len(line) else np.nan)
        m2.append(((line - line.mean()) ** 2).sum() if len(line) else np.nan)
        for place in np.flatnonzero(probes.question == question):
            mine = table[question, probes.chunk[place]]
            below[place], tied[place] = (line < mine).sum(), (line == mine).sum()
    ranking = Ranking(
        np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64),
        np.concatenate([[], *rows]).astype(np.int64), np.concatenate([[], *values]), np.array(count, dtype=np.int64), np.array(mean), np.array(m2),
        probes, table[probes.question, probes.chunk], below, tied,
    )  # fmt: skip
    return candidates, relevance, ranking


def in_order(corpus: Corpus, chunks: ChunkSet, order, depth=None, copies="any"):
    """As `ranked`, from the wanted order of chunks of each question (chunks not named come after them)."""
    scores = np.zeros((len(corpus.questions), len(chunks)))
    for question, row in enumerate(order):
        for place, chunk in enumerate(row):
            scores[question, chunk] = 1 - place / 1000
    return ranked(corpus, chunks, scores, depth, copies)


def random_case(seed: int):
    """(corpus, chunks, rulers, scores, depth): few short documents, chunks that nest, overlap and share parents, labels with copies and filters."""
    dice = random.Random(seed)
    texts = ["".join(dice.choice("ab c\n") for _ in range(dice.randint(0, 40))) for _ in range(dice.randint(1, 3))]
    texts[0] += "xyz"
    spans = sorted({_span(dice, texts) for _ in range(dice.randint(1, 9))})
    returned = [(dice.randint(0, start), dice.randint(end, len(texts[doc]))) if dice.random() < 0.4 else (start, end) for doc, start, end in spans]
    if dice.random() < 0.5:
        returned = [(start - start % 10, max(end, min(len(texts[doc]), start - start % 10 + 10))) for doc, start, end in spans]
    questions = [([_answer(dice, texts) for _ in range(dice.choice([0, 1, 1, 2]))], _filter(dice, texts)) for _ in range(dice.randint(1, 4))]
    corpus = corpus_of(texts, questions)
    scores = np.array([[dice.choice([0.1, 0.2, 0.5, 0.7, 0.9]) for _ in spans] for _ in questions])
    return corpus, chunks_of(spans, returned), [_ruler(dice, text) for text in texts], scores, dice.choice([None, 2, 4])


def _span(dice, texts, longest=14):
    doc = dice.choice([number for number, text in enumerate(texts) if text])
    start = dice.randrange(len(texts[doc]))
    return doc, start, min(len(texts[doc]), start + dice.randint(1, longest))


def _answer(dice, texts):
    pieces = []
    for _ in range(dice.randint(1, 3)):
        span = _span(dice, texts, 5)
        while pieces and span[0] != pieces[0].span.doc and dice.random() < 0.7:
            span = _span(dice, texts, 5)
        if all(span[0] != other.span.doc or span[2] < other.span.start or other.span.end < span[1] for other in pieces):
            pieces.append(Evidence(Span(*span), dice.choice([None, "claim", "exception"]), _copies(texts, Span(*span))))
    return pieces


def _copies(texts, span):
    """Every other place of the same characters."""
    passage = texts[span.doc][span.start : span.end]
    places = [
        Span(doc, start, start + len(passage)) for doc, text in enumerate(texts) for start in range(len(text)) if text.startswith(passage, start)
    ]
    return tuple(place for place in places if place != span)


def _filter(dice, texts):
    return {"doc": [f"d{dice.randrange(len(texts))}", "d0"]} if dice.random() < 0.3 else {}


def _ruler(dice, text):
    cuts = [0, *(place for place in range(1, len(text)) if dice.random() < 0.5), *([len(text)] if text else [])]
    return Ruler(np.array(cuts), np.cumsum([0] + [dice.randint(1, 2) for _ in cuts[1:]]))


class Plain:
    """METRICS.md in plain loops over sets of characters, for one question."""

    def __init__(self, corpus, chunks, candidates, ranking, rulers, question, copies="any"):
        self.corpus, self.rulers, self.copies = corpus, rulers, copies
        self.answers = [answer.evidence for answer in corpus.questions[question].answers]
        allowed = candidates.documents[candidates.group[question]]
        columns = zip(*(c.tolist() for c in (chunks.doc, chunks.returned_start, chunks.returned_end)), strict=True)
        every = list(columns)
        self.chunks = [span for span in every if allowed[span[0]]]
        self.raw = [every[chunk] for chunk in ranking.chunk[ranking.indptr[question] : ranking.indptr[question + 1]]]
        self.order = list(dict.fromkeys(self.raw))
        self.multi = bool(self.answers) and all(len({piece.span.doc for piece in answer}) > 1 for answer in self.answers)

    def spots(self, piece):
        found = []
        for doc, start, end in (piece.span, *(piece.copies if self.copies == "any" else ())):
            inner = [place for place in range(start, end) if not self.corpus.documents[doc].text[place].isspace()]
            found.append((doc, inner[0], inner[-1] + 1) if inner else (doc, start, end))
        return found

    def holds(self, span, piece):
        return any(span[0] == doc and span[1] <= start and end <= span[2] for doc, start, end in self.spots(piece))

    def recall(self, spans):
        return max(sum(any(self.holds(span, piece) for span in spans) for piece in answer) / len(answer) for answer in self.answers)

    def complete(self, spans):
        return self.recall(spans) == 1

    def whole(self, span):
        return not self.multi and any(all(self.holds(span, piece) for piece in answer) for answer in self.answers)

    def size(self, span):
        ruler = self.rulers[span[0]]
        steps = zip(ruler.cuts[:-1].tolist(), ruler.cuts[1:].tolist(), np.diff(ruler.before).tolist(), strict=True)
        return sum(weight for start, end, weight in steps if start < span[2] and span[1] < end)

    def within(self, budget):
        """The spans that fit the budget, the last one cut."""
        out = []
        for doc, start, end in self.order:
            fits = [stop for stop in range(start + 1, end + 1) if self.size((doc, start, stop)) <= budget]
            if fits:
                out.append((doc, start, fits[-1]))
            budget -= self.size((doc, start, end))
            if budget <= 0:
                break
        return out

    def tokens_to_answer(self):
        longest = sum(map(self.size, self.order))
        return next((budget for budget in range(longest + 1) if self.complete(self.within(budget))), math.inf)

    def characters(self, spans):
        read = _letters(spans)
        rows = [(read & want, want, read) for want in (_letters(piece.span for piece in answer) for answer in self.answers)]
        precision = [len(both) / len(read) if read else 0 for both, _, read in rows]
        return max(len(both) / len(want) for both, want, _ in rows), max(precision), max(len(both) / len(want | read) for both, want, read in rows)

    def chroma(self, spans):
        read, summed = _letters(spans), sum(end - start for _, start, end in spans)
        rows = [(len(read & want), len(want)) for want in (_letters(piece.span for piece in answer) for answer in self.answers)]
        precision = max(both / summed if summed else 0 for both, _ in rows)
        return max(both / want for both, want in rows), precision, max(both / (summed + want - both) for both, want in rows)

    def omega(self):
        out = []
        for answer in self.answers:
            want = _letters(piece.span for piece in answer)
            near = _letters(s for s in self.chunks for p in answer if s[0] == p.span.doc and s[1] <= p.span.end and p.span.start <= s[2])
            out.append(len(want & near) / len(near | want))
        return max(out)

    def coverage(self):
        out = 0.0
        for answer in self.answers:
            length = sum(self.spots(piece)[0][2] - self.spots(piece)[0][1] for piece in answer)
            for span in set(self.chunks):
                out = max(out, sum(max(len(_letters([span]) & _letters([spot])) for spot in self.spots(piece)) for piece in answer) / length)
        return out

    def half(self, spans):
        some = any(self.holds(span, piece) for answer in self.answers for piece in answer for span in spans)
        return some and not self.complete(spans)

    def fate(self, spans):
        if not self.answers:
            return "unanswerable"
        if self.multi:
            return "multi-document"
        if self.complete(spans):
            return "in one chunk" if any(map(self.whole, spans)) else "assembled"
        return "ranking miss" if self.complete(self.chunks) else "chunking miss"

    def best_possible(self, read):
        """(spans, tokens) of the best order of the candidates, by trying every order of up to three."""
        spans = tokens = math.inf
        for length in (1, 2, 3):
            for order in itertools.permutations(sorted(set(self.chunks)), length):
                if self.complete(order):
                    spans = min(spans, length)
                    self.order = list(order)
                    tokens = min(tokens, read())
        return spans, tokens


def _letters(spans):
    return {(doc, place) for doc, start, end in spans for place in range(start, end)}
