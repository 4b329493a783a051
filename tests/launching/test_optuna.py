"""A search: seeded, goes on where it was stopped, spends nothing on what it knows, and ends in one sweep over all that it measured."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

import pytest
from front_cases import call
from hydra.core.override_parser.overrides_parser import OverridesParser
from launching_cases import Harbour, record
from stored_cases import cells, leaderboard

from harness.errors import CommandLineError
from harness.hydra_front.search import Found, Point, Search
from harness.hydra_front.search_space import Axis, Choices, Interval, split

pytest.importorskip("optuna", reason="needs chunk-sweep[optuna]")


def space(*words: str) -> tuple[list[Axis], list[str]]:
    return split(OverridesParser.create().parse_overrides(list(words)))


def test_the_space_is_what_the_words_leave_open() -> None:
    axes, fixed = space("size=8,16", "embedder=hashing", "strategy=fixed,recursive", "size=interval(12,64)", "overlap=0,10%,5%", "unit=words")
    assert axes == [Choices("strategy", ("fixed", "recursive")), Interval("size", 12, 64, True, False), Choices("overlap", ("0", "10%", "5%"))]
    assert fixed == ["embedder=hashing", "unit=words"]
    assert [axis.count for axis in axes] == [2, 53, 3]
    (share, log) = space("strategy.share=interval(0.0,1.0)", "size=tag(log,int(interval(16,512)))")[0]
    assert share == Interval("strategy.share", 0, 1, False, False)
    assert log == Interval("size", 16, 512, True, True)
    assert space("size=range(8,25,8)")[0] == [Choices("size", ("8", "16", "24"))]
    for words in ("size=interval(64,64)", "size=tag(log,interval(0,9))"):
        with pytest.raises(CommandLineError):
            space(words)


class Drawn:
    """A trial that says which draws it was asked for."""

    def suggest_int(self, key: str, low: int, high: int) -> int:
        return high

    def suggest_categorical(self, key: str, values: Sequence[str]) -> str:
        return values[0]


@pytest.mark.parametrize(
    ("values", "drawn"), [(("16", "8", "128"), "128"), (("20%", "0", "5%"), "20%"), (("0", "10%", "64"), "0"), (("recursive", "fixed"), "recursive")]
)
def test_amounts_are_put_in_order(values: tuple[str, ...], drawn: str) -> None:
    assert Choices("size", values).suggest(Drawn()) == drawn


def sea(points: Sequence[Point]) -> list[Found]:
    """More is found at larger sizes, and more is read; at 40 or less of an odd size nothing is possible."""
    found = []
    for point in points:
        size, depth = int(point[0].split("=")[1]), int(point[1].split("=")[1])
        found.append(Found(None, False) if size <= 40 and size % 2 else Found((min(size, 60) / 60 - depth / 10, float(size))))
    return found


AXES: tuple[Axis, ...] = (Interval("size", 1, 120, True, False), Choices("depth", tuple(map(str, range(8)))))


def test_a_search_is_seeded_and_counts_only_what_it_measured(tmp_path: Path) -> None:
    asked: list[Point] = []

    def measure(points: Sequence[Point]) -> list[Found]:
        asked.extend(points)
        return sea(points)

    first = Search(AXES, 25, 1, 3, tmp_path / "one.log").run(measure)
    assert first == asked
    assert len(set(first)) == len(first), "nothing is measured twice"
    assert sum(found.possible for found in sea(first)) == 25
    assert len(first) > 25
    assert Search(AXES, 25, 1, 3, tmp_path / "two.log").run(sea) == first
    shorter = Search(AXES, 15, 1, 3, tmp_path / "three.log").run(sea)
    assert shorter == first[: len(shorter)], "a longer search goes on where a shorter one ended"
    assert Search(AXES, 25, 1, 4, tmp_path / "four.log").run(sea) != first


def test_a_search_beats_chance(tmp_path: Path) -> None:
    """By the area that its front dominates, on average over seeds."""

    def area(points: Sequence[Point]) -> float:
        good = sorted(found.values for found in sea(points) if found.values is not None)
        covered, top = 0.0, 120.0
        for quality, cost in sorted(good, key=lambda pair: pair[1]):
            covered = max(covered, quality)
            top = min(top, cost) if quality >= 0.9 else top
        return covered - top / 1200

    draw = random.Random(0)
    everything = [(f"size={size}", f"depth={depth}") for size in range(1, 121) for depth in range(8)]
    chance = sum(area(draw.sample(everything, 30)) for _ in range(200)) / 200
    searched = sum(area(Search(AXES, 30, 1, seed, tmp_path / f"{seed}.log").run(sea)) for seed in range(3)) / 3
    assert searched > chance


def test_a_small_grid_is_searched_whole_and_then_it_ends(tmp_path: Path) -> None:
    axes: tuple[Axis, ...] = (Choices("size", ("50", "60")), Choices("depth", ("0", "1", "2")))
    assert len(Search(axes, 100, 4, 0, tmp_path / "study.log").run(sea)) == 6
    assert len(Search(axes, 100, 4, 0, tmp_path / "none.log").run(lambda points: [Found(None, False)] * len(points))) == 6


@pytest.fixture
def harbour(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Harbour:
    made = Harbour(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return made


SEARCH = ("hydra/sweeper=optuna", "-m", "strategy=fixed,sinking,recursive", "size=interval(10,40)", "overlap=0,20%,12")


def test_one_sweep_over_all_that_was_measured(harbour: Harbour, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = [*harbour.words, "embedder=hashing", *SEARCH]
    words.append("hydra.sweeper.seed=1")
    said = call(capsys, *words, "hydra.sweeper.n_trials=6", f"outputs={tmp_path}/whole")
    assert said.status == 1, "some cell of the strategy that fails"
    told = record(tmp_path / "whole")
    assert len(told["cells"]) + len(told["failed"]) == 6
    assert told["failed"]
    assert said.err.count("the hull leaks") == len(told["failed"]), "told once"
    assert f"{len(told['cells'])} ran" in said.out
    assert "reused" not in said.out
    assert list(tmp_path.glob("whole/studies/*.log"))
    first = call(capsys, *words, "hydra.sweeper.n_trials=3", f"outputs={tmp_path}/parts")
    assert first.status in (0, 1)
    before = set(cells(tmp_path / "parts"))
    assert before < set(cells(tmp_path / "whole"))
    for folder in tmp_path.glob("parts/sweeps/*"):
        folder.rename(tmp_path / folder.name)
    again = call(capsys, *words, "hydra.sweeper.n_trials=6", f"outputs={tmp_path}/parts")
    assert again.status == 1
    assert cells(tmp_path / "parts") == cells(tmp_path / "whole")
    assert leaderboard(tmp_path / "parts") == leaderboard(tmp_path / "whole")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["size=10"], "nothing to search"),
        (["size=10,20", "hydra.sweeper.n_trials=0"], "hydra.sweeper.n_trials=0"),
        (["size=10,20", "hydra.sweeper.cost=context_tokens_at_7"], "context_tokens_at_7"),
        (["size=10,20", "select.metric=splendour"], "splendour"),
        (["size=interval(40,10)"], "begin below its end"),
    ],
)
def test_mistakes_are_told_in_a_line(harbour: Harbour, tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str], told: str) -> None:
    said = call(capsys, *harbour.words, "embedder=hashing", "hydra/sweeper=optuna", "-m", *words, f"outputs={tmp_path}/out")
    assert said.status == 2, said.err
    assert told in said.err
    assert "Traceback" not in said.err
