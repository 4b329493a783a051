"""Which passages to label: spread over topics, documents and sections, rules with a qualifier first."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.cluster.vq import kmeans2

from harness.corpus.counts import evidence_of
from harness.embedding.hashing import HashingEmbedder
from harness.errors import ConfigError
from harness.importing.base import Progress, silent
from harness.importing.drafting.passages import Passage, passages
from harness.types import Document, Floats, Ints, Question

_CANDIDATES = 4000
_DOCUMENTS = 500
_RULES = 0.8


def draft(documents: Sequence[Document], questions: Sequence[Question], n: int, *, seed: int = 0, progress: Progress = silent) -> list[Passage]:
    """At most `n` passages of `documents`, in document order; none that touches the evidence of `questions`. The same for the same seed.

    Candidates (from at most 500 documents, drawn by the seed) are rules with a qualifier for four fifths of the draft, where there are so many, and
    plain sentences for the rest. Each kind falls into as many topics as are wanted of it: k-means over hashed words (Arthur and Vassilvitskii 2007,
    "k-means++"). Each topic in turn, small ones first, gives its best: from a document that is not above its share, from the document and then the
    section with fewest so far, nearest to the topic's middle. Raises ConfigError for n or seed out of range.
    """
    if n < 1:
        raise ConfigError("--n", n, "1 or more")
    if seed < 0:
        raise ConfigError("--seed", seed, "0 or more")
    candidates = list(_candidates(documents, questions, np.random.default_rng(seed), n, progress))
    if len(candidates) > n:
        progress("choosing", 0, 0)
        qualified = [it for it in candidates if it.qualifier]
        plain = [it for it in candidates if not it.qualifier]
        rules = min(len(qualified), max(math.ceil(_RULES * n), n - len(plain)))
        desk = _Desk(documents, seed, math.ceil(n / len({it.claim.doc for it in candidates})) + 1)
        candidates = [*desk.choose(qualified, rules), *desk.choose(plain, n - rules)]
    return sorted(candidates, key=lambda it: it.claim)


def _candidates(
    documents: Sequence[Document], questions: Sequence[Question], random: np.random.Generator, n: int, progress: Progress
) -> Iterator[Passage]:
    taken: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for evidence in evidence_of(questions):
        taken[evidence.span.doc].append((evidence.span.start, evidence.span.end))
    numbers = [number for number, document in enumerate(documents) if document.text.strip()]
    drawn = sorted(random.choice(numbers, min(len(numbers), max(_DOCUMENTS, n)), replace=False).tolist()) if numbers else []
    each = max(_CANDIDATES // max(len(drawn), 1), 8)
    for place, number in enumerate(drawn):
        progress("reading passages", place, len(drawn))
        yield from passages(number, documents[number], sorted(taken[number]), each)


@dataclass(slots=True)
class _Desk:
    """Chooses, and remembers how much each document and section has given; `share` is what a document should give at most."""

    documents: Sequence[Document]
    seed: int
    share: int
    by_document: Counter[int] = field(default_factory=Counter)
    by_section: Counter[tuple[int, str]] = field(default_factory=Counter)

    def choose(self, candidates: Sequence[Passage], n: int) -> list[Passage]:
        """`n` of the candidates, a topic at a time."""
        if len(candidates) <= n or not n:
            return [self._taken(it) for it in candidates[:n]]
        topics, distance = _topics([self._words(it) for it in candidates], n, self.seed)
        groups: dict[int, list[int]] = defaultdict(list)
        for place, topic in enumerate(topics.tolist()):
            groups[topic].append(place)
        chosen: list[Passage] = []
        while len(chosen) < n:
            for topic in sorted(groups, key=lambda it: (len(groups[it]), it))[: n - len(chosen)]:
                best = min(groups[topic], key=lambda place: self._order(candidates[place], float(distance[place])))
                groups[topic].remove(best)
                chosen.append(self._taken(candidates[best]))
            groups = {topic: places for topic, places in groups.items() if places}
        return chosen

    def _order(self, it: Passage, distance: float) -> tuple[bool, int, int, float]:
        given, here = self.by_document[it.claim.doc], self.by_section[it.claim.doc, it.section]
        return given >= self.share, given, here, distance

    def _taken(self, it: Passage) -> Passage:
        self.by_document[it.claim.doc] += 1
        self.by_section[it.claim.doc, it.section] += 1
        return it

    def _words(self, it: Passage) -> str:
        """What a passage is about: its section and its paragraph."""
        return f"{it.section} {self.documents[it.around.doc].text[it.around.start : it.around.end][:2000]}"


def _topics(texts: Sequence[str], n: int, seed: int) -> tuple[Ints, Floats]:
    """The topic of each text, 0 to n - 1, and its distance from the topic's middle."""
    vectors = HashingEmbedder(dim=128).embed(texts, "passage").vectors.astype(np.float64)
    vectors -= vectors.mean(axis=0)
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    middles, topic = kmeans2(vectors, min(n, len(texts)), iter=20, minit="++", rng=np.random.default_rng(seed), missing="warn")
    return topic.astype(np.int64), np.linalg.norm(vectors - middles[topic], axis=1)
