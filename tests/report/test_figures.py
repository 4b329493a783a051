"""Figures: drawn from real small sweeps and from next to nothing; the same bytes each time; fit for a page; nothing left behind."""

from __future__ import annotations

import itertools
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from front_cases import experiment_on, planned, small_corpus
from matplotlib import rcParams
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from harness.chunking.fixed import FixedChunker
from harness.chunking.sentence import SentenceChunker
from harness.curves import column
from harness.evaluation import Scoring, evaluate, resampler_for
from harness.experiment import retrieve
from harness.report import figures
from harness.report.figures.placing import label_right, spread
from harness.report.figures.style import on_field
from harness.report.figures.words import axis_label, short_labels
from harness.report.tables import number
from harness.statistics.paired import Paired, paired
from harness.sweep import Select, Summary, summarise
from harness.types import CellResult

SCORING = Scoring(60)
METRIC = "complete_within_2048"


@dataclass(frozen=True)
class Effect:
    name: str
    share: float
    low: float
    high: float


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> list[CellResult]:
    """Two strategies, three sizes, two overlaps; one combination is missing."""
    corpus, found = small_corpus(tmp_path_factory.mktemp("harbour"), documents=4, sections=3), []
    for kind in (FixedChunker, SentenceChunker):
        for size, overlap in ((12, 0), (24, 0), (48, 0), (24, 6), (48, 12)):
            experiment = experiment_on(corpus, kind(size, overlap), budgets=(60, 2048))
            plan = planned(experiment, scoring=SCORING)
            retrieved = retrieve(experiment, lambda name: None, lambda done, total: None)
            found.append(evaluate(experiment, retrieved, SCORING, plan.cell, plan.key))
    return found


@pytest.fixture(scope="module")
def summary(results: list[CellResult]) -> Summary:
    return summarise(results, Select("complete_within_60"), SCORING)


@pytest.fixture(scope="module")
def nothing() -> Summary:
    return summarise([], Select(), SCORING)


def asked(results: list[CellResult]) -> pd.DataFrame:
    columns = ["attribution", "multi_document", "complete_at_5"]
    parts = [result.questions[columns].assign(cell=result.cell.label) for result in results]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()


def gap_between(first: CellResult, second: CellResult) -> Paired:
    return paired(column(first, METRIC), column(second, METRIC), resampler_for(first.questions, SCORING), flips=200)


EFFECTS = (Effect("size", 0.25, 0.1, 0.4), Effect("strategy", 0.5, 0.3, 0.7), Effect("strategy x size", 0.125, np.nan, np.nan))
DRAW: dict[str, Callable[[Summary, list[CellResult]], Figure]] = {
    "size_discrimination": lambda summary, cells: figures.size_discrimination(summary.curves, "harbour"),
    "leaderboard_forest": lambda summary, cells: figures.leaderboard_forest(summary),
    "size_overlap_heatmap": lambda summary, cells: figures.size_overlap_heatmap(summary),
    "quality_against_context": lambda summary, cells: figures.quality_against_context(summary),
    "where_questions_are_lost": lambda summary, cells: figures.where_questions_are_lost(asked(cells)),
    "axis_effects": lambda summary, cells: figures.axis_effects(EFFECTS if len(cells) > 1 else (), METRIC),
    "axis_levels": lambda summary, cells: figures.axis_levels(summary, SCORING),
    "cost": lambda summary, cells: figures.cost(summary),
    "refusal_curve": lambda summary, cells: figures.refusal_curve(cells),
    "chunk_sizes": lambda summary, cells: figures.chunk_sizes(cells),
}
every_figure = pytest.mark.parametrize("draw", DRAW.values(), ids=DRAW)


@pytest.fixture(scope="module", params=DRAW)
def picture(request: pytest.FixtureRequest, summary: Summary, results: list[CellResult]) -> tuple[str, Figure]:
    """Each figure, drawn once, with its name."""
    return request.param, DRAW[request.param](summary, results)


def words(figure: Figure) -> str:
    return "\n".join(text.get_text() for text in figure.findobj(Text))


@every_figure
def test_it_says_something_and_leaves_nothing_behind(draw: Callable[..., Figure], summary: Summary, results: list[CellResult]) -> None:
    import matplotlib.pyplot as plt

    before = dict(rcParams)
    figure = draw(summary, results)
    assert figure.get_suptitle()
    assert figure.axes
    assert plt.get_fignums() == []
    assert dict(rcParams) == before


def boxes_of(figure: Figure) -> list[tuple[str, Bbox]]:
    """Every text that is drawn, with its place; ticks beyond the ends of their axis are not drawn."""
    figure.draw_without_rendering()  # a legend has no place before
    unseen = set()
    for axis in itertools.chain.from_iterable((panel.xaxis, panel.yaxis) for panel in figure.axes):
        low, high = sorted(axis.get_view_interval())
        unseen |= {tick.label1 for tick in axis.get_major_ticks() if not low <= tick.get_loc() <= high or not axis.axes.get_visible()}
    texts = [text for text in figure.findobj(Text) if text not in unseen and text.get_visible() and text.get_text().strip()]
    return [(text.get_text(), Text.get_window_extent(text)) for text in texts]


def collisions(figure: Figure) -> list[tuple[str, str]]:
    """Pairs of texts that lie on each other by more than a pixel."""
    boxes = [(text, box.padded(-1)) for text, box in boxes_of(figure)]
    return [(one, other) for (one, first), (other, second) in itertools.combinations(boxes, 2) if first.overlaps(second)]


def test_no_text_leaves_the_page_or_lies_on_another(picture: tuple[str, Figure]) -> None:
    _, figure = picture
    page = figure.bbox.padded(1)
    outside = [text for text, box in boxes_of(figure) if not (page.contains(*box.min) and page.contains(*box.max))]
    assert outside == []
    assert collisions(figure) == []


def test_the_same_figure_is_the_same_svg(picture: tuple[str, Figure], summary: Summary, results: list[CellResult]) -> None:
    name, figure = picture
    first = figures.to_svg(figure)
    assert first == figures.to_svg(figure), "saving again moves nothing"
    assert first == figures.to_svg(DRAW[name](summary, results))
    assert "dc:date" not in first
    ElementTree.fromstring(first)
    assert "<text" in first, "text is text"


@pytest.mark.parametrize("own", ["figure.constrained_layout.use", "figure.autolayout"])
def test_saving_draws_once_whatever_ones_own_settings_say(own: str, summary: Summary, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn, draw = [], Figure.draw
    monkeypatch.setattr(Figure, "draw", lambda figure, renderer: drawn.append(figure) or draw(figure, renderer))
    plain = figures.to_svg(figures.cost(summary))
    monkeypatch.setitem(rcParams, own, True)
    figure = figures.cost(summary)
    drawn.clear()
    assert figures.to_svg(figure) == plain
    assert drawn == [figure]


@every_figure
def test_one_cell_and_no_cell(draw: Callable[..., Figure], nothing: Summary, results: list[CellResult]) -> None:
    one = draw(summarise(results[:1], Select("complete_within_60"), SCORING), results[:1])
    none = draw(nothing, [])
    for figure in (one, none):
        assert words(figure).strip()
        assert figures.to_svg(figure)
    assert not none.axes, "a figure of nothing says so in words"


@every_figure
def test_sixty_cells_are_legible(draw: Callable[..., Figure], summary: Summary, results: list[CellResult]) -> None:
    many = tuple(
        replace(
            item,
            result=replace(item.result, key=f"{item.result.key}{copy}", cell=replace(item.result.cell, label=f"{item.result.cell.label} k={copy}")),
        )
        for copy in range(6)
        for item in summary.standings
    )
    figure = draw(replace(summary, standings=many), [item.result for item in many])
    assert collisions(figure) == []


def test_on_a_page_it_takes_the_pages_colour_and_clashes_with_no_other(picture: tuple[str, Figure]) -> None:
    _, figure = picture
    drawing = figures.svg_for_page(figure)
    assert drawing.startswith("<svg ")
    assert drawing.endswith("</svg>")
    assert "#000000" not in drawing
    assert "currentColor" in drawing
    assert "<style" not in drawing, "it would reach the whole page"
    ids = re.findall(r'\bid="([^"]+)"', drawing)
    assert len(ids) == len(set(ids))
    assert set(re.findall(r"url\(#([^)]+)\)", drawing)) | set(re.findall(r'href="#([^"]+)"', drawing)) <= set(ids)
    other = figures.svg_for_page(figures.axis_effects(EFFECTS[:2], METRIC))
    assert not set(ids) & set(re.findall(r'\bid="([^"]+)"', other))
    named = figures.svg_for_page(figure, name="here")
    assert all(name.startswith("here-") for name in re.findall(r'\bid="([^"]+)"', named))


def test_files_are_written_and_do_not_depend_on_the_process(tmp_path: Path) -> None:
    figure = figures.axis_effects(EFFECTS, METRIC)
    paths = figures.save(figure, tmp_path / "new", "effects")
    assert [path.name for path in paths] == ["effects.png", "effects.svg", "effects.pdf"]
    assert [path.read_bytes()[:4] for path in paths] == [b"\x89PNG", b"<?xm", b"%PDF"]
    code = """
from pathlib import Path
from types import SimpleNamespace
from harness.report import figures
rows = (("size", .25, .1, .4), ("strategy", .5, .3, .7), ("strategy x size", .125, float("nan"), float("nan")))
figure = figures.axis_effects([SimpleNamespace(name=n, share=s, low=l, high=h) for n, s, l, h in rows], "complete_within_2048")
figures.save(figure, Path("."), "effects")
"""
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True, env={"PYTHONPATH": str(Path(__file__).parents[2]), "PYTHONHASHSEED": "7"})
    for path in paths:
        assert path.read_bytes() == (tmp_path / path.name).read_bytes()


def test_names_in_any_script_and_with_any_sign(summary: Summary) -> None:
    odd = [f'規程 <b>&"{place}" size={place} $x$ {"w" * 90} {place}' for place in range(len(summary.standings))]
    items = tuple(
        replace(item, result=replace(item.result, cell=replace(item.result.cell, label=label)))
        for item, label in zip(summary.standings, odd, strict=True)
    )
    drawing = figures.svg_for_page(figures.leaderboard_forest(replace(summary, standings=items)))
    told = "".join(ElementTree.fromstring(drawing).itertext())
    assert "規程 <b>&" in told
    assert "$" in told
    assert "<b>" not in drawing


def test_the_forest_draws_its_table(summary: Summary) -> None:
    table = figures.leaderboard_forest_table(summary)
    said = words(figures.leaderboard_forest(summary))
    assert table["cell"].tolist() == [item.result.cell.label for item in summary.standings]
    for value, low, high in zip(table["complete_within_60"], table["low"], table["high"], strict=True):
        assert f"{number(value, 3)} [{number(low, 3)}, {number(high, 3)}]" in said
    assert table["mark"].str.startswith("1").tolist() == [True] + [False] * 9
    assert set(table["n"]) == {summary.questions}
    usual = replace(summary, baseline=summary.standings[3])
    assert figures.leaderboard_forest_table(usual)["baseline"].tolist().index(True) == 3
    assert "usual default" in words(figures.leaderboard_forest(usual))
    broken = replace(summary, standings=(*summary.standings[:-1], replace(summary.standings[-1], broken=("storage over 1",), tied=False)))
    assert "over a limit" in words(figures.leaderboard_forest(broken))


def test_the_heat_map_prints_each_field_and_hatches_what_is_missing(summary: Summary) -> None:
    table = figures.size_overlap_heatmap_table(summary)
    assert len(table) == 10
    figure = figures.size_overlap_heatmap(summary)
    said = words(figure)
    assert all(number(value, 3) in said for value in table["complete_within_60"])
    hatched = [patch for panel in figure.axes for patch in panel.patches if patch.get_hatch()]
    assert len(hatched) == 2 * 3 * 3 - 10
    sizeless = replace(summary.standings[0].result, cell=replace(summary.standings[0].result.cell, size=None, label="document hashing"))
    mixed = replace(summary, standings=(replace(summary.standings[0], result=sizeless), *summary.standings[1:]))
    assert "document hashing" in words(figures.size_overlap_heatmap(mixed))
    assert not figures.size_overlap_heatmap(replace(summary, standings=mixed.standings[:1])).axes


def test_quality_against_context_marks_the_front_it_is_given(summary: Summary) -> None:
    front = {summary.standings[2].result.key, summary.standings[5].result.key}
    table = figures.quality_against_context_table(summary, front, summary.standings[5].result.key)
    assert table["front"].tolist() == [place in (2, 5) for place in range(10)]
    assert "knee" in table["role"].iloc[5]
    assert "best" in table["role"].iloc[0]
    figure = figures.quality_against_context(summary, front, summary.standings[5].result.key)
    drawn = {(x, y) for line in figure.axes[0].lines if line.get_marker() not in ("None", None, "") for x, y in line.get_xydata().tolist()}
    assert {(row.context_tokens_at_5, row.value) for row in table.itertuples()} <= drawn
    assert "(knee)" in words(figure)
    assert figures.quality_against_context_table(summary)["front"].sum() == len(summary.front)


def test_fates_are_shares_of_the_questions_of_one_document(results: list[CellResult]) -> None:
    table = figures.where_questions_are_lost_table(asked(results))
    for row, result in zip(table.itertuples(index=False), results, strict=True):
        fates = result.questions["attribution"]
        one = fates[~fates.isin(["unanswerable", "multi-document"])]
        assert row.n == len(one)
        assert row[1:5] == tuple((one == fate).mean() for fate in ("in one chunk", "assembled", "ranking miss", "chunking miss"))
    bars = figures.where_questions_are_lost(asked(results)).axes[0].patches
    assert np.allclose([bar.get_width() for bar in bars], table[list(table.columns[1:5])].to_numpy().T.ravel())


def test_questions_over_several_documents_stand_apart() -> None:
    rows = [
        ("a", "in one chunk", False, 1.0),
        ("a", "multi-document", True, 1.0),
        ("a", "multi-document", True, 0.0),
        ("b", "multi-document", True, 1.0),
    ]
    questions = pd.DataFrame(rows, columns=["cell", "attribution", "multi_document", "complete_at_5"])
    table = figures.where_questions_are_lost_table(questions)
    assert table["multi_document_complete"].tolist() == [0.5, 1.0]
    assert table["n"].tolist() == [1, 0]
    assert len(figures.where_questions_are_lost(questions).axes) == 2
    assert len(figures.where_questions_are_lost(questions[:1]).axes) == 1
    assert not figures.where_questions_are_lost(questions[:1].assign(attribution="unanswerable")).axes


def test_effects_are_drawn_largest_first() -> None:
    table = figures.axis_effects_table(EFFECTS)
    assert table["effect"].tolist() == ["strategy", "size", "strategy x size"]
    figure = figures.axis_effects(EFFECTS, METRIC)
    assert [bar.get_width() for bar in figure.axes[0].patches] == [0.5, 0.25, 0.125]
    assert [bool(bar.get_hatch()) for bar in figure.axes[0].patches] == [False, False, True]
    assert figure.get_suptitle().startswith("strategy explains .50")
    assert not figures.axis_effects([Effect("size", np.nan, np.nan, np.nan)], METRIC).axes


def test_levels_are_means_over_their_cells(summary: Summary) -> None:
    table = figures.axis_levels_table(summary, SCORING).set_index(["axis", "level"])
    assert table.index.get_level_values(0).unique().tolist() == ["strategy", "size", "overlap"]
    assert table.loc["size"].index.tolist() == ["12", "24", "48"]
    of_24 = [item.value for item in summary.standings if item.result.cell.size == 24]
    assert table.loc[("size", "24"), "mean"] == pytest.approx(np.mean(of_24))
    assert table.loc[("size", "24"), "cells"] == 4
    assert (table["low"] <= table["mean"]).all()
    assert (table["mean"] <= table["high"]).all()
    said = words(figures.axis_levels(summary, SCORING))
    assert all(number(mean, 3) in said for mean in table["mean"])


def test_cost_draws_what_was_measured_and_says_what_was_not(summary: Summary) -> None:
    table = figures.cost_table(summary)
    figure = figures.cost(summary)
    for panel, name in zip(figure.axes, ("storage_ratio", "embedding_tokens", "chunks"), strict=True):
        assert [bar.get_width() for bar in panel.patches] == table[name].tolist()
    first = summary.standings[0]
    lacking = replace(first, result=replace(first.result, metrics={**first.result.metrics, "embedding_tokens": None}))
    assert words(figures.cost(replace(summary, standings=(lacking, *summary.standings[1:])))).count("not measured") == 1


def test_two_cells_are_compared_question_by_question(results: list[CellResult]) -> None:
    first, second = results[0], results[4]
    ours, theirs = column(first, METRIC), column(second, METRIC)
    gap = gap_between(first, second)
    table = figures.compare_cells_table(first, second, gap, METRIC).set_index("what")
    assert table["questions"].tolist()[1:3] == [int((ours > theirs).sum()), int((ours < theirs).sum())]
    assert table["questions"].iloc[:4].sum() == gap.n == table["questions"].iloc[4]
    assert table.loc["first - second", "value"] == gap.difference
    figure = figures.compare_cells(first, second, gap, METRIC)
    assert [bar.get_width() for bar in figure.axes[0].patches] == table["questions"].tolist()[:4]
    assert figures.to_svg(figure) == figures.to_svg(figures.compare_cells(first, second, gap, METRIC))
    shuffled = replace(second, questions=second.questions.iloc[::-1])
    assert figures.compare_cells_table(first, shuffled, gap, METRIC).equals(figures.compare_cells_table(first, second, gap, METRIC))
    long = [
        replace(cell, cell=replace(cell.cell, label=f"{'recursive ' * 4}size={place} minilm k={place}")) for place, cell in enumerate((first, second))
    ]
    for drawn in (figure, figures.compare_cells(*long, gap, METRIC)):
        assert collisions(drawn) == []
    assert "equally well" in words(figures.compare_cells(first, first, gap_between(first, first), METRIC))
    assert not figures.compare_cells(first, second, Paired(np.nan, np.nan, np.nan, 1.0, 0), METRIC).axes


def test_the_refusal_curve_falls(results: list[CellResult]) -> None:
    table = figures.refusal_curve_table(results)
    assert table["cell"].nunique() == 5, "the first five"
    for _, curve in table.groupby("cell"):
        assert curve["floor"].is_monotonic_increasing
        assert curve["complete_kept"].is_monotonic_decreasing
        assert curve["unanswerable_refused"].is_monotonic_increasing
    figure = figures.refusal_curve(results)
    line = figure.axes[0].lines[0]
    assert line.get_xdata()[:-1].tolist() == table[table["cell"] == results[0].cell.label]["unanswerable_refused"].tolist()
    assert "5 more cells" in words(figure)
    answered = [replace(result, questions=result.questions[result.questions["answerable"]]) for result in results[:2]]
    assert not figures.refusal_curve(answered).axes


def test_chunk_sizes_draw_the_histogram_and_the_limit(results: list[CellResult]) -> None:
    table = figures.chunk_sizes_table(results)
    assert table["cell"].nunique() == 6
    first = table[table["cell"] == results[0].cell.label]
    assert first["chunks"].tolist() == list(results[0].histogram["counts"])
    assert first["share"].sum() == pytest.approx(1)
    limited = replace(results[0], metrics={**results[0].metrics, "embedder_limit": 5.0, "truncated_token_share": 0.3})
    figure = figures.chunk_sizes([limited])
    assert "reads 5" in words(figure)
    assert ".300" in figure.get_suptitle()
    assert "reads all" in figures.chunk_sizes(results[:1]).get_suptitle()


def test_curves_give_their_points_to_the_table(summary: Summary) -> None:
    table = figures.size_discrimination_table(summary.curves)
    assert len(table) == sum(len(curve.existence) * 3 for curve in summary.curves)
    figure = figures.size_discrimination(summary.curves, "harbour")
    heights = {y for panel in figure.axes for line in panel.lines for y in np.asarray(line.get_ydata()).tolist()}
    assert set(table["value"].dropna()) <= heights
    assert all(f"overlap {curve.overlap}" in words(figure) for curve in summary.curves)


def test_labels_lose_only_what_all_share() -> None:
    assert short_labels(["fixed size=8 minilm", "fixed size=9 minilm"]) == ["size=8", "size=9"]
    assert short_labels(["fixed size=8 minilm"]) == ["fixed size=8 minilm"]
    assert short_labels(["a b", "a"]) == ["a b", "a"], "none may be left empty"
    assert short_labels([]) == []
    assert axis_label(METRIC) == "complete within 2,048 tokens, share of questions"


def test_spread_moves_labels_apart_and_keeps_their_order() -> None:
    assert spread([0.1, 0.5, 0.9], 0.1) == pytest.approx([0.1, 0.5, 0.9])
    placed = spread([0.5, 0.5, 0.52], 0.1)
    assert np.diff(placed).tolist() == pytest.approx([0.1, 0.1])
    assert np.mean(placed) == pytest.approx(0.5067, abs=1e-3)
    crowded = spread([1.0] * 30, 0.1)
    assert (min(crowded), max(crowded)) == pytest.approx((0, 1))
    assert spread([], 0.1) == []


def test_words_on_a_field_can_be_read() -> None:
    assert (on_field("#FFFFFF"), on_field("#00304D")) == ("#111111", "#FFFFFF")


def test_labels_lead_to_their_points() -> None:
    figure = Figure()
    panel = figure.subplots()
    panel.plot([0, 1], [0, 1])
    label_right(panel, [(1, 1, "up", "#0072B2"), (1, 1, "also", "#D55E00")], 0.1)
    heights = sorted(text.xyann[1] for text in panel.texts)
    assert heights[1] - heights[0] == pytest.approx(0.1)
