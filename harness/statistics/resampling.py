"""Draws of questions for the bootstrap, in clusters where questions are not independent."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from harness.remembered import Last
from harness.types import Bools, Corpus, Ints, Question

RESAMPLES = 2000
SEED = 20261
FEWEST_CLUSTERS = 20
_BLOCK = 1 << 22
"""Weights held at a time (32 MiB in float64)."""
_KEPT = 1 << 24
"""Draws kept between calls (64 MiB in float32)."""
Counts = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Resampler:
    """Draws resamples of n questions as weights: how often each question is in the resample.

    `groups`: one or two columns (n,) of cluster numbers 0, 1, … One column: whole clusters are drawn with replacement (where every question is its
    own cluster, this is the ordinary bootstrap). Two: each column is drawn so, independently, and a question weighs the product of its two weights
    (the pigeonhole bootstrap: Owen 2007, "The pigeonhole bootstrap", Annals of Applied Statistics 1(2)). Its means spread too much, as what is left
    between question and cluster is counted three times, so they are drawn together to the two-way error (see `squared_errors`).
    The same resampler gives the same draws each time, so figures of one set of questions are comparable. `warning`: what to say beside intervals.
    """

    groups: tuple[Ints, ...]
    resamples: int = RESAMPLES
    seed: int = SEED
    warning: str | None = None

    def __len__(self) -> int:
        return len(self.groups[0])

    @property
    def clusters(self) -> int:
        """How many independent units there are: the smaller number of clusters where there are two columns."""
        return min(clusters_in(group) for group in self.groups)

    def among(self, kept: Bools) -> Resampler:
        """The resampler of the questions where `kept` (n,) is true; clusters that are left without a question are gone."""
        if kept.all():
            return self
        groups = tuple(np.unique(group[kept], return_inverse=True)[1].astype(np.int64) for group in self.groups)
        return Resampler(groups, self.resamples, self.seed, self.warning)

    def draws(self) -> Iterable[tuple[Counts, ...]]:
        """How often each cluster of each column is drawn, (rows, clusters) a column, in blocks of rows."""
        return _draws(self.seed, self.resamples, tuple(clusters_in(group) for group in self.groups), self._rows)

    @property
    def _rows(self) -> int:
        """Resamples in a block."""
        return max(1, _BLOCK // max(len(self), 1))

    def weights(self) -> Iterable[Counts]:
        """The weights (rows, n) of all resamples, in blocks of rows. The cells of a sweep share them, so they are kept where they are small."""
        if self.resamples * len(self) > _KEPT:
            return self._weights()
        return _last.of((self.seed, self.resamples, self._rows, *self.groups), lambda: list(self._weights()))

    def _weights(self) -> Iterator[Counts]:
        for blocks in self.draws():
            out = np.ones((len(blocks[0]), len(self)), dtype=np.float32)
            for group, drawn in zip(self.groups, blocks, strict=True):
                out *= drawn[:, group]
            yield out


_last: Last[list[Counts]] = Last()


def clusters_in(group: Ints) -> int:
    """How many clusters a column of cluster numbers has."""
    return int(group.max(initial=-1)) + 1


def _draws(seed: int, resamples: int, sizes: tuple[int, ...], rows: int) -> Iterable[tuple[Counts, ...]]:
    """Blocks of how often each cluster is drawn. The cells of a sweep share them, so they are kept where they are small."""
    drawing = _blocks(seed, resamples, sizes, rows)
    return _kept(seed, resamples, sizes, rows) if resamples * sum(sizes) <= _KEPT else drawing


@lru_cache(maxsize=2)
def _kept(seed: int, resamples: int, sizes: tuple[int, ...], rows: int) -> tuple[tuple[Counts, ...], ...]:
    return tuple(_blocks(seed, resamples, sizes, rows))


def _blocks(seed: int, resamples: int, sizes: tuple[int, ...], rows: int) -> Iterator[tuple[Counts, ...]]:
    random = np.random.default_rng(seed)
    for first in range(0, resamples, rows):
        yield tuple(_draw(random, min(rows, resamples - first), size) for size in sizes)


def _draw(random: np.random.Generator, rows: int, clusters: int) -> Counts:
    """How often each cluster is among `clusters` draws with replacement, (rows, clusters)."""
    drawn = random.integers(0, clusters, (rows, clusters)) + np.arange(rows)[:, None] * clusters
    return np.bincount(drawn.ravel(), minlength=rows * clusters).reshape(rows, clusters).astype(np.float32)


def resampler_of(corpus: Corpus, *, resamples: int = RESAMPLES, seed: int = SEED) -> Resampler:
    """The resampler that fits a corpus's questions.

    By document where the questions span at least 20 documents, else by question, with a warning. By document and by question text where at least
    half of the questions have a text that is also asked of another document. The document of a question is that of its first evidence; of an
    unanswerable question, the one that its filter names; a question without either is a cluster of its own.
    """
    numbers = {document.id: number for number, document in enumerate(corpus.documents)}
    documents = [document_of(question, numbers) for question in corpus.questions]
    return resampler(documents, [question.text for question in corpus.questions], resamples=resamples, seed=seed)


def document_of(question: Question, numbers: dict[str, int]) -> int | None:
    """The document that a question belongs to: that of its first evidence, or the one that its filter names; None where there is neither."""
    for answer in question.answers:
        for evidence in answer.evidence:
            return evidence.span.doc
    named = question.filter.get("doc")
    return numbers.get(named) if isinstance(named, str) else None


def resampler(documents: Sequence[int | None], texts: Sequence[str], *, resamples: int = RESAMPLES, seed: int = SEED) -> Resampler:
    """As `resampler_of`, from the document (None: of no document) and the text of each question."""
    known = len({document for document in documents if document is not None})
    if known < FEWEST_CLUSTERS:
        warning = f"questions span {known} documents, fewer than {FEWEST_CLUSTERS}: intervals take questions as independent and may be too narrow"
        return Resampler((np.arange(len(documents)),), resamples, seed, warning)
    alone = [("question", place) if document is None else ("document", document) for place, document in enumerate(documents)]
    by_document = _numbered(alone)
    asked_of: dict[str, set[object]] = {}
    for text, document in zip(texts, alone, strict=True):
        asked_of.setdefault(text, set()).add(document)
    repeated = sum(len(asked_of[text]) > 1 for text in texts)
    if 2 * repeated < len(texts):
        return Resampler((by_document,), resamples, seed)
    return Resampler((by_document, _numbered(texts)), resamples, seed)


def _numbered(labels: Sequence[object]) -> Ints:
    seen: dict[object, int] = {}
    return np.array([seen.setdefault(label, len(seen)) for label in labels], dtype=np.int64)
