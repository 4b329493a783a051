"""The cards: which cell to ship, half its size, and why others lost."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from harness.evaluation import Scoring
from harness.report.page.decision import Card, cards
from harness.sweep import Select, summarise
from harness.types import Cell, CellResult

METRIC = "complete_within_2048"


def result(right: int, size: int, *, strategy: str = "fixed", cost: float = 100.0, cut: int = 0, skip: int = 0) -> CellResult:
    """Of 100 questions `right` are answered, from number `skip` on; of the others the last `cut` are chunking misses."""
    values = ((np.arange(100) >= skip) & (np.arange(100) < skip + right)).astype(float)
    fates = np.where(values > 0, "in one chunk", np.where(np.arange(100) >= 100 - cut, "chunking miss", "ranking miss"))
    table = pd.DataFrame(
        {"id": [f"q{n}" for n in range(100)], METRIC: values, "attribution": fates, "document": range(100), "text_group": range(100)}
    )
    metrics: dict[str, Any] = {METRIC: right / 100, f"{METRIC}_low": right / 100 - 0.1, f"{METRIC}_high": right / 100 + 0.1}
    metrics |= {"context_tokens_at_5": cost, "storage_ratio": 1.0, "chunks": 9.0}
    cell = Cell(strategy, size, 0, "hashing", "dense", "tokens", f"{strategy} size={size}", {"size": size, "overlap": "0"})
    return CellResult(cell, f"{strategy} {size}", metrics, {METRIC: 100}, (), f"{strategy} {size}", table)


def dealt(*results: CellResult) -> list[Card]:
    return cards(summarise(results, Select(), Scoring(200)))


def test_a_clear_winner_its_half_and_why_the_runner_up_lost() -> None:
    ship, half, lost = dealt(result(90, 256), result(60, 128, cost=50.0, cut=25), result(40, 64))
    assert (ship.answer, half.asks, half.answer) == ("fixed size=256", "At half its size (128)", "-0.300")
    assert "complete within 2,048 tokens: .900 → .600" in half.lines[0]
    assert "a real difference" in half.lines[0]
    assert half.lines[1:] == ("30 questions lost, 0 gained", "100 → 50 context tokens for 5 chunks; 1.00 → 1.00 times the corpus stored")
    assert (lost.asks, lost.answer, lost.pair) == ("Why the runner-up lost", "fixed size=128", ("fixed 256", "fixed 128"))
    assert "more than chance explains" in lost.lines[0]
    assert (
        lost.lines[1] == "against the named cell it loses 30 questions (15 cut by its chunks, 15 whole in its chunks, but ranked too low) and wins 0"
    )


def test_the_named_cell_is_not_the_best_by_points() -> None:
    ship, half, best, behind = dealt(result(90, 256), result(88, 128, cost=50.0), result(40, 64))
    assert ship.answer == "fixed size=128"
    assert "the best, fixed size=256, has .900" in ship.lines[1]
    assert "cheapest of 2" in ship.lines[1]
    assert (best.asks, best.answer) == ("Why not the best by points", "fixed size=256")
    assert best.lines[0].startswith(".020 ahead of the named cell")
    assert best.lines[0].endswith("chance could explain that")
    assert (behind.asks, behind.answer, half.answer) == ("First that is really behind", "fixed size=64", "-0.480")


def test_half_the_size_is_of_the_same_kind_or_not_measured() -> None:
    _, half, *_ = dealt(result(90, 256), result(60, 128, strategy="recursive"))
    assert (half.answer, half.pair) == ("not measured", None)
    assert "size=128" in half.lines[0]


def test_a_half_may_be_a_little_off() -> None:
    _, half, *_ = dealt(result(90, 250), result(60, 128, cost=150.0))
    assert (half.asks, half.answer) == ("At half its size (128)", "-0.300")


def test_nothing_to_choose_between() -> None:
    assert dealt(result(90, 256)) == []
    assert dealt() == []
