"""Limits, Pareto front and knee."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.choosing import Limit, broken_limits, front, knee, pareto
from harness.errors import ConfigError
from harness.types import Cell, CellResult


def cell(name: str, quality: float | None, tokens: float, storage: float = 1.0, embedding: float = 100.0) -> CellResult:
    metrics = {"quality": quality, "context_tokens_at_5": tokens, "storage_ratio": storage, "embedding_tokens": embedding}
    return CellResult(Cell(name, 1, 0, "e", "r", "u", name), name, metrics, {}, (), name, pd.DataFrame())


def labels(cells: list[CellResult]) -> list[str]:
    return [result.cell.label for result in cells]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(*[st.integers(0, 4)] * 3), min_size=1, max_size=12))
def test_the_front_is_what_no_other_beats(rows: list[tuple[int, int, int]]) -> None:
    found = pareto(np.array(rows, dtype=np.float64))
    for mine, kept in zip(rows, found, strict=True):
        beaten = any(all(a >= b for a, b in zip(other, mine, strict=True)) and other != mine for other in rows)
        assert kept == (not beaten)


def test_the_front_weighs_quality_against_every_cost() -> None:
    cells = [cell("best", 0.9, 900), cell("cheap", 0.5, 100), cell("beaten", 0.5, 200), cell("lean", 0.4, 900, storage=0.5), cell("null", None, 1)]
    assert labels(front(cells, "quality")) == ["best", "cheap", "lean"]


def test_the_knee_is_where_more_tokens_stop_paying() -> None:
    cells = [cell("a", 0.2, 100), cell("b", 0.8, 200), cell("c", 0.85, 800), cell("d", 0.9, 1600)]
    found = knee(cells, "quality")
    assert found is not None
    assert found.cell.label == "b"
    assert knee(cells[:2], "quality") is None


def test_limits_say_what_they_found() -> None:
    limits = [Limit("storage_ratio", 1.3, at_most=True), Limit("quality", 0.6, at_most=False)]
    assert broken_limits(cell("ok", 0.6, 1, storage=1.3), limits) == []
    assert broken_limits(cell("bad", 0.5, 1, storage=1.5), limits) == [
        "storage_ratio is 1.5, over the limit 1.3",
        "quality is 0.5, under the limit 0.6",
    ]
    assert broken_limits(cell("null", None, 1), limits) == ["quality is null, under the limit 0.6"]
    with pytest.raises(ConfigError, match="no metric of this name"):
        broken_limits(cell("x", 1, 1), [Limit("nope", 1, at_most=True)])
