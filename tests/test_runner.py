"""Running cells: what is reused, what is noticed, what happens when a cell or the person stops."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from front_cases import QUICK, Calls, call, experiment_on, finished, planned, small_corpus, start, write_corpus

from harness.chunking.base import Pieces
from harness.chunking.fixed import FixedChunker
from harness.course import Course, Failure, Impossible
from harness.errors import PartError, StoreError
from harness.experiment import Experiment
from harness.planned import Planned
from harness.retrieval.base import Retriever
from harness.retrieval.bm25 import Bm25Retriever
from harness.retrieval.collapse import CollapseRetriever
from harness.retrieval.dense import DenseRetriever
from harness.runner import Runner
from harness.tracking.base import SweepInfo, Tracker
from harness.tracking.files import read_cell, whole_folder, write_text
from harness.tracking.rankings import read_retrieved
from harness.tracking.silent import FilesOnly
from harness.types import Cell, CellResult, Corpus
from harness.units.base import Ruler


@dataclass
class Heard:
    """A listener that keeps what it was told."""

    finished: list[tuple[str, bool]] = field(default_factory=list)
    failed: list[Failure] = field(default_factory=list)
    warned: list[str] = field(default_factory=list)
    stages: list[str] = field(default_factory=list)

    def sweep_started(self, cells: int) -> None: ...

    def cell_started(self, cell: Cell) -> None: ...

    def stage(self, name: str) -> None:
        self.stages.append(name)

    def tokens(self, done: int, total: int) -> None: ...

    def cell_finished(self, result: CellResult, reused: bool) -> None:
        self.finished.append((result.cell.label, reused))

    def cell_failed(self, failure: Failure) -> None:
        self.failed.append(failure)

    def warn(self, line: str) -> None:
        self.warned.append(line)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return small_corpus(tmp_path_factory.mktemp("harbour"))


def run(outputs: Path, plans: list[Any], *, tracker: Tracker | None = None, heard: Heard | None = None, rerun: bool = False) -> Course:
    first = next(plan for plan in plans if isinstance(plan, Planned))
    info = SweepInfo("try", "key", first.experiment.corpus, len(plans), "chunk-sweep run")
    return Runner(outputs, tracker or FilesOnly(), heard or Heard(), rerun).run(plans, info)


def same(first: CellResult, second: CellResult) -> bool:
    """Equal in everything but times, and what came from a cache."""
    moving = ("seconds_", "embedded_tokens", "cached_tokens")
    numbers = [{name: value for name, value in one.metrics.items() if not name.startswith(moving)} for one in (first, second)]
    return numbers[0] == numbers[1] and first.questions.equals(second.questions) and first.warnings == second.warnings


def test_a_finished_cell_is_not_run_again(corpus: Corpus, tmp_path: Path) -> None:
    calls, heard = Calls(), Heard()
    plan = planned(experiment_on(corpus, calls=calls))
    first = run(tmp_path, [plan])
    assert (len(first.ran), calls.built) == (1, 1)
    embedded = calls.embedded
    second = run(tmp_path, [planned(experiment_on(corpus, calls=calls), label="called otherwise")], heard=heard)
    assert (second.ran, second.reused) == ([], [plan.key])
    assert (calls.embedded, calls.built, heard.stages) == (embedded, 1, [])
    assert heard.finished == [("called otherwise", True)]
    assert same(second.results[0], first.results[0])
    third = run(tmp_path, [plan], rerun=True)
    assert (third.ran, calls.built) == ([plan.key], 2)
    assert calls.embedded == 2 * embedded
    assert same(third.results[0], first.results[0])


RESCORED: dict[str, dict[str, Any]] = {"other ks": {"ks": (2, 4)}, "one more k": {"ks": (1, 2, 3, 5)}, "smaller budgets": {"budgets": (60, 90)}}


@pytest.mark.parametrize("name", RESCORED)
def test_a_stored_ranking_is_scored_again(corpus: Corpus, tmp_path: Path, name: str) -> None:
    """And gives what a fresh search would: a result never depends on what was asked before it."""
    calls = Calls()
    first = planned(experiment_on(corpus, FixedChunker(26, 13), calls, budgets=(40, 600)))
    run(tmp_path, [first])
    before = replace(calls)
    second = planned(replace(first.experiment, **RESCORED[name]))
    again = run(tmp_path, [second])
    assert again.ran == [second.key] != [first.key]
    assert calls == before
    fresh = run(tmp_path / "fresh", [planned(second.experiment)])
    assert calls.built == before.built + 1
    assert same(again.results[0], fresh.results[0])


def test_a_new_metric_is_scored_on_stored_rankings(corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from harness.metrics import scoring
    from harness.metrics.base import Measures, Scene

    calls = Calls()
    experiment = experiment_on(corpus, calls=calls)
    first = planned(experiment)
    run(tmp_path, [first])
    before, known = replace(calls), scoring.families()

    def early(scene: Scene) -> Measures:
        return Measures({"early": scene.questions_where(scene.labels.answerable, scene.reading.question_rank <= 2)})

    monkeypatch.setattr(scoring, "families", lambda: {**known, "early": early})
    second = replace(planned(experiment), key="another" + first.key)  # the name of a new module in harness/metrics changes the key
    again = run(tmp_path, [second])
    assert again.failures == []
    assert calls == before
    assert "early" in again.results[0].questions.columns
    assert again.results[0].metrics["early"] is not None


@pytest.mark.parametrize("change", [{"budgets": (40, 2000)}, {"ks": (1, 200)}])
def test_a_ranking_too_shallow_is_searched_again(corpus: Corpus, tmp_path: Path, change: dict[str, Any]) -> None:
    calls = Calls()
    first = planned(experiment_on(corpus, FixedChunker(4), calls))
    run(tmp_path, [first])
    second = planned(replace(first.experiment, **change))
    assert second.ranking_key == first.ranking_key
    deeper = run(tmp_path, [second])
    assert calls.built == 2
    assert not [line for line in deeper.results[0].warnings if "search deeper" in line]
    run(tmp_path, [planned(replace(first.experiment, ks=(1, 2)))])
    assert calls.built == 2, "the deeper ranking took the place of the other"


def damages() -> dict[str, Callable[[Path], None]]:
    def flipped(share: float) -> Callable[[Path], None]:
        def act(path: Path) -> None:
            data = bytearray(path.read_bytes())
            data[int(share * (len(data) - 1))] ^= 1
            path.write_bytes(bytes(data))

        return act

    return {
        "cut off": lambda path: path.write_bytes(path.read_bytes()[: path.stat().st_size // 2]),
        "emptied": lambda path: path.write_bytes(b""),
        "removed": lambda path: path.unlink(),
        **{f"a bit at {share}": flipped(share) for share in (0.0, 0.3, 0.6, 1.0)},
    }


@pytest.mark.parametrize("damage", damages())
@pytest.mark.parametrize("name", ["result.json", "config.json", "questions.parquet", "SHA256SUMS"])
def test_damage_to_a_result_is_noticed_and_scored_again(corpus: Corpus, tmp_path: Path, name: str, damage: str) -> None:
    calls = Calls()
    plan = planned(experiment_on(corpus, calls=calls))
    first = run(tmp_path, [plan])
    place = tmp_path / "cells" / plan.key[:20]
    damages()[damage](place / name)
    assert read_cell(place) is None
    again = run(tmp_path, [plan])
    assert (again.ran, calls.built) == ([plan.key], 1)
    assert same(again.results[0], first.results[0])
    stored = read_cell(place)
    assert stored is not None
    assert same(stored, first.results[0])


@pytest.mark.parametrize("damage", damages())
@pytest.mark.parametrize("name", ["chunks.parquet", "ranking.parquet", "questions.parquet", "probes.parquet", "facts.json"])
def test_damage_to_a_ranking_is_noticed_and_searched_again(corpus: Corpus, tmp_path: Path, name: str, damage: str) -> None:
    calls = Calls()
    plan = planned(experiment_on(corpus, calls=calls))
    first = run(tmp_path, [plan])
    place = tmp_path / "rankings" / plan.ranking_key[:20]
    damages()[damage](place / name)
    assert read_retrieved(place) is None
    (tmp_path / "cells" / plan.key[:20] / "result.json").unlink()
    again = run(tmp_path, [plan])
    assert calls.built == 2
    assert same(again.results[0], first.results[0])


def test_a_result_under_another_key_is_not_taken(corpus: Corpus, tmp_path: Path) -> None:
    first, second = planned(experiment_on(corpus)), planned(experiment_on(corpus, FixedChunker(30)))
    run(tmp_path, [first])
    os.rename(tmp_path / "cells" / first.key[:20], tmp_path / "cells" / second.key[:20])
    assert run(tmp_path, [second]).ran == [second.key]


@dataclass(frozen=True)
class Sinking:
    """A chunker that raises on the second document."""

    error: BaseException = field(compare=False)
    size: int = 7
    overlap: int = 0

    def split(self, text: str, ruler: Ruler) -> Pieces:
        if "Notice 1" in text:
            raise self.error
        return Pieces(np.array([0]), np.array([len(text) - 1]))


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (PartError("the hull leaks\nbadly"), "the hull leaks"),
        (ValueError("the hull leaks"), "ValueError: the hull leaks"),
        (RuntimeError(), "RuntimeError"),
        (MemoryError(), "MemoryError"),
        (SystemExit(0), "SystemExit: 0"),
        (ValueError("\x1b[31mred"), "ValueError: ⟨U+001B⟩[31mred"),
    ],
)
def test_a_failing_cell_does_not_stop_the_others(corpus: Corpus, tmp_path: Path, error: BaseException, told: str) -> None:
    plans: list[Any] = [planned(experiment_on(corpus, FixedChunker(9))), planned(experiment_on(corpus, Sinking(error)))]
    plans += [planned(experiment_on(corpus, FixedChunker(11))), Impossible(plans[0].cell, "overlap=9: too large")]
    heard = Heard()
    course = run(tmp_path, plans, heard=heard)
    assert [failure.problem for failure in course.failures] == [told]
    assert heard.failed == course.failures
    assert course.ran == [plans[0].key, plans[2].key]
    assert len(course.impossible) == 1
    assert not (tmp_path / "cells" / plans[1].key[:20]).exists()
    again = run(tmp_path, plans)
    assert (len(again.reused), len(again.failures)) == (2, 1), "a failed cell is tried again"


@dataclass
class Noted(FilesOnly):
    """A tracker that keeps what it was told; `broken` are the calls at which it raises."""

    broken: tuple[str, ...] = ()
    heard: list[str] = field(default_factory=list)

    def _hear(self, name: str) -> None:
        self.heard.append(name)
        if name in self.broken:
            raise StoreError(f"no answer to {name}")

    def start(self, info: SweepInfo) -> None:
        self._hear("start")

    def cell_started(self, cell: Cell, key: str) -> None:
        self._hear("cell_started")

    def cell_finished(self, result: CellResult, files: Path) -> None:
        self._hear("cell_finished")

    def abort(self) -> None:
        self._hear("abort")


def test_ctrl_c_marks_the_sweep_and_the_next_run_goes_on(corpus: Corpus, tmp_path: Path) -> None:
    plans: list[Any] = [planned(experiment_on(corpus, FixedChunker(9))), planned(experiment_on(corpus, Sinking(KeyboardInterrupt())))]
    plans.append(planned(experiment_on(corpus, FixedChunker(11))))
    tracker = Noted()
    course = run(tmp_path, plans, tracker=tracker)
    assert course.stopped
    assert (course.ran, course.failures) == ([plans[0].key], [])
    assert tracker.heard == ["start", "cell_started", "cell_finished", "cell_started", "abort"]
    assert not list(tmp_path.rglob(".*-*")), "drafts were left behind"
    calm = [plans[0], planned(experiment_on(corpus, FixedChunker(10))), plans[2]]
    again = run(tmp_path, calm)
    assert (again.reused, len(again.ran), again.stopped) == ([plans[0].key], 2, False)


def test_a_tracker_that_does_not_answer_hides_no_result(corpus: Corpus, tmp_path: Path) -> None:
    plans: list[Any] = [planned(experiment_on(corpus, FixedChunker(size))) for size in (9, 10, 11)]
    heard = Heard()
    course = run(tmp_path, plans, tracker=Noted(broken=("cell_finished",)), heard=heard)
    assert len(course.ran) == 3
    assert heard.warned == ["not tracked: no answer to cell_finished"] == course.warnings
    silent = Noted(broken=("start",))
    again = run(tmp_path, plans, tracker=silent)
    assert (len(again.reused), again.untracked) == (3, True)
    assert silent.heard == ["start"], "one that did not start is not asked again for each cell"


def test_outputs_that_cannot_be_written_are_told_in_a_line(corpus: Corpus, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    course = run(tmp_path / "file" / "outputs", [planned(experiment_on(corpus))])
    assert not course.results
    assert "can't write here" in course.failures[0].problem
    assert "outputs=" in course.failures[0].problem


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_folder_is_told_in_a_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tmp_path.chmod(0o500)
    said = call(capsys, "run", *QUICK, f"outputs={tmp_path}")
    tmp_path.chmod(0o700)
    assert (said.status, len(said.lines)) == (2, 1)


def test_a_file_in_the_place_of_outputs_is_told_in_a_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("in the way")
    said = call(capsys, "run", *QUICK, f"outputs={tmp_path}/file/outputs")
    assert (said.status, len(said.lines)) == (2, 1)
    assert "can't write here" in said.err


def test_folders_appear_whole_or_not_at_all(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), whole_folder(tmp_path / "place") as draft:
        (draft / "one").write_text(str(1 / 0))
    assert not list(tmp_path.iterdir())
    for text in ("1", "2"):
        with whole_folder(tmp_path / "place") as draft:
            (draft / "one").write_text(text)
            (tmp_path / "place").mkdir(exist_ok=True)  # another process is quicker
    assert (tmp_path / "place" / "one").read_text() == "2"
    assert [path.name for path in tmp_path.iterdir()] == ["place"]


def test_results_have_the_rights_of_ordinary_files(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        with whole_folder(tmp_path / "place"):
            pass
        write_text(tmp_path / "place" / "text", "1")
    finally:
        os.umask(before)
    assert ((tmp_path / "place").stat().st_mode & 0o777, (tmp_path / "place" / "text").stat().st_mode & 0o777) == (0o755, 0o644)


def result_files(outputs: Path) -> dict[str, Any]:
    """Every result under `outputs`, without what may differ between two runs of one sweep."""
    found: dict[str, Any] = {}
    for path in sorted(outputs.glob("cells/*/result.json")):
        record = json.loads(path.read_text(encoding="utf-8"))
        record["metrics"] = {name: value for name, value in record["metrics"].items() if name not in ("embedded_tokens", "cached_tokens")}
        record["metrics"] = {name: value for name, value in record["metrics"].items() if not name.startswith("seconds_")}
        found[path.parent.name] = record
    return found


@pytest.mark.slow
def test_two_processes_at_the_same_sweep(tmp_path: Path) -> None:
    corpus = write_corpus(tmp_path / "harbour", documents=8, sections=6)
    words = ["run", *QUICK, "dataset=folder", f"dataset.path={corpus}", "-m", "strategy=fixed,recursive", "size=16", "overlap=0,2,4"]
    together = [start(*words, f"outputs={tmp_path}/together") for _ in range(2)]
    said = [finished(process) for process in together]
    assert [one.status for one in said] == [0, 0], [one.err for one in said]
    alone = finished(start(*words, f"outputs={tmp_path}/alone"))
    assert alone.status == 0, alone.err
    assert len(result_files(tmp_path / "alone")) == 6
    assert result_files(tmp_path / "together") == result_files(tmp_path / "alone")
    assert not [path for path in (tmp_path / "together").rglob(".*") if path.is_dir()]


def test_the_scores_of_one_experiment_are_those_of_another_object(corpus: Corpus, tmp_path: Path) -> None:
    """Nothing of a result hangs on the objects that made it."""
    one: Experiment = experiment_on(corpus)
    two = experiment_on(corpus)
    first, second = run(tmp_path / "1", [planned(one)]), run(tmp_path / "2", [planned(two)])
    assert same(first.results[0], second.results[0])


def test_cells_that_differ_in_retrieval_chunk_and_embed_once_wherever_they_stand(corpus: Corpus, tmp_path: Path) -> None:
    calls = Calls()
    plain = experiment_on(corpus, FixedChunker(20), calls)
    other = experiment_on(corpus, FixedChunker(30), calls)
    others = [replace(plain, retriever=CollapseRetriever(DenseRetriever(), share)) for share in (0.5, 0.7, 0.9)]
    plans = [planned(plain), planned(other), *(planned(one, label=f"collapse {place}") for place, one in enumerate(others))]
    heard = Heard()
    run = Runner(tmp_path, FilesOnly({}), heard).run(plans, SweepInfo("s", "key", corpus, 5, "command"))
    assert [failure.problem for failure in run.failures] == []
    assert heard.stages.count("chunk") == heard.stages.count("embed") == 2
    assert heard.stages.count("search") == 5
    costs = {result.cell.label: result.metrics for result in run.results}
    first, later = costs[plans[0].cell.label], costs["collapse 2"]
    assert first["embedded_tokens"] > 0
    assert later["embedded_tokens"] == later["seconds_embed"] == 0
    assert later["embedding_tokens"] == first["embedding_tokens"]


def test_without_equal_keys_nothing_is_shared(corpus: Corpus, tmp_path: Path) -> None:
    """The mutation of the test above: cells that claim other chunks are chunked and embedded each."""
    plain, heard = experiment_on(corpus, FixedChunker(20)), Heard()
    shares = (0.5, 0.7, 0.9)
    made = [replace(plain, retriever=CollapseRetriever(DenseRetriever(), share)) for share in shares]
    plans = [replace(planned(one, label=f"{place}"), shelf_key=f"{place}") for place, one in enumerate(made)]
    Runner(tmp_path, FilesOnly({}), heard).run(plans, SweepInfo("s", "key", corpus, 3, "command"))
    assert heard.stages.count("embed") == 3


@pytest.mark.parametrize("order", [("words", "dense", "again"), ("dense", "words", "again")])
def test_cells_of_one_shelf_are_the_same_in_any_order(corpus: Corpus, tmp_path: Path, order: tuple[str, ...]) -> None:
    calls = Calls()
    dense = experiment_on(corpus, calls=calls)
    parts: dict[str, Retriever] = {"words": Bm25Retriever(), "dense": DenseRetriever(), "again": CollapseRetriever(DenseRetriever())}
    plans = {name: planned(replace(dense, retriever=part), label=name) for name, part in parts.items()}
    course = run(tmp_path / "together", [plans[name] for name in order])
    once = calls.embedded
    found = dict(zip(order, course.results, strict=True))
    assert len(course.prepared) == 1
    for name in order:
        alone = run(tmp_path / name, [plans[name]]).results[0]
        assert same(found[name], alone), name
    assert calls.embedded == 3 * once, "once in the sweep, and once for each of the two that read vectors by themselves"
    assert found["words"].metrics["embedding_tokens"] == 0
    assert found["dense"].metrics["embedding_tokens"] == found["again"].metrics["embedding_tokens"] == course.prepared[0] > 0
