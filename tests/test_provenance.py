"""What decides whether a result may be used again: sources, libraries, descriptions of parts, and the keys made of them."""

from __future__ import annotations

import importlib
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from front_cases import ROOT, Calls, CountedEmbedder, call, experiment_on, planned, small_corpus

from harness import provenance
from harness.chunking.document import DocumentChunker
from harness.chunking.fixed import FixedChunker
from harness.chunking.recursive import RecursiveChunker
from harness.chunking.sentence import SentenceChunker
from harness.embedding import CachedEmbedder, HashingEmbedder
from harness.evaluation import Scoring
from harness.experiment import Experiment
from harness.hydra_front.keys import cell_key_of, ranking_key_of, shelf_key_of
from harness.metrics.scoring import families
from harness.retrieval.controls import RandomRetriever
from harness.retrieval.dense import DenseRetriever
from harness.types import Document, Question
from harness.units import CharUnit, WordUnit

Write = Callable[[str, str], None]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """`write(name, source)` makes a module of a person's own; what was read of it before is forgotten."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def _write(name: str, source: str) -> None:
        path = tmp_path.joinpath(*name.split("."))
        path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source, encoding="utf-8")
        importlib.invalidate_caches()
        for known in (provenance._file_of, provenance._imports, provenance._closure):
            known.cache_clear()

    return _write


@pytest.mark.parametrize("line", ["import dredge_tools", "from dredge_tools import cut", "def late():\n    from dredge_tools import cut"])
def test_sources_count_as_far_as_imports_reach(write: Write, line: str) -> None:
    write("dredge_tools", "cut = 1\n")
    write("dredge_other", "cut = 1\n")
    write("dredge", f"import numpy\n{line}\n")
    first = provenance.source_digest(["dredge"])
    assert provenance.source_digest(["dredge", "dredge"]) == first
    write("dredge_other", "cut = 2\n")
    assert provenance.source_digest(["dredge"]) == first
    write("dredge_tools", "cut = 2\n")
    second = provenance.source_digest(["dredge"])
    assert second != first
    write("dredge", f"import numpy\n{line}\nagain = 1\n")
    assert provenance.source_digest(["dredge"]) != second
    assert set(provenance.library_versions(["dredge"])) == {"numpy"}


@pytest.mark.parametrize("line", ["from . import knife", "from .knife import edge", "from ..cutters import knife", "from ..cutters.knife import e"])
def test_relative_imports_are_followed(write: Write, tmp_path: Path, line: str) -> None:
    (tmp_path / "wharf" / "cutters").mkdir(parents=True)
    write("wharf", "")
    write("wharf.cutters", "")
    write("wharf.cutters.knife", "edge = 1\n")
    write("wharf.cutters.saw", f"{line}\n")
    first = provenance.source_digest(["wharf.cutters.saw"])
    write("wharf.cutters.knife", "edge = 2\n")
    assert provenance.source_digest(["wharf.cutters.saw"]) != first


def test_a_part_of_a_persons_own_reaches_what_it_uses_of_ours(write: Write) -> None:
    write("dredge_mine", "from harness.chunking.packing import pack\n")
    own, _ = provenance._closure("dredge_mine")
    assert {"dredge_mine", "harness.chunking.packing"} <= set(own)


def test_versions_of_the_libraries_that_compute() -> None:
    found = provenance.library_versions(["harness.retrieval.hnsw", "harness.embedding.sentence_transformer"])
    assert {"numpy", "faiss-cpu", "torch", "tokenizers"} <= set(found)
    assert all(version == metadata.version(name) for name, version in found.items())
    assert "faiss-cpu" not in provenance.library_versions(["harness.chunking.fixed"])


PARTS: list[Any] = [FixedChunker(9), SentenceChunker(9), RecursiveChunker(9), RandomRetriever(), Scoring()]


@pytest.mark.parametrize("part", PARTS, ids=lambda part: type(part).__name__)
def test_every_field_of_a_part_is_told(part: Any) -> None:
    other = {int: 3, bool: False, str: "de", type(None): 3, tuple: ("word", "character")}
    for field in fields(part):
        old = getattr(part, field.name)
        changed = replace(part, **{field.name: other[type(old)]})
        assert provenance.describe(changed) != provenance.describe(part), field.name
    assert provenance.describe(replace(part)) == provenance.describe(part)


class Plain:
    """A part that is no dataclass."""

    def __init__(self, knots: int) -> None:
        self.knots, self.names, self.how = knots, {"b", "a", "c"}, call


def test_parts_that_are_no_dataclasses_are_told_by_what_they_hold() -> None:
    assert provenance.describe(Plain(1)) == provenance.describe(Plain(1)) != provenance.describe(Plain(2))
    assert "0x" not in repr(provenance.describe(Plain(1)))


@dataclass(frozen=True)
class Bundle:
    parts: tuple[Any, ...]


def test_modules_of_the_parts_that_a_part_holds() -> None:
    assert "harness.chunking.fixed" in provenance.modules_of([Bundle((FixedChunker(3),))])
    assert {"harness.embedding.cached", "harness.embedding.hashing"} <= set(provenance.modules_of([CachedEmbedder(HashingEmbedder())]))


def test_descriptions_are_the_same_in_another_process() -> None:
    program = "from test_provenance import Plain; from harness.provenance import describe; print(describe(Plain(1)))"
    environment = {"PYTHONPATH": f"{ROOT}:{ROOT / 'tests'}", "PATH": "", "PYTHONHASHSEED": "77"}
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment, check=True)
    assert told.stdout.strip() == repr(provenance.describe(Plain(1)))


@pytest.fixture(scope="module")
def experiment(tmp_path_factory: pytest.TempPathFactory) -> Experiment:
    return experiment_on(small_corpus(tmp_path_factory.mktemp("harbour"), documents=2))


def changed_corpus(experiment: Experiment, folder: Path, change: Callable[[str], str], file: str) -> Experiment:
    small_corpus(folder, documents=2)
    path = folder / file
    path.write_text(change(path.read_text(encoding="utf-8")), encoding="utf-8")
    from harness.corpus.folder import load_folder

    return experiment_on(load_folder(folder, name="harbour"))


CHANGES: dict[str, dict[str, Any]] = {
    "size": {"chunker": FixedChunker(21)},
    "overlap": {"chunker": FixedChunker(20, 2)},
    "strategy": {"chunker": SentenceChunker(20)},
    "unit": {"unit": CharUnit()},
    "embedder": {"embedder": CountedEmbedder(HashingEmbedder(dim=64), Calls())},
    "retriever": {"retriever": RandomRetriever()},
    "retriever's seed": {"retriever": RandomRetriever(5)},
    "ks": {"ks": (1, 3)},
    "budgets": {"budgets": (40,)},
    "budget's tokenizer": {"budget_unit": CharUnit()},
    "copies": {"copies": "labelled"},
}


def test_whatever_can_move_a_number_changes_the_key(experiment: Experiment, tmp_path: Path) -> None:
    keys = {"as it was": planned(experiment).key}
    for name, change in CHANGES.items():
        keys[name] = planned(replace(experiment, **change)).key
    keys["resamples"] = planned(experiment, scoring=Scoring(61)).key
    keys["seed"] = planned(experiment, scoring=Scoring(60, seed=1)).key
    for number, (name, file, old, new) in enumerate(
        [
            ("a text", "documents/notice-0.md", "Notice 0", "Notice O"),
            ("a question", "questions.jsonl", "Who painted", "Who drew"),
            ("a label", "questions.jsonl", '"role": "claim"', '"role": "condition"'),
            ("a filter", "questions.jsonl", '"filter": {"doc": "notice-1.md"}', '"filter": {}'),
        ]
    ):
        keys[name] = planned(changed_corpus(experiment, tmp_path / str(number), lambda text, old=old, new=new: text.replace(old, new), file)).key
    assert len(set(keys.values())) == len(keys)
    same = changed_corpus(experiment, tmp_path / "same", lambda text: text, "questions.jsonl")
    assert planned(same, label="another label").key == keys["as it was"]


def test_what_scores_leaves_the_ranking_alone(experiment: Experiment) -> None:
    first = planned(experiment)
    for name in ("ks", "budgets", "budget's tokenizer", "copies"):
        assert planned(replace(experiment, **CHANGES[name])).ranking_key == first.ranking_key, name
    for name in ("size", "overlap", "strategy", "unit", "embedder", "retriever"):
        assert planned(replace(experiment, **CHANGES[name])).ranking_key != first.ranking_key, name


def test_the_source_of_a_strategy_is_in_the_key(write: Write, experiment: Experiment) -> None:
    source = "from harness.chunking.fixed import FixedChunker\nclass Mine(FixedChunker):\n    pass\n"
    write("dredge_strategy", source)
    mine = importlib.import_module("dredge_strategy").Mine(20)
    first = planned(replace(experiment, chunker=mine))
    write("dredge_strategy", source + "# another thought\n")
    second = planned(replace(experiment, chunker=mine))
    assert first.key != second.key
    assert first.ranking_key != second.ranking_key


def sources_of(monkeypatch: pytest.MonkeyPatch, experiment: Experiment) -> set[str]:
    """The modules whose source the cell's key (not the ranking's) depends on."""
    seen: set[str] = set()

    def noted(modules: Any) -> str:
        seen.update(name for module in modules for name in provenance._closure(module)[0])
        return "digest"

    monkeypatch.setattr(provenance, "source_digest", noted)
    cell_key_of("ranking", experiment, Scoring())
    return seen


def test_every_family_of_metrics_is_in_the_key(monkeypatch: pytest.MonkeyPatch, experiment: Experiment) -> None:
    """Families are found by looking into a folder, so no import statement leads to them."""
    seen = sources_of(monkeypatch, experiment)
    assert {f"harness.metrics.{name}" for name in families()} <= seen
    assert {"harness.corpus.copies", "harness.statistics.bootstrap", "harness.statistics.resampling", "harness.spans"} <= seen


def test_the_way_to_a_ranking_is_in_its_key(monkeypatch: pytest.MonkeyPatch, experiment: Experiment) -> None:
    seen: list[str] = []
    monkeypatch.setattr(provenance, "source_digest", lambda modules: seen.extend(modules) or "digest")
    plain = replace(experiment, embedder=HashingEmbedder(), retriever=DenseRetriever())
    ranking_key_of(plain, shelf_key_of(plain))
    reached = {name for module in seen for name in provenance._closure(module)[0]}
    assert {"harness.experiment", "harness.chunking.chunk_corpus", "harness.filters", "harness.retrieval.scores"} <= reached


BASE = ("run", "embedder=hashing", "tracking=files", "dataset.documents=2", "scoring.resamples=20", "unit=words", "size=90")


def keys_in(outputs: Path) -> set[str]:
    return {path.name for path in outputs.glob("cells/*")}


def test_where_results_are_kept_changes_no_key(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    assert call(capsys, *BASE, f"outputs={first}").status == 0
    more = (f"outputs={second}", "rerun=true", "cache_gigabytes=1", "select.alpha=0.1", "+tracking.told={tracker: nowhere}")
    assert call(capsys, *BASE, *more).status == 0
    assert keys_in(first) == keys_in(second) != set()


def test_a_strategy_that_ignores_an_axis_has_twins(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = call(capsys, *BASE, "-m", "strategy=document", "size=30,60", "overlap=0,10%", f"outputs={tmp_path}")
    assert said.status == 0
    assert len(keys_in(tmp_path)) == 1
    assert "1 ran, 3 twins of others" in said.out
    assert DocumentChunker() == DocumentChunker()


def test_documents_and_questions_are_not_told_apart_by_place() -> None:
    """The corpus speaks by its digests alone: equal texts, equal keys, wherever they lie."""
    assert Document("a", "b") == Document("a", "b")
    assert Question("q", "t", ()) == Question("q", "t", ())
    assert WordUnit() == WordUnit()
