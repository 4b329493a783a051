"""What a sweep will cost at most, said before it begins, for embedders whose price is known."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness.embedding.base import priced
from harness.planned import Planned
from harness.types import Corpus
from harness.units import measure_all

_MILLION = 1e6


def price_tags(corpus: Corpus, plans: Sequence[Planned]) -> Iterator[str]:
    """One line for each embedder with a price: tokens of all chunks and questions of its cells, and what they cost.

    An estimate from above: the documents' tokens x size / (size - overlap) for each cell that is not another's twin. What a cache holds and what
    cells have in common costs nothing; what is put before chunks (`context`) is not counted.
    """
    by_embedder: dict[str, dict[str, Planned]] = {}
    for plan in plans:
        by_embedder.setdefault(plan.experiment.embedder.identity, {})[plan.ranking_key] = plan
    for cells in by_embedder.values():
        embedder = next(iter(cells.values())).experiment.embedder
        asked = priced(embedder)
        if asked is None or not asked.price_per_million_tokens:
            continue
        documents = sum(ruler.total for ruler in measure_all(embedder.unit, corpus.documents))
        questions = sum(embedder.unit.measure(text).total for text in {question.text for question in corpus.questions})
        tokens = sum(documents * _stored(plan) for plan in cells.values()) + questions
        cost = tokens * asked.price_per_million_tokens / _MILLION
        many = f"{tokens / _MILLION:,.1f} million" if tokens >= _MILLION else f"{tokens:,.0f}"
        yield f"{embedder.name}: about {many} tokens to embed, about ${cost:,.{2 if cost >= 1 else 4}f}, less what the cache holds"


def _stored(plan: Planned) -> float:
    """How often a character of the documents is embedded."""
    size, overlap = plan.cell.size, plan.cell.overlap
    return 1.0 if not size or overlap is None else size / (size - overlap)
