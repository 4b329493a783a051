"""Which passages to label: spread over topics, documents and sections, rules with a qualifier first."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

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


def draft(documents: Sequence[Document], questions: Sequence[Question], n: int, *, seed: int = 0, progress: Progress = silent) -> list[Passage]:
    """At most `n` passages of `documents`, in document order; none that touches the evidence of `questions`. The same for the same seed.

    Candidates (from at most 500 documents, drawn by the seed) fall into n topics: k-means over hashed words (Arthur and Vassilvitskii 2007,
    "k-means++"), each topic gives in turn its best candidate: from a document that is not one above its share, with a qualifier, from the document
    and then the section with fewest so far, nearest to the topic's middle. Raises ConfigError for n or seed out of range.
    """
    if n < 1:
        raise ConfigError("--n", n, "1 or more")
    if seed < 0:
        raise ConfigError("--seed", seed, "0 or more")
    candidates = list(_candidates(documents, questions, np.random.default_rng(seed), n, progress))
    if len(candidates) > n:
        progress("choosing", 0, 0)
        topics, distance = _topics([_words(documents, it) for it in candidates], n, seed)
        candidates = _chosen(candidates, topics, distance, n)
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


def _words(documents: Sequence[Document], passage: Passage) -> str:
    """What a passage is about: its section and its paragraph."""
    text = documents[passage.around.doc].text
    return f"{passage.section} {text[passage.around.start : passage.around.end][:2000]}"


def _topics(texts: Sequence[str], n: int, seed: int) -> tuple[Ints, Floats]:
    """The topic of each text, 0 to n - 1, and its distance from the topic's middle."""
    vectors = HashingEmbedder(dim=128).embed(texts, "passage").vectors.astype(np.float64)
    vectors -= vectors.mean(axis=0)
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    middles, topic = kmeans2(vectors, min(n, len(texts)), iter=20, minit="++", rng=np.random.default_rng(seed), missing="warn")
    return topic.astype(np.int64), np.linalg.norm(vectors - middles[topic], axis=1)


def _chosen(candidates: Sequence[Passage], topics: Ints, distance: Floats, n: int) -> list[Passage]:
    groups: dict[int, list[int]] = defaultdict(list)
    for place, topic in enumerate(topics.tolist()):
        groups[topic].append(place)
    share = math.ceil(n / len({it.claim.doc for it in candidates})) + 1
    by_document: Counter[int] = Counter()
    by_section: Counter[tuple[int, str]] = Counter()

    def order(place: int) -> tuple[bool, bool, int, int, float]:
        it = candidates[place]
        document, section = by_document[it.claim.doc], by_section[it.claim.doc, it.section]
        return document >= share, it.qualifier is None, document, section, float(distance[place])

    chosen: list[Passage] = []
    while len(chosen) < n and groups:
        for topic in sorted(groups, key=lambda it: (len(groups[it]), it)):
            best = min(groups[topic], key=order)
            groups[topic].remove(best)
            if not groups[topic]:
                del groups[topic]
            it = candidates[best]
            by_document[it.claim.doc] += 1
            by_section[it.claim.doc, it.section] += 1
            chosen.append(it)
            if len(chosen) == n:
                break
    return chosen
