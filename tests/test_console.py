"""What a person reads: lines while a sweep runs, the table, and the verdict's sentences."""

from __future__ import annotations

import io
import re
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from front_cases import QUICK, call, write_corpus
from test_sweep import hits, made_up, summed

from harness.course import Course, Failure, Impossible
from harness.hydra_front.console import SweepConsole, fitting, print_summary
from harness.report.tables import COLUMNS, headings, leaderboard, markdown, number
from harness.report.verdict import course, duration, note, result_sections, sections
from harness.sweep import Summary

FAILING = "class Failing:\n    size = 5\n\n    def split(self, text, ruler):\n        raise ValueError('the [/b] rudder jams')\n"


@pytest.fixture
def failing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Words that make `failing` a strategy."""
    (tmp_path / "own" / "strategy").mkdir(parents=True)
    (tmp_path / "own" / "strategy" / "failing.yaml").write_text("_target_: failing_rudder.Failing\n")
    (tmp_path / "failing_rudder.py").write_text(FAILING)
    monkeypatch.syspath_prepend(str(tmp_path))
    corpus = write_corpus(tmp_path / "harbour", documents=2)
    return ["--config-dir", str(tmp_path / "own"), "dataset=folder", f"dataset.path={corpus}", f"outputs={tmp_path}/outputs"]


def test_plain_lines_where_nobody_watches(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    corpus = write_corpus(tmp_path / "harbour", documents=2)
    data = (*QUICK[:4], "unit=words", "dataset=folder", f"dataset.path={corpus}", f"outputs={tmp_path}/outputs")
    said = call(capsys, "run", *data, "-m", "size=12,24")
    assert said.status == 0
    assert "\x1b" not in said.out + said.err
    assert [line.split("  ")[0] for line in said.lines] == ["1/2", "2/2"]
    assert re.search(r"recursive size=12 overlap=10% hashing  complete_within_2048 1?\.\d{3}  \(about .* left\)$", said.lines[0])
    assert "left" not in said.lines[1]
    again = call(capsys, "run", *data, "-m", "size=12,24")
    assert [line.endswith("(reused)") for line in again.lines] == [True, True]
    log = next(tmp_path.glob("outputs/sweeps/*/sweep.log")).read_text(encoding="utf-8")
    assert "recursive size=24 overlap=10% hashing" in log


def test_a_failing_cell_is_told_when_it_happens_and_at_the_end(failing: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = call(capsys, "run", *QUICK, *failing, "-m", "strategy=fixed,failing,recursive")
    assert said.status == 1
    assert [line.split("  ")[0] for line in said.lines] == ["1/3", "2/3", "3/3"]
    assert said.lines[1].endswith("ValueError: the [/b] rudder jams")
    assert "FAILED" in said.lines[1]
    assert "2 ran, 1 FAILED" in said.out
    assert "FAILED: failing size=24 overlap=10% hashing: ValueError: the [/b] rudder jams" in said.out
    log = next(tmp_path.glob("outputs/sweeps/*/sweep.log")).read_text(encoding="utf-8")
    assert "Traceback" in log, "the log has what the console spares"
    assert "failing_rudder.py" in log
    again = call(capsys, "run", *QUICK, *failing, "-m", "strategy=fixed,failing,recursive")
    assert (again.status, "2 reused" in again.out) == (1, True)
    alone = call(capsys, "run", *QUICK, *failing, "strategy=failing")
    assert (alone.status, "No cell could be ranked" in alone.out) == (1, True)


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_bars_where_somebody_watches(monkeypatch: pytest.MonkeyPatch) -> None:
    """One for the sweep, one for the embedding; labels with brackets are text; nothing is left on the screen but the lines."""
    screen = Screen()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("TERM", "xterm-256color")
    for name in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)
    console, result = SweepConsole("complete_within_2048"), made_up(hits(9), extras="separators=[/word]")
    console.planning(2)
    console.sweep_started(2)
    console.cell_started(result.cell)
    console.tokens(10, 40)
    console.cell_finished(result, False)
    console.cell_failed(Failure(result.cell, "the [/b] rudder jams", True))
    console.warn("a [b]warning[/b]")
    console.close()
    console.close()
    shown = screen.getvalue()
    assert "separators=[/word]" in shown
    assert "the [/b] rudder jams" in shown
    assert "a [b]warning[/b]" in shown
    assert "Checking 2 cells" in shown


def verdict(summary: Summary, run: Course | None = None) -> str:
    return "\n".join(line for part in sections(summary, run or Course()) for line in [part.title, *part.lines])


def test_one_cell_is_compared_with_nothing() -> None:
    said = verdict(summed(made_up(hits(20))))
    assert "One cell: recursive size=256 overlap=0 minilm, .250" in said
    assert "Nothing to compare it with" in said
    assert "Best by" not in said


def test_cells_that_cut_alike_have_no_winner() -> None:
    said = verdict(summed(*(made_up(hits(20), size=size, chunks="same") for size in (512, 1024))))
    assert "Every cell made the very same chunks: there is nothing to choose between." in said
    assert "Best by" not in said
    assert "try" not in said
    marks = [row[0] for row in leaderboard(summed(*(made_up(hits(20), size=size, chunks="same") for size in (512, 1024))))]
    assert not [mark for mark in marks if "*" in mark]


def test_a_tie_is_told_as_a_tie() -> None:
    summary = summed(made_up(hits(40), size=64, cost=100), made_up(hits(41), size=128), made_up(hits(2), size=256))
    said = verdict(summary)
    assert "Best by complete_within_2048: recursive size=128" in said
    assert "Can't be told from it (1 of 2): recursive size=64" in said
    assert "The cheapest of these is recursive size=64" in said
    assert "The first cell that is really behind: recursive size=256" in said
    assert [row[0] for row in leaderboard(summary)] == ["1", "=*", ""]


def test_a_tied_cell_that_is_far_behind_is_named_with_its_price() -> None:
    draw = np.random.default_rng(3)
    few = [draw.permutation(hits(right, of=16)) for right in (11, 9)]
    said = verdict(summed(made_up(few[0], size=512, cost=900), made_up(few[1], size=64, cost=100)))
    assert "The cheapest of these is recursive size=64" in said
    assert "it scores .125 less than the best" in said
    assert "less than the best" not in verdict(summed(made_up(hits(41), size=512, cost=900), made_up(hits(40), size=64, cost=100)))


def test_many_ties_are_counted_not_listed() -> None:
    said = verdict(summed(*(made_up(hits(40), size=size) for size in range(10, 20))))
    assert "Can't be told from it (9 of 9)" in said
    assert "and 3 more" in said


def test_a_clear_winner() -> None:
    summary = summed(made_up(hits(75), size=64), made_up(hits(20), size=128))
    said = verdict(summary)
    assert "Every other cell is behind it by more than chance explains." in said
    assert "Can't be told" not in said
    assert "It reads 500 context tokens for 5 chunks, stores 1.00 times the corpus in 10 chunks, and embeds - tokens." in said
    assert [row[0] for row in leaderboard(summary)] == ["1*", ""]


@pytest.mark.parametrize(("ours", "theirs", "told"), [(70, 20, "ahead of"), (40, 39, "chance could explain it")])
def test_against_the_usual_default(ours: int, theirs: int, told: str) -> None:
    said = verdict(summed(made_up(hits(ours), size=64, cost=1), made_up(hits(theirs), size=512, overlap=51, typed="10%")))
    assert "the usual default (recursive, 512 tokens, 10%)" in said
    assert told in said
    assert ("a real difference" in said) == (told == "ahead of")


def test_without_the_usual_default_nothing_is_claimed() -> None:
    said = verdict(summed(made_up(hits(40), size=64), made_up(hits(2), size=128)))
    assert "The usual default (recursive, 512 tokens, 10%) is not among these cells" in said
    said = verdict(summed(made_up(hits(40), size=512, overlap=51, typed="10%"), made_up(hits(2), size=128)))
    assert "The named cell is the usual default (recursive, 512 tokens, 10%) itself." in said


@pytest.mark.parametrize(("best", "told"), [(64, "try 32 as well"), (512, "try 1024 as well"), (128, None)])
def test_a_size_at_the_edge_of_the_grid(best: int, told: str | None) -> None:
    said = verdict(summed(*(made_up(hits(70 if size == best else 10), size=size) for size in (64, 128, 512))))
    assert ("of the grid: try" in said) == (told is not None)
    assert told is None or told in said


def test_another_metric_is_named() -> None:
    more = {"complete_at_5": hits(30)}
    said = verdict(summed(made_up(hits(40), size=64, more=more), made_up(hits(2), size=128, more=more), metric="complete_at_5"))
    assert "Chosen by complete_at_5, as asked" in said


def test_the_course_in_a_line() -> None:
    cell = made_up(hits(1)).cell
    assert course(Course(ran=["a", "b"], seconds=12)) == "2 ran, in 12 s"
    whole = Course(
        ran=["a"],
        reused=["b"],
        twins=[(cell, "other")],
        impossible=[Impossible(cell, "too much")],
        failures=[Failure(cell, "broke", True)],
        seconds=700,
        stopped=True,
    )
    assert course(whole) == "1 ran, 1 reused, 1 twins of others, 1 impossible, 1 FAILED, in 12 min (stopped early)"
    said = verdict(summed(), whole)
    assert "No cell could be ranked." in said
    assert f"impossible: {cell.label}: too much" in said
    assert f"twin: {cell.label} makes the same cell as other" in said
    assert f"FAILED: {cell.label}: broke" in said


def test_sizing_is_told_where_something_differs() -> None:
    said = verdict(summed(made_up(hits(40), size=64), made_up(hits(36), size=128)))
    assert re.search(r"80 questions \(drawn .*\) show a difference of \.\d+ or more 4 times in 5; for \.05 about \d+ questions", said)
    assert "4 times in 5" not in verdict(summed(made_up(hits(40), size=64), made_up(hits(40), size=128)))


def test_stored_results_tell_the_same() -> None:
    summary = summed(made_up(hits(70), size=64), made_up(hits(20), size=128))
    stored = [part for part in result_sections(summary) if part.title in ("Winner", "How sure")]
    assert stored == [part for part in sections(summary, Course()) if part.title in ("Winner", "How sure")]


def test_the_columns() -> None:
    assert headings()[2:] == ["exists", "complete@5", "within 2048", "half@5", "discrim.", "tokens", "storage", "cut off"]
    assert [column.metric for column in COLUMNS] == [
        *("answer_existence", "complete_at_5", "complete_within_2048", "half_answer_rate_at_5", "discrimination"),
        *("chunk_tokens_mean", "storage_ratio", "truncated_token_share"),
    ]
    result = made_up(hits(40), more={"complete_at_5": hits(20)})
    result = replace(result, metrics={**result.metrics, "complete_at_5_low": 0.2, "complete_at_5_high": 1.0, "half_answer_rate_at_5": None})
    (row,) = leaderboard(summed(result))
    assert row[2:7] == ["1.000", ".250 [.200, 1.000]", ".500", "-", "1.50"]


@pytest.mark.parametrize(
    ("value", "digits", "text"), [(0.5, 3, ".500"), (1.0, 3, "1.000"), (None, 3, "-"), (float("nan"), 2, "-"), (float("inf"), 2, "-"), (0.4, 0, "0")]
)
def test_numbers_for_people(value: float | None, digits: int, text: str) -> None:
    assert number(value, digits) == text


def test_durations_for_people() -> None:
    assert [duration(seconds) for seconds in (0.2, 99, 600, 9000)] == ["0 s", "99 s", "10 min", "2.5 h"]


@pytest.mark.parametrize("extras", ["", "strategy.separators=[word,/character]", "embedder.model=" + "some/long/folder/" * 12])
def test_no_label_is_cut_or_swallowed_where_the_table_is_piped(extras: str, capsys: pytest.CaptureFixture[str]) -> None:
    summary = summed(made_up(hits(40), size=64, extras=extras), made_up(hits(2), size=128, extras=extras))
    print_summary(summary, sections(summary, Course()), "harbour: 2 cells")
    lines = capsys.readouterr().out.splitlines()
    for item in summary.standings:
        assert [line for line in lines if item.result.cell.label in line and "1.000" in line], lines
    assert lines[0].startswith("harbour: 2 cells")


def test_the_note_is_markdown() -> None:
    extras: dict[str, Any] = {"extras": "separators=a|b"}
    summary = summed(made_up(hits(40), size=64, **extras), made_up(hits(2), size=128, **extras))
    text = note(summary, Course(ran=["a", "b"]))
    assert "### Leaderboard" in text
    assert "separators=a\\|b" in text
    assert "- 2 ran" in text
    assert markdown(["a"], [["b"]]) == "| a |\n| --- |\n| b |"


@pytest.mark.parametrize("width", [60, 80, 100, 133])
def test_a_narrow_terminal_keeps_the_mark_and_what_chooses(width: int) -> None:
    rows = [headings(), *leaderboard(summed(made_up(hits(70), size=128), made_up(hits(20), size=64)))]
    shown = fitting(rows, width)
    assert shown[:2] == [0, 1]
    assert 4 in shown or width < 80, "the metric that chooses is the first to have room"
    assert sum(max(len(row[place]) for row in rows) + 2 for place in shown) <= width
