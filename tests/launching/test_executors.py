"""What holds for every way of running cells elsewhere, with no process but this one."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from front_cases import ROOT, experiment_on, planned, small_corpus
from hydra.utils import get_class
from omegaconf import OmegaConf
from stored_cases import cells
from test_configs import composed

from harness.chunking.fixed import FixedChunker
from harness.course import Course, Earlier, Failure, Outcome
from harness.hydra_front.build import plan_cell
from harness.hydra_front.launching.base import Job, Place, job_of
from harness.hydra_front.launching.worker import work
from harness.hydra_front.workshop import Workshop
from harness.planned import Planned
from harness.runner import Runner
from harness.tracking import files
from harness.tracking.base import SweepInfo
from harness.tracking.silent import FilesOnly
from harness.types import Cell, CellResult, Corpus
from harness.workers import CORES, cores


@dataclass
class Told(FilesOnly):
    """A tracker, and a listener, that keep what they are told."""

    heard: list[str] = field(default_factory=list)

    def cell_started(self, cell: Cell, key: str = "") -> None:
        self.heard.append(f"{'tracker' if key else 'listener'} started {cell.label}")

    def cell_finished(self, result: CellResult, files: object) -> None:
        if isinstance(files, Path):
            assert (files / "result.json").exists()
        self.heard.append(f"{'tracker' if isinstance(files, Path) else 'listener'} finished {result.cell.label}")

    def cell_failed(self, cell: Cell | Failure, key: str = "", problem: str = "") -> None:
        self.heard.append(f"failed {problem}")

    def sweep_started(self, cells: int) -> None: ...

    def stage(self, name: str) -> None: ...

    def tokens(self, done: int, total: int) -> None: ...

    def warn(self, line: str) -> None: ...


@dataclass
class Backwards:
    """Runs the groups from the last to the first, by an ordinary runner; `writes` says whether results reach the folder."""

    outputs: Path
    writes: bool = True
    groups: list[list[str]] = field(default_factory=list)

    def run(self, groups: Sequence[Sequence[Planned]], begun: Callable[[Planned], None]) -> Generator[Outcome, None, None]:
        for group in reversed(groups):
            self.groups.append([plan.cell.label for plan in group])
            if self.writes:
                sweep(self.outputs, list(group))
            for plan in reversed(group):
                begun(plan)
                yield Outcome(plan.key)


def sweep(outputs: Path, plans: list[Planned], executor: Backwards | None = None, earlier: Earlier | None = None, told: Told | None = None) -> Course:
    info = SweepInfo("try", "key", plans[0].experiment.corpus, len(plans), "chunk-sweep run")
    told = told or Told()
    return Runner(outputs, told, told, executor=executor, earlier=earlier or Earlier()).run(plans, info)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return small_corpus(tmp_path_factory.mktemp("harbour"))


def grid(corpus: Corpus) -> list[Planned]:
    return [planned(experiment_on(corpus, FixedChunker(size), ks=ks)) for ks in ((1, 3), (1, 5)) for size in (9, 10, 11)]


def test_the_order_of_coming_back_does_not_show(corpus: Corpus, tmp_path: Path) -> None:
    plans, told = grid(corpus), Told()
    executor = Backwards(tmp_path / "there")
    sweep(tmp_path / "there", plans[:1])
    there, here = sweep(tmp_path / "there", plans, executor, told=told), sweep(tmp_path / "here", plans)
    assert [result.key for result in there.results] == [result.key for result in here.results]
    assert there.ran == [key for key in here.ran if key != plans[0].key]
    assert there.reused == [plans[0].key]
    assert cells(tmp_path / "there") == cells(tmp_path / "here")
    assert [len(group) for group in executor.groups] == [2, 2, 1], "cells that share chunks and vectors go together"
    started = [line for line in told.heard if line.startswith("tracker started")]
    assert sorted(started) == sorted(f"tracker started {plan.cell.label}" for plan in plans[1:]), "each once"


def test_a_folder_that_is_not_shared_is_told(corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "_LATE", (0.0,))
    course = sweep(tmp_path, grid(corpus)[:2], Backwards(tmp_path, writes=False))
    assert not course.results
    assert ["all machines share" in failure.problem for failure in course.failures] == [True, True]


@pytest.mark.parametrize("elsewhere", [False, True])
def test_a_failure_of_earlier_is_told_and_not_tried_again(corpus: Corpus, tmp_path: Path, elsewhere: bool) -> None:
    plans = grid(corpus)[:2]
    sweep(tmp_path, plans[:1])
    known = Earlier(frozenset({plans[0].key}), {plans[1].key: (Failure(plans[1].cell, "the hull leaks", True), "trace")})
    course = sweep(tmp_path, plans, Backwards(tmp_path) if elsewhere else None, earlier=known)
    assert (course.ran, course.reused) == ([plans[0].key], [])
    assert [failure.problem for failure in course.failures] == ["the hull leaks"]
    assert not (tmp_path / "cells" / plans[1].key[:20]).exists()


@pytest.fixture
def job(tmp_path: Path) -> Job:
    """A cell of the bundled handbook, as it travels."""
    config = composed("embedder=hashing", "unit=words", "size=40", "dataset.documents=1", "scoring.resamples=20")
    whole = OmegaConf.masked_copy(config, [name for name in config if name != "hydra"])
    place = Place(tmp_path, 1.0)
    plan = plan_cell(whole, {"strategy": "recursive", "embedder": "hashing"}, Workshop(tmp_path, 1.0))
    assert isinstance(plan, Planned)
    return job_of(place, [plan])


def test_a_worker_that_makes_another_cell_says_so(job: Job, tmp_path: Path) -> None:
    (wrong,) = work(replace(job, keys=("0" * 64,)))
    assert wrong.key == "0" * 64
    assert wrong.problem is not None
    assert "makes another cell of it" in wrong.problem
    assert not list(tmp_path.glob("cells/*"))
    (right,) = work(job)
    assert right.problem is None, right.trace
    assert len(right.prepared) == 1
    assert list(tmp_path.glob("cells/*"))


def test_a_folder_that_a_machine_lacks_is_told(job: Job) -> None:
    (lost,) = work(replace(job, folder="/no/such/folder"))
    assert "all machines share" in str(lost.problem)


def test_the_vectors_of_a_machine_lie_where_it_is_told(job: Job, tmp_path: Path) -> None:
    (done,) = work(replace(job, cache=f"{tmp_path}/local"))
    assert done.problem is None, done.trace
    assert list(tmp_path.glob("local/vectors/*.sqlite"))
    assert not (tmp_path / "cache").exists()
    assert (tmp_path / "local").stat().st_mode & 0o077 == 0


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="no affinity here")
def test_a_share_of_the_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    here = len(os.sched_getaffinity(0))
    for asked, given in (("1", 1), ("1000", here), ("", here), ("0", here), ("many", here)):
        monkeypatch.setenv(CORES, asked)
        assert cores() == given


@pytest.mark.parametrize("path", sorted((ROOT / "conf" / "hydra" / "launcher").glob("*.yaml")), ids=lambda path: path.stem)
def test_the_settings_in_yaml_are_those_of_the_executor(path: Path) -> None:
    node = composed(f"hydra/launcher={path.stem}").hydra.launcher
    wanted = inspect.signature(get_class(node.executor)).parameters
    assert {name: parameter.default for name, parameter in wanted.items() if name != "place"} == {
        name: value for name, value in node.items() if name not in ("_target_", "executor")
    }
    assert path.read_text(encoding="utf-8").startswith("# ")
