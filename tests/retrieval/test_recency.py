"""Relevance against age, by the formula written out, and which dates are understood."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

import numpy as np
import pytest
from retrieval_toys import NO_PROBES, Written, everything, lists, numbered, pool_of, ranked, shelf_of, some, written

from harness.errors import ConfigError, DataError
from harness.retrieval.recency import RecencyRetriever, freshness, moment
from harness.types import Document


def dated(*values: Any) -> tuple[Document, ...]:
    return tuple(Document(f"{number}.md", "", metadata={} if value is None else {"date": value}) for number, value in enumerate(values))


def weighed(order: list[int], scores: tuple[float, ...], fresh: list[float], weight: float, depth: int) -> list[int]:
    head = order[:depth]
    high, low = (scores[head[0]], scores[head[-1]]) if head else (0, 0)
    values = {chunk: (1 - weight) * ((scores[chunk] - low) / (high - low) if high > low else 1.0) + weight * fresh[chunk] for chunk in head}
    return sorted(head, key=lambda chunk: (-round(values[chunk], 12), chunk)) + order[depth:]


@pytest.mark.parametrize("weight", [0.0, 0.4, 1.0])
@pytest.mark.parametrize("depth", [1, 10, 100])
def test_it_is_its_formula(weight: float, depth: int) -> None:
    random = np.random.default_rng(depth)
    years = random.integers(2000, 2027, 30).tolist()
    documents = dated(*(None if number % 4 == 0 else f"{year}-01-01" for number, year in enumerate(years)))
    shelf, candidates, inner = shelf_of([""] * 30, documents=documents), some(random, 15, 30), written(random, 15, 30)
    ages = [None if number % 4 == 0 else (date(2026, 1, 1) - date(year, 1, 1)).days for number, year in enumerate(years)]
    middle = float(np.median([0.5 ** (age / 700) for age in ages if age is not None]))
    fresh = [middle if age is None else 0.5 ** (age / 700) for age in ages]
    before = ranked(inner, shelf, numbered(15), candidates)
    found = ranked(RecencyRetriever(inner, half_life_days=700, today="2026-01-01", weight=weight, depth=depth), shelf, numbered(15), candidates)
    assert found == [weighed(order, inner.scores[question], fresh, weight, depth) for question, order in enumerate(before)]
    if weight == 0:
        assert found == before
    elif depth > 1:
        assert found != [weighed(order, inner.scores[question], fresh[::-1], weight, depth) for question, order in enumerate(before)]
    assert all(sorted(order) == pool_of(shelf, candidates, question) for question, order in enumerate(found))


def test_all_the_weight_on_age_is_newest_first() -> None:
    shelf = shelf_of([""] * 4, documents=dated("2020-05-01", "2024-01-01", "2024-01-02T08:00:00", "2010"))
    ranking = RecencyRetriever(Written(((4.0, 3.0, 2.0, 1.0),)), weight=1).build(shelf).search(numbered(1), everything(1, 4), 4, NO_PROBES)
    assert lists(ranking) == [[2, 1, 0, 3]]
    assert ranking.score[0] == 4.0, "the best place keeps the best score"


def test_half_a_life_and_none() -> None:
    fresh = freshness(dated("2026-01-01", "2025-01-01", None, "2027-01-01"), "date", 365, "2026-01-01")
    assert fresh.tolist() == pytest.approx([1.0, 0.5, 1.0, 1.0])
    assert freshness(dated("2026-01-01", "2025-01-01", None), "date", 365, None).tolist() == pytest.approx([1.0, 0.5, 0.75])


@pytest.mark.parametrize(
    ("value", "same"),
    [
        ("2026-03-01", datetime(2026, 3, 1, tzinfo=UTC)),
        (" 20260301 ", datetime(2026, 3, 1, tzinfo=UTC)),
        ("2026-03-01T09:30:00+01:00", datetime(2026, 3, 1, 8, 30, tzinfo=UTC)),
        ("2026-03-01 09:30", datetime(2026, 3, 1, 9, 30, tzinfo=UTC)),
        ("2026-03-01T09:30:00Z", datetime(2026, 3, 1, 9, 30, tzinfo=UTC)),
        ("2026-03", datetime(2026, 3, 1, tzinfo=UTC)),
        ("2026", datetime(2026, 1, 1, tzinfo=UTC)),
        (2026, datetime(2026, 1, 1, tzinfo=UTC)),
        ("0800", datetime(800, 1, 1, tzinfo=UTC)),
        (date(2026, 3, 1), datetime(2026, 3, 1, tzinfo=UTC)),
        (datetime(2026, 3, 1, 9), datetime(2026, 3, 1, 9, tzinfo=UTC)),
        ("2026-W09-7", datetime(2026, 3, 1, tzinfo=UTC)),
    ],
)
def test_dates_that_are_understood(value: Any, same: datetime) -> None:
    assert moment(value) == same.timestamp()


@pytest.mark.parametrize("value", ["1 March 2026", "01/03/2026", "2026-13-01", "", "soon", True, 2026.5, None, ["2026"], 12, "২০২৬-০৩-০১"])
def test_dates_that_are_not(value: Any) -> None:
    assert moment(value) is None


def test_a_date_that_is_not_understood_names_its_document() -> None:
    with pytest.raises(DataError, match=r"1\.md: metadata 'date': found '01/03/2026'; a date \(2026-03-01\)"):
        RecencyRetriever(Written(())).build(shelf_of(["", ""], documents=dated("2026", "01/03/2026")))


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"half_life_days": 0}, r"half_life_days=0: a number above 0 would do"),
        ({"weight": 3}, r"weight=3: a number from 0 to 1 would do"),
        ({"today": "tomorrow"}, r"retriever\.today=tomorrow: a date \(2026-03-01\)"),
        ({"field": "published"}, r"retriever\.field=published: no document has a date there; one of date would do"),
    ],
)
def test_values_that_mean_nothing_are_refused(settings: dict[str, Any], problem: str) -> None:
    with pytest.raises(ConfigError, match=problem):
        RecencyRetriever(Written(()), **settings).build(shelf_of([""], documents=dated("2026")))
