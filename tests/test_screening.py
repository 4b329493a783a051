"""A cheap look drops cells and does nothing else: what is kept is measured as ever, what is dropped leaves no number, and screen=null takes it up."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from front_cases import QUICK, call, experiment_on, planned, small_corpus, write_corpus
from test_runner import run

from harness.chunking import chunk_documents
from harness.chunking.fixed import FixedChunker
from harness.chunking.recursive import RecursiveChunker
from harness.chunking.sentence import SentenceChunker
from harness.chunking.surroundings import PLAIN
from harness.course import Impossible
from harness.embedding import HashingEmbedder
from harness.embedding.imitation import Imitation
from harness.embedding.sentence_transformer import minilm_package
from harness.embedding.static import StaticEmbedder
from harness.errors import ConfigError
from harness.hydra_front import screening
from harness.hydra_front.screening import Screen, look_through
from harness.planned import Planned
from harness.retrieval.bm25 import Bm25Retriever
from harness.retrieval.dense import DenseRetriever
from harness.summary import Baseline, Select
from harness.types import Corpus
from harness.units import measure_all

LOOK = "screen={embedder:{_target_:harness.embedding.hashed,dim:64},keep:0.34,fewest:2,cheapest:0}"
GRID = ("--multirun", "strategy=fixed,recursive", "size=4,12,48", "overlap=0")
METRIC = "complete_within_40"
SELECT = Select(METRIC)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return small_corpus(tmp_path_factory.mktemp("harbour"))


def grid(corpus: Corpus, **changes: Any) -> list[Planned]:
    """Nine combinations, from hopeless to good."""
    chunkers = [way(size) for way in (FixedChunker, SentenceChunker, RecursiveChunker) for size in (3, 14, 40)]
    return [planned(experiment_on(corpus, chunker, **changes)) for chunker in chunkers]


def kept(plans: list[Planned | Impossible], screen: Screen, select: Select = SELECT, warn: Any = None) -> list[str]:
    return [plan.cell.label for plan in look_through(screen, plans, select, warn or print)[0]]


def test_an_imitation_reads_what_the_other_would(corpus: Corpus) -> None:
    """As StaticEmbedder.like does, but for any embedder that has a limit and a unit; chunks over it only differ from the whole."""
    real, static = minilm_package(), StaticEmbedder("package:static_model/model")
    rulers = measure_all(real.unit, corpus.documents)
    for size, differs in ((60, False), (300, True)):
        chunks = chunk_documents(FixedChunker(size), corpus.documents, rulers, PLAIN)
        found = Imitation(static, real).embed_spans(corpus.documents, chunks).vectors
        wanted = StaticEmbedder("package:static_model/model", like="minilm").embed_spans(corpus.documents, chunks).vectors
        assert np.abs(found - wanted).max() < 1e-6
        assert bool(np.abs(found - static.embed_spans(corpus.documents, chunks).vectors).max() > 1e-3) is differs
    heads = Imitation(HashingEmbedder(64), real)
    texts = list(chunks.indexed_texts(corpus.documents))
    assert np.abs(heads.embed(texts, "passage").vectors - heads.embed_spans(corpus.documents, chunks).vectors).max() < 1e-6
    whole = Imitation(HashingEmbedder(64), real, whole=True).embed_spans(corpus.documents, chunks).vectors
    assert np.array_equal(whole, HashingEmbedder(64).embed(texts, "passage").vectors)
    assert np.array_equal(heads.embed(texts, "query").vectors, whole), "questions are read whole"


def test_the_best_stay_and_a_look_that_is_wrong_is_seen(corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plans, screen = grid(corpus), Screen(HashingEmbedder(64), keep=0.33, fewest=3, cheapest=0)
    values = {result.cell.label: result.metrics[METRIC] or 0.0 for result in run(tmp_path, list(plans)).results}
    best = max(values, key=lambda label: values[label])
    chosen = kept(list(plans), screen)
    assert best in chosen
    assert 3 <= len(chosen) < 9
    assert kept(list(plans), screen) == chosen, "the same plans, the same choice"
    assert set(kept(list(plans), Screen(HashingEmbedder(64), keep=1.0))) == set(values)
    honest = screening._value

    def wrong(*words: Any) -> screening._Seen:
        found = honest(*words)
        assert found is not None
        return replace(found, value=-found.value)

    monkeypatch.setattr(screening, "_value", wrong)
    assert best not in kept(list(plans), screen), "mutated: the worst are kept"


def test_the_cheapest_of_equals_stays(corpus: Corpus) -> None:
    """Few questions: many cells can't be told from the best, and a verdict would name the one that reads least."""
    plans = grid(corpus)
    seen = screening._look(Screen(HashingEmbedder(64)), plans, SELECT, print)
    reads = {plan.cell.label: seen[plan.key].result.metrics["context_tokens_at_5"] or 0.0 for plan in plans}
    best = kept(list(plans), Screen(HashingEmbedder(64), keep=0.1, fewest=1, cheapest=0))
    more = set(kept(list(plans), Screen(HashingEmbedder(64), keep=0.1, fewest=1, cheapest=1))) - set(best)
    assert len(more) == 1
    assert reads[more.pop()] < min(reads[label] for label in best)


def test_combinations_stay_whole_over_the_other_axes(corpus: Corpus) -> None:
    """Two embedders that would keep others by themselves keep the same ones together."""

    class Short(HashingEmbedder):
        limit = 4

    first, second = grid(corpus), grid(corpus, embedder=Short(64))
    second = [replace(plan, cell=replace(plan.cell, embedder="short", label=f"{plan.cell.label} short")) for plan in second]
    screen = Screen(HashingEmbedder(64), keep=0.2, fewest=2, cheapest=0)
    alone = [set(kept(list(plans), screen)) for plans in (first, second)]
    together = kept([*first, *second], screen)
    names = [{label.removesuffix(" short") for label in labels} for labels in alone]
    assert names[0] != names[1], "what is read of a chunk decides"
    assert {label.removesuffix(" short") for label in together} == names[0] | names[1]
    assert len(together) == 2 * len(names[0] | names[1])


def test_what_a_look_can_not_judge_stays(corpus: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    screen, plans = Screen(HashingEmbedder(64), keep=0.1, fewest=1, cheapest=0), grid(corpus)
    hopeless = plans[0].cell
    assert hopeless.label not in kept(list(plans), screen)
    words = [replace(plan, cell=replace(plan.cell, retriever="bm25")) for plan in grid(corpus, retriever=Bm25Retriever())]
    assert len(kept(list(words), screen)) == 9, "nothing would be embedded"
    baseline = replace(SELECT, baseline=Baseline(hopeless.strategy, hopeless.size or 0, str(hopeless.overlap), hopeless.unit))
    assert hopeless.label in kept(list(plans), screen, baseline)

    class Broken(DenseRetriever):
        def build(self, shelf: Any) -> Any:
            raise ValueError("no")

    told: list[str] = []
    assert len(kept(list(grid(corpus, retriever=Broken())), screen, SELECT, told.append)) == 9
    assert [line.startswith("9 cells could not be looked at") for line in told] == [True]
    monkeypatch.setattr(screening, "foreign", lambda corpus, name: "another language")
    assert len(kept(list(plans), screen, SELECT, told.append)) == 9
    assert "does not know the language" in told[-1]
    nothing = Impossible(hopeless, "no")
    assert look_through(screen, [nothing], SELECT, print) == ([nothing], {})


def test_a_screened_sweep(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("run", "dataset=folder", f"dataset.path={write_corpus(tmp_path / 'harbour')}", *QUICK[:-2], "unit=words", "budget.tokenizer=words")
    words = (*words, "budget.sizes=[40]", f"select.metric={METRIC}", "select.baseline.unit=words", f"outputs={tmp_path / 'o'}", *GRID)
    foretold = call(capsys, *words, LOOK, "plan=true")
    assert foretold.status == 0, foretold.err
    assert not (tmp_path / "o" / "cells").exists()
    said = call(capsys, *words, LOOK)
    assert said.status == 0, said.err
    (folder,) = (tmp_path / "o" / "sweeps").iterdir()
    record = json.loads((folder / "sweep.json").read_text())
    gone, measured = record["screened_out"], [cell["label"] for cell in record["cells"]]
    assert len(gone) + len(measured) == 6
    assert len(gone) >= 2
    assert record["screened_tokens"] > 0
    assert [line.split(": ", 1)[1] for line in foretold.out.splitlines() if "would be screened out" in line] == gone
    stored = {path.name for path in (tmp_path / "o" / "cells").iterdir()}
    assert stored == {cell["key"][:20] for cell in record["cells"]}, "a look leaves no result"
    verdict = (folder / "verdict.md").read_text()
    assert f"{len(gone)} screened out" in verdict
    assert all(label in verdict for label in gone)
    assert "spread between the cells is due to" not in verdict, "what an axis does is not told from the better cells alone"
    shown = call(capsys, "report", folder.name, "--outputs", str(tmp_path / "o"))
    assert f"not measured ({len(gone)})" in shown.out
    again = call(capsys, *words, LOOK)
    assert f"{len(measured)} reused, {len(gone)} screened out" in again.out
    whole = call(capsys, *words, "screen=null")
    assert f"{len(gone)} ran, {len(measured)} reused" in whole.out
    assert "screened out" not in whole.out
    finished = call(capsys, *words, LOOK)
    assert "6 reused" in finished.out
    assert "screened out" not in finished.out, "what is measured already costs nothing and is shown"


@pytest.mark.parametrize(
    ("typed", "key"),
    [
        ("screen={embedder:{_target_:harness.embedding.hashed},keep:2}", "screen.keep"),
        ("screen={embedder:{_target_:harness.embedding.hashed},keep:true}", "screen.keep"),
        ("screen={embedder:{_target_:harness.embedding.hashed},fewest:0}", "screen.fewest"),
        ("screen={embedder:{_target_:harness.embedding.hashed},cheapest:-1}", "screen.cheapest"),
        ("screen={embedder:{_target_:harness.embedding.hashed},share:1}", "screen.share"),
        ("screen={keep:0.5}", "screen"),
    ],
)
def test_mistakes_are_told_in_a_line(tmp_path: Path, capsys: pytest.CaptureFixture[str], typed: str, key: str) -> None:
    said = call(capsys, "run", "dataset.documents=2", *QUICK, f"outputs={tmp_path / 'o'}", typed, "--multirun", "overlap=0,10%")
    assert said.status == 2
    assert f"{key}=" in said.lines[-1] or f"{key}:" in said.lines[-1]
    assert "Traceback" not in said.err


def test_a_search_has_no_look(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("optuna", reason="needs chunk-sweep[optuna]")
    said = call(
        capsys,
        "run",
        "hydra/sweeper=optuna",
        "hydra.sweeper.n_trials=2",
        *QUICK[:-2],
        "unit=words",
        f"outputs={tmp_path / 'o'}",
        LOOK,
        "--multirun",
        "size=8,16",
    )
    assert said.status == 2
    assert "hydra/sweeper" in said.lines[-1]


def test_room() -> None:
    screen = Screen(HashingEmbedder(64), keep=1 / 3, fewest=6)
    assert [screen.room(points) for points in (1, 6, 7, 18, 19, 24, 96)] == [1, 6, 6, 6, 7, 8, 32]
    with pytest.raises(ConfigError):
        Screen(HashingEmbedder(64), keep=0.0)
