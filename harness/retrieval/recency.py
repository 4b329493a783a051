"""Newer documents first, as far as one wants: relevance weighed against the age of the document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any

import numpy as np

from harness.errors import ConfigError, DataError
from harness.retrieval.around import Around, IndexAround
from harness.retrieval.base import Queries, Shelf
from harness.retrieval.orders import as_ranking, behind, best_first, check_number, check_text, check_whole, scaled
from harness.types import Candidates, Document, Floats, Probes, Ranking

_UNDERSTOOD = "a date (2026-03-01), a date with a time (2026-03-01T09:30:00+01:00), a month (2026-03) or a year (2026) would do"
_DAY = 86400.0


@dataclass(frozen=True)
class RecencyRetriever(Around):
    """Orders the first `depth` places of `first` anew by

        (1 - weight) * relevance + weight * 0.5 ** (age in days / half_life_days)

    where relevance is the score that `first` gave, made 0 to 1 over those places (min-max; all 1 where all are equal). So weight 0 leaves the order
    of `first`, and 1 puts the newest of them first. The age is counted from `today` (None: the newest date of the corpus) back to the date that the
    document's metadata has under `field`: 0 for later ones. A document without a date counts as one of median freshness (the median of that power
    over the documents that have a date), so it is neither helped nor held back.

    Dates: see `moment`. The best place keeps the score that `first` gave its best; the others fall from it as the sums above do. The rest of the
    ranking follows as it was. Statistics are NaN. Raises ConfigError for values that mean nothing and where no document has the field, DataError for
    a document whose date is not understood.
    """

    field: str = "date"
    half_life_days: float = 365.0
    today: str | int | None = None
    weight: float = 0.3
    depth: int = 100

    def __post_init__(self) -> None:
        super().__post_init__()
        check_text("field", self.field)
        check_number("half_life_days", self.half_life_days, 0, above=True)
        check_number("weight", self.weight, 0, 1)
        check_whole("depth", self.depth, 1)
        if self.today is not None and moment(self.today) is None:
            raise ConfigError("retriever.today", self.today, _UNDERSTOOD)

    def check_documents(self, documents: Sequence[Document]) -> None:
        """Raises ConfigError where no document has a date, DataError for one that is not understood."""
        super().check_documents(documents)
        freshness(documents, self.field, self.half_life_days, self.today)

    def build(self, shelf: Shelf) -> RecencyIndex:
        """The index of `first`, and how fresh the document of each chunk is."""
        fresh = freshness(shelf.documents, self.field, self.half_life_days, self.today)
        chunk_fresh = fresh[shelf.doc] if len(fresh) else np.ones(len(shelf.doc))
        return RecencyIndex(shelf.index(self.first), chunk_fresh, float(self.weight), self.depth)


@dataclass(eq=False)
class RecencyIndex(IndexAround):
    """The index within, the freshness of every chunk (0 to 1), and the parameters."""

    fresh: Floats
    weight: float
    depth: int

    def search(self, queries: Queries, candidates: Candidates, depth: int, probes: Probes) -> Ranking:
        """The first `depth` places. Costs, beside the inner search, a sort of its first places."""
        head, tail, found = self.parted(queries, candidates, depth, self.depth)
        value = (1.0 - self.weight) * scaled(head, 1.0) + self.weight * self.fresh[head.chunk]
        best = np.full(len(found), -np.inf)
        np.maximum.at(best, head.question, value)
        top = np.zeros(len(found))
        top[head.question[head.place == 0]] = head.score[head.place == 0]
        told = head._replace(score=top[head.question] + (value - best[head.question]))
        return as_ranking(behind(best_first(told), tail), found, depth, probes)


def freshness(documents: Sequence[Document], field: str, half_life_days: float, today: str | int | None) -> Floats:
    """0.5 ** (age / half life) of every document, 1 for the newest; the median of all that have a date for those that have none."""
    dates = np.array([_date_of(document, field) for document in documents], dtype=np.float64)
    dated = np.isfinite(dates)
    if not len(documents):
        return dates
    if not dated.any():
        raise ConfigError("retriever.field", field, f"no document has a date there; {_fields_of(documents)}")
    now = float(dates[dated].max()) if today is None else (moment(today) or 0.0)
    with np.errstate(over="ignore"):  # so many half lives that nothing is left
        fresh: Floats = 0.5 ** (np.maximum(now - dates, 0.0) / (half_life_days * _DAY))
    return np.where(dated, fresh, np.median(fresh[dated]))


def moment(value: Any) -> float | None:
    """Seconds from 1970 (UTC) of a date; None where it is not understood.

    ISO 8601: a date, a date with a time (without a zone: UTC), a month or a year (its first day; a year may be a number). `date` and `datetime` too.
    """
    text = str(value).strip() if isinstance(value, str | int | date) and not isinstance(value, bool) else ""
    if text.isdecimal() and len(text) == 4:
        text += "-01-01"
    elif len(text) == 7 and text[4] == "-":
        text += "-01"
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()


def _date_of(document: Document, field: str) -> float:
    value = document.metadata.get(field)
    if value is None or value == "":
        return np.nan
    found = moment(value)
    if found is None:
        raise DataError(document.id, f"metadata {field!r}: found {value!r}; {_UNDERSTOOD}")
    return found


def _fields_of(documents: Sequence[Document]) -> str:
    found: list[Mapping[str, Any]] = [document.metadata for document in documents]
    names = sorted({name for metadata in found for name in metadata})
    return f"one of {', '.join(names)} would do" if names else "their metadata is empty"
