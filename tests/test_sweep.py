"""From results to a verdict: winner, ties, the cheapest, the baseline, curves; and the figure drawn of them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest

from harness.curves import Curves, curves
from harness.errors import ConfigError
from harness.evaluation import Scoring, resampler_for
from harness.report.figures import size_discrimination
from harness.report.tables import full_leaderboard, leaderboard
from harness.sweep import Select, Summary, check_metric, summarise
from harness.types import Cell, CellResult

METRIC = "complete_within_2048"
QUESTIONS = 80


def made_up(
    values: Any,
    *,
    strategy: str = "recursive",
    size: int | None = 256,
    overlap: int | None = 0,
    typed: str = "0",
    embedder: str = "minilm",
    unit: str = "tokens",
    extras: str = "",
    chunks: str = "",
    cost: float = 500.0,
    storage: float = 1.0,
    more: dict[str, Any] | None = None,
    config: dict[str, Any] | None = None,
) -> CellResult:
    """A result whose value of each question is as given; every question in a document of its own."""
    values = np.asarray(values, dtype=np.float64)
    label = " ".join([strategy, *([f"size={size}", f"overlap={typed}"] if size else []), embedder, *([extras] if extras else [])])
    columns = {METRIC: values, "answer_existence": np.where(np.isnan(values), np.nan, 1.0), "discrimination": values + 1, **(more or {})}
    table = pd.DataFrame({**columns, "id": [f"q{n}" for n in range(len(values))], "document": range(len(values)), "text_group": range(len(values))})
    means = {name: float(np.nanmean(column)) if not np.isnan(column).all() else None for name, column in columns.items()}
    metrics = {**means, "context_tokens_at_5": cost, "storage_ratio": storage, "chunks": 10.0, "embedder_limit": 254.0, "truncated_token_share": 0.0}
    cell = Cell(strategy, size, overlap, embedder, "dense", unit, label, {"size": size, "overlap": typed, **(config or {})})
    return CellResult(cell, label, metrics, {METRIC: int((~np.isnan(values)).sum())}, (), chunks or label, table)


def hits(count: int, of: int = QUESTIONS) -> np.ndarray:
    """The first `count` questions answered."""
    return (np.arange(of) < count).astype(np.float64)


def summed(*results: CellResult, **select: Any) -> Summary:
    return summarise(results, Select(**select), Scoring(300))


def test_the_winner_is_the_best_mean_and_ties_are_told() -> None:
    summary = summed(made_up(hits(20), size=64), made_up(hits(70), size=128), made_up(hits(69), size=256))
    assert [item.result.cell.size for item in summary.standings] == [128, 256, 64]
    assert [item.tied for item in summary.standings] == [True, True, False]
    assert summary.winner is summary.standings[0]
    assert summary.winner.value == 70 / QUESTIONS
    assert summary.decided
    last = summary.standings[2]
    assert math.isclose(last.behind, 50 / QUESTIONS)
    assert 0 < last.behind_low < last.behind < last.behind_high
    assert last.p < 0.05


def test_the_cheapest_of_the_tied_is_named_by_context_tokens_then_storage() -> None:
    best, near = made_up(hits(70), size=128, cost=900), made_up(hits(69), size=64, cost=300, storage=1.4)
    same_cost = made_up(hits(68), size=32, cost=300.2, storage=1.1)
    far = made_up(hits(5), size=16, cost=1)
    summary = summed(best, near, same_cost, far)
    assert summary.cheapest is not None
    assert summary.cheapest.result is same_cost
    summary = summed(best, near, far)
    assert summary.cheapest is not None
    assert summary.cheapest.result is near


def test_of_equals_the_first_of_the_grid_wins() -> None:
    summary = summed(made_up(hits(40), size=64), made_up(hits(40), size=128))
    assert [item.result.cell.size for item in summary.standings] == [64, 128]
    assert summary.tied == summary.standings
    assert math.isnan(summary.detectable)


def test_the_baseline_is_found_by_what_its_overlap_comes_to() -> None:
    other = made_up(hits(70), size=128)
    for typed, overlap in (("10%", 51), ("51", 51)):
        usual = made_up(hits(40), size=512, overlap=overlap, typed=typed)
        summary = summed(other, usual)
        assert summary.baseline is not None
        assert summary.baseline.result is usual
        assert summary.baseline_gap is not None
        assert math.isclose(summary.baseline_gap.difference, 30 / QUESTIONS)
    assert summed(other, made_up(hits(40), size=512, overlap=50, typed="50")).baseline is None
    assert summed(other, made_up(hits(40), size=512, overlap=51, typed="10%", unit="chars")).baseline is None, "512 characters are no usual default"
    itself = summed(made_up(hits(70), size=512, overlap=51, typed="10%"), made_up(hits(5), size=64))
    assert itself.baseline is itself.cheapest
    assert itself.baseline_gap is None


def test_the_baseline_has_the_embedder_of_the_chosen_cell() -> None:
    usual = {"size": 512, "overlap": 51, "typed": "10%"}
    better, worse = made_up(hits(60), embedder="e5", **usual), made_up(hits(10), **usual)
    summary = summed(better, worse, made_up(hits(78), size=128))
    assert summary.cheapest is not None
    assert summary.cheapest.result.cell.embedder == "minilm"
    assert summary.baseline is not None
    assert summary.baseline.result is worse


def test_cells_that_cut_alike_are_not_ranked_against_each_other() -> None:
    alike = [made_up(hits(40), size=size, chunks="same") for size in (512, 1024)]
    assert not summed(*alike).decided
    summary = summed(*alike, made_up(hits(60), size=64))
    assert summary.decided
    assert summary.same_chunks == (tuple(result.cell.label for result in alike),)


def test_null_is_not_zero() -> None:
    unscored = made_up(np.full(QUESTIONS, np.nan), size=64)
    summary = summed(unscored, made_up(hits(3), size=128))
    assert [item.result.cell.size for item in summary.standings] == [128]
    assert "size=64" in summary.warnings[0]
    empty = summed(unscored)
    assert (empty.standings, empty.winner, empty.cheapest, empty.baseline) == ((), None, None, None)
    assert summed().standings == ()


def test_questions_undefined_in_one_cell_are_compared_where_both_are_defined() -> None:
    partly = hits(40)
    partly[60:] = np.nan
    summary = summed(made_up(partly, size=64), made_up(hits(40), size=128))
    assert {item.result.cell.size: round(item.value, 3) for item in summary.standings} == {64: round(40 / 60, 3), 128: 0.5}
    assert [round(item.behind, 9) for item in summary.standings] == [0, 0]


@pytest.mark.parametrize(
    ("metric", "told"),
    [("nope", "value for each question"), ("half_answer_rate_at_5", "better the higher"), ("unreached_share", "better the higher")],
)
def test_what_no_winner_can_be_chosen_by(metric: str, told: str) -> None:
    more = {name: hits(3) for name in ("half_answer_rate_at_5", "unreached_share")}
    with pytest.raises(ConfigError, match=told):
        summed(made_up(hits(3), more=more), metric=metric)
    with pytest.raises(ConfigError, match=r"--metric=.*complete_at_5 would do"):
        check_metric(metric, ["complete_at_5", *more], key="--metric")


def test_warnings_are_told_once_with_their_cells() -> None:
    from dataclasses import replace

    cells = [replace(made_up(hits(9), size=size), warnings=("few questions",)) for size in (1, 2, 3)]
    cells.append(replace(made_up(hits(9), size=4), warnings=("few questions", "odd")))
    lines = summed(*cells).warnings
    assert "few questions (every cell)" in lines
    assert "odd (recursive size=4 overlap=0 minilm)" in lines
    cut = [replace(cell, metrics={**cell.metrics, "truncated_token_share": 0.2}) for cell in cells]
    assert [line for line in summed(*cut).warnings if line.startswith("minilm reads 254 tokens") and line.endswith("and 1 more")]


def found_curves(*results: CellResult) -> list[Curves]:
    return curves(results, resampler_for(results[0].questions, Scoring(200)))


def test_curves_run_over_size_for_each_strategy_overlap_and_embedder() -> None:
    results = [made_up(hits(size), size=size, typed=typed, embedder=embedder) for size in (60, 20, 40) for typed in ("0", "10%") for embedder in "ab"]
    found = found_curves(*results, made_up(hits(5), strategy="document", size=None), made_up(hits(5), strategy="fixed"))
    assert {(curve.overlap, curve.embedder) for curve in found} == {("0", "a"), ("0", "b"), ("10%", "a"), ("10%", "b")}
    for curve in found:
        assert [point.size for point in curve.complete] == [20, 40, 60]
        assert [point.value for point in curve.complete] == [20 / QUESTIONS, 40 / QUESTIONS, 60 / QUESTIONS]
        assert all(point.low <= point.value <= point.high for point in curve.complete)
        assert curve.limit == 254


def test_what_else_was_swept_makes_another_curve() -> None:
    """Without it two cells of one size would take each other's place."""
    results = [
        made_up(hits(size + place), size=size, extras=f"keep_tail={tail}", config={"strategy": {"size": size, "keep_tail": tail}})
        for size in (20, 40)
        for place, tail in enumerate((True, False))
    ]
    found = found_curves(*results)
    assert [curve.strategy for curve in found] == ["recursive keep_tail=True", "recursive keep_tail=False"]
    assert [[point.value for point in curve.complete] for curve in found] == [[0.25, 0.5], [21 / QUESTIONS, 41 / QUESTIONS]]
    assert len({curve.name for curve in found}) == 2


def test_discrimination_is_compared_on_questions_that_all_able_sizes_answer() -> None:
    def with_discrimination(size: int, defined: slice, existence: float) -> CellResult:
        values = np.full(QUESTIONS, np.nan)
        values[defined] = size
        return made_up(hits(40), size=size, more={"discrimination": values, "answer_existence": hits(int(existence * QUESTIONS))})

    results = [with_discrimination(10, slice(0, 8), 0.1), with_discrimination(20, slice(0, 60), 0.7), with_discrimination(40, slice(20, 80), 0.9)]
    (curve,) = found_curves(*results)
    assert [(point.size, point.n) for point in curve.discrimination] == [(10, 0), (20, 40), (40, 40)], "little existence shrinks no set"
    assert math.isnan(curve.discrimination[0].value)
    assert [point.value for point in curve.discrimination[1:]] == [20, 40]


def test_a_curve_without_its_budget_has_no_points_there() -> None:
    results = [made_up(hits(size), size=size) for size in (20, 40)]
    for result in results:
        result.questions.drop(columns=METRIC, inplace=True)
    (curve,) = found_curves(*results)
    assert all(math.isnan(point.value) and point.n == 0 for point in curve.complete)


def test_the_figure_has_three_panels_and_leaves_nothing_behind() -> None:
    import matplotlib.pyplot as plt
    from matplotlib.figure import Figure

    mine = plt.figure()
    found = found_curves(*[made_up(hits(size), size=size, typed=typed) for size in (64, 128, 512) for typed in ("0", "10%")])
    figure = size_discrimination(found, "a title")
    assert isinstance(figure, Figure)
    assert len(figure.axes) == 3
    assert [len(panel.lines) for panel in figure.axes] == [2, 2, 2]
    assert plt.get_fignums() == [mine.number]
    plt.close(mine)


def test_the_whole_table_is_a_row_a_cell_best_first() -> None:
    summary = summed(made_up(hits(20), size=64), made_up(hits(70), size=128))
    frame = full_leaderboard(summary)
    assert frame["rank"].tolist() == [1, 2]
    assert frame["size"].tolist() == [128, 64]
    assert frame["tied"].tolist() == [True, False]
    assert frame[METRIC].tolist() == [70 / QUESTIONS, 20 / QUESTIONS]
    assert leaderboard(summary)[0][:2] == ["1*", "recursive size=128 overlap=0 minilm"]


def test_settings_of_the_retriever_are_something_to_choose_between() -> None:
    """Cells with the very same chunks that search them otherwise are ranked; only equal searches of equal chunks are told apart by nothing."""
    weights = [
        made_up(hits(60 + 5 * place), chunks="same", extras=f"retriever.weight={place}", config={"retriever": {"weight": place}})
        for place in range(3)
    ]
    summary = summed(*weights)
    assert summary.decided
    assert summary.same_chunks == ()
    assert summary.effects is not None
    assert [term.name for term in summary.effects.terms if term.share > 0.9] == ["retriever"]
    equal = [made_up(hits(60), chunks="same", size=size, config={"retriever": {"weight": 1}}) for size in (600, 700)]
    assert summed(*equal).same_chunks == (tuple(result.cell.label for result in equal),)


def test_the_baseline_is_searched_as_the_named_cell_is() -> None:
    cells = [
        made_up(
            hits(40 + 10 * weight + size // 100),
            size=size,
            typed="10%",
            overlap=size // 10,
            config={"retriever": {"weight": weight}},
            extras=f"weight={weight}",
        )
        for weight in (0, 1)
        for size in (128, 512)
    ]
    summary = summed(*cells)
    assert summary.baseline is not None
    assert summary.baseline.result.cell.retrieval == summary.cheapest.result.cell.retrieval
