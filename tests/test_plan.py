"""plan=true says what the sweep then does: the same tokens embedded and served, the same cells reused; and it leaves nothing but vectors behind."""

from __future__ import annotations

import io
import json
import re
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from front_cases import QUICK, call, experiment_on, planned, small_corpus, write_corpus
from test_runner import run

from harness.calibration import Trial
from harness.chunking.fixed import FixedChunker
from harness.chunking.recursive import RecursiveChunker
from harness.chunking.semantic import SemanticChunker
from harness.chunking.surroundings import Surroundings
from harness.corpus.folder import load_folder
from harness.course import Failure, Impossible
from harness.embedding import CachedEmbedder, HashingEmbedder, VectorCache, minilm, with_cache
from harness.embedding.base import Embedder
from harness.forecast import Forecast, foresee
from harness.glance import glance
from harness.hydra_front.console import SweepConsole
from harness.hydra_front.planning import Ahead, in_full, in_short
from harness.loads import Forecaster
from harness.planned import Planned
from harness.retrieval.bm25 import Bm25Retriever
from harness.types import Corpus


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return small_corpus(tmp_path_factory.mktemp("harbour"), documents=8)


def hashing(folder: Path) -> Embedder:
    plain = HashingEmbedder()
    return CachedEmbedder(plain, VectorCache(folder / "vectors", plain.identity, plain.dim, max_bytes=10**9))


def grid(corpus: Corpus, embedder: Embedder) -> list[Planned]:
    """Sets of chunks that have texts in common; two cells that share one; a twin; a strategy that embeds; chunks with something in front."""
    made = [experiment_on(corpus, chunker, embedder=embedder) for chunker in (FixedChunker(20), FixedChunker(20, 10), RecursiveChunker(30))]
    made += [replace(made[0], ks=(1, 2)), experiment_on(corpus, FixedChunker(20), embedder=embedder)]
    made += [experiment_on(corpus, RecursiveChunker(30), embedder=embedder, around=Surroundings(context="title", vectors="heading+body"))]
    return [planned(experiment) for experiment in made]


def ahead(plans: list[Planned], outputs: Path, *, tried: dict[str, Trial] | None = None) -> Forecast:
    looks = Ahead(outputs, False)
    return foresee(plans, looks._finished, looks._ranked, tried=tried)


def counts(forecast: Forecast) -> list[tuple[int, int]]:
    return [(load.embed, load.served) for load in forecast.loads]


def reported(plans: list[Planned], forecast: Forecast, outputs: Path) -> list[tuple[int, int]]:
    """What the sweep says it embedded and was served, for every set of chunks of the forecast; and no set more."""
    done = run(outputs, list(plans))
    assert not done.failures
    metrics = {result.key: result.metrics for result in done.results}
    found = [metrics[load.plan.key] for load in forecast.loads]
    assert sorted(done.prepared) == sorted(one["embedded_tokens"] for one in found)
    return [(int(one["embedded_tokens"] or 0), int(one["cached_tokens"] or 0)) for one in found]


@pytest.mark.parametrize("tried", [{}, None], ids=["counted", "tried too"])
def test_the_forecast_is_what_the_sweep_reports(corpus: Corpus, tmp_path: Path, tried: dict[str, Trial] | None) -> None:
    """To the token, set by set, also when some of it was embedded in a trial; afterwards there is nothing left to do."""
    plans = grid(corpus, hashing(tmp_path))
    forecast = ahead(plans, tmp_path, tried=tried)
    assert (forecast.order.cells, len(forecast.order.twins), len(forecast.loads), forecast.sets) == (5, 1, 4, 4)
    assert len(forecast.order.rescored) == 1, "the cell with other ks reads the ranking of the first"
    assert forecast.total(lambda load: load.served) > 100
    assert (forecast.total(lambda load: load.trial) > 0) == (tried is None)
    if tried is None:
        assert set(forecast.trials) == {"hashing"}
        assert forecast.cell_seconds is not None
    again = ahead(plans, tmp_path, tried={})
    assert counts(again) == counts(forecast)
    assert [+load.rows for load in again.loads] == [+load.rows for load in forecast.loads]
    assert reported(plans, forecast, tmp_path) == counts(forecast)
    after = ahead(plans, tmp_path)
    assert (len(after.order.reused), after.loads, after.trials, after.seconds, sum(after.disk.values())) == (5, [], {}, 0, 0)
    rerun = Ahead(tmp_path, True)
    whole = foresee(plans, rerun._finished, rerun._ranked, tried={})
    assert (len(whole.loads), whole.total(lambda load: load.embed)) == (4, 0)


def test_a_search_by_words_has_nothing_to_embed(corpus: Corpus, tmp_path: Path) -> None:
    """Nor has a set of chunks of which no cell reads vectors; one cell that does is enough."""
    made = experiment_on(corpus, embedder=hashing(tmp_path))
    by_words = [planned(replace(made, retriever=Bm25Retriever(k1)), label=f"k1={k1}") for k1 in (0.9, 1.5)]
    forecast = ahead(by_words, tmp_path)
    assert (counts(forecast), forecast.embedding_seconds) == ([(0, 0)], 0)
    assert forecast.memory < ahead([*by_words, planned(made)], tmp_path, tried={}).memory
    assert reported(by_words, forecast, tmp_path) == [(0, 0)]
    both = ahead([*by_words, planned(made)], tmp_path / "both", tried={})
    done = run(tmp_path / "both", [*by_words, planned(made)])
    assert [load.embed for load in both.loads] == done.prepared
    assert done.prepared[0] > 0


@pytest.mark.parametrize("break_it", ["nothing is kept", "nothing in common", "blind"])
def test_equality_fails_under_mutations(corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, break_it: str) -> None:
    plans = grid(corpus, hashing(tmp_path))
    if break_it == "blind":  # to what the cache holds, which only shows when it holds something
        run(tmp_path / "first", plans[:1])
        monkeypatch.setattr(VectorCache, "holds", lambda self, keys: np.zeros(len(keys), dtype=bool))
        plans = grid(corpus, hashing(tmp_path))
    if break_it == "nothing in common":
        monkeypatch.setattr(Forecaster, "_new", lambda self, found: ~found.held)
    forecast = ahead(plans, tmp_path, tried={})
    if break_it == "nothing is kept":
        plans = grid(corpus, HashingEmbedder())
    done = run(tmp_path, list(plans))
    assert sorted(done.prepared) != sorted(embed for embed, _ in counts(forecast))


def test_real_model_with_late_pooling(tmp_path: Path) -> None:
    """One model both ways: questions are embedded once for both, documents once for all sizes. Counted without weights."""
    corpus = load_folder(write_corpus(tmp_path / "harbour", documents=2, sections=2), name="harbour")
    own, late = (with_cache(minilm(pooling=pooling), tmp_path / "cache" / "vectors", max_bytes=10**9) for pooling in ("own", "late"))
    pairs = [(embedder, size) for embedder in (own, late) for size in (20, 40)]
    plans = [planned(experiment_on(corpus, FixedChunker(size), embedder=embedder), label=f"{size} {id(embedder)}") for embedder, size in pairs]
    forecast = ahead(plans, tmp_path, tried={})
    assert "engine" not in vars(getattr(own, "embedder"))  # noqa: B009
    assert forecast.loads[2].embed < forecast.loads[0].embed
    assert forecast.loads[3].embed == 0
    assert reported(plans, forecast, tmp_path) == counts(forecast)
    assert not ahead(plans, tmp_path).loads


def test_a_strategy_that_embeds_is_counted_before_its_chunks_are_known(corpus: Corpus, tmp_path: Path) -> None:
    """Its sentences exactly and once for all sizes; its chunks only when those are embedded, and then exactly too."""
    embedder = hashing(tmp_path)
    plans = [planned(experiment_on(corpus, SemanticChunker(size, embedder), embedder=embedder)) for size in (30, 60)]
    forecast = ahead(plans, tmp_path, tried={})
    assert [load.open for load in forecast.loads] == [True, True]
    assert forecast.loads[1].strategy == 0
    assert "at least" in said(forecast)
    assert "2 of these sets are not known" in said(forecast)
    sentences = [plan.experiment.chunker.split_all(corpus.documents, rulers(plan))[0].notes for plan in plans]  # type: ignore[attr-defined]
    assert sentences[0]["strategy_tokens"] > 0
    known = ahead(plans, tmp_path, tried={})
    assert not known.open
    assert forecast.total(lambda load: load.strategy) > 0
    assert known.total(lambda load: load.strategy) == 0
    assert reported(plans, known, tmp_path) == counts(known)


def rulers(plan: Planned) -> Any:
    return [plan.experiment.unit.measure(document.text) for document in plan.experiment.corpus.documents]


def said(forecast: Forecast) -> str:
    return "\n".join(line for part in in_full(forecast) for line in part.lines)


def test_what_fails_is_told(corpus: Corpus, tmp_path: Path) -> None:
    class Jammed:
        size = 20

        def split(self, text: str, ruler: object) -> Any:
            raise ValueError("the rudder jams")

    good = planned(experiment_on(corpus, FixedChunker(20), embedder=hashing(tmp_path)))
    bad = planned(experiment_on(corpus, Jammed(), embedder=hashing(tmp_path)))
    forecast = ahead([good, bad], tmp_path, tried={})
    assert "would FAIL" in said(forecast)
    assert "the rudder jams" in said(forecast)
    assert counts(forecast)[0][0] > 0


WORDS = ("strategy=fixed,document", "size=12,24", "overlap=12")


def test_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Impossible cells and twins are named; nothing is written but vectors; the same command without plan=true reports the same tokens."""
    source = write_corpus(tmp_path / "harbour", documents=3)
    words = ("run", *QUICK[:4], "unit=words", "dataset=folder", f"dataset.path={source}", f"outputs={tmp_path}/outputs", "-m", *WORDS)
    plan = call(capsys, *words, "plan=true", "tracking=mlflow")
    assert plan.status == 0
    assert "2 distinct: 2 to run" in plan.out
    assert plan.out.count("twin, run once: document hashing") == 1
    assert plan.out.count("overlap=12: must be smaller than size=12") == 1
    left = {path.relative_to(tmp_path / "outputs").parts[0] for path in (tmp_path / "outputs").rglob("*") if path.is_file()}
    assert left <= {"cache", "hydra"}
    embed, served = numbers(plan.out)
    assert call(capsys, *words).status == 0
    results = [json.loads(path.read_text())["metrics"] for path in tmp_path.glob("outputs/cells/*/result.json")]
    assert len(results) == 2
    assert (embed, served) == tuple(sum(int(one[name]) for one in results) for name in ("embedded_tokens", "cached_tokens"))
    after = call(capsys, *words, "plan=true")
    assert "2 distinct: 0 to run, 0 to score again (their ranking is stored), 2 finished, so reused" in after.out
    assert "nothing to chunk, nothing to embed" in after.out


def numbers(out: str) -> tuple[int, int]:
    found = re.search(r"([\d,]+) tokens to embed; ([\d,]+) served", out)
    assert found is not None
    return int(found[1].replace(",", "")), int(found[2].replace(",", ""))


def test_a_long_sweep_says_it_by_itself_and_a_short_one_does_not(corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Told from a sample and a trial; what the trial embedded counts for the cells that needed it."""
    plans = grid(corpus, hashing(tmp_path))
    looks = Ahead(tmp_path, False)
    assert looks.of_a_long_sweep(plans) == (None, looks.of_a_long_sweep(plans)[1])
    assert not list(tmp_path.rglob("*.sqlite")), "a few tokens are not even looked at"
    monkeypatch.setattr("harness.glance._FEW", 10)
    before = ahead(plans, tmp_path, tried={})
    forecast, earlier = looks.of_a_long_sweep(plans)
    assert forecast is None
    assert sum(earlier.embedded.values()) > 0
    after = ahead(plans, tmp_path, tried={})
    assert after.total(lambda load: load.embed) == before.total(lambda load: load.embed) - sum(earlier.embedded.values())
    monkeypatch.setattr("harness.hydra_front.planning._LONG", 0.0)
    long, _ = looks.of_a_long_sweep(plans)
    assert long is not None
    assert len(in_short(long)) == 2
    assert "4 to run" in in_short(long)[0]


def test_nothing_is_tried_that_costs_money(corpus: Corpus, tmp_path: Path) -> None:
    """Behind a network there is only counting: no request, though the endpoint is nowhere. Money is told."""
    paid: Any = with_cache(endpoint(), tmp_path / "cache" / "vectors", max_bytes=10**9)
    plans = [planned(experiment_on(corpus, FixedChunker(20), embedder=paid))]
    forecast = foresee(plans, lambda _: False, lambda _: False)
    assert forecast.trials == {}
    assert forecast.untried == ["costly"]
    assert forecast.dollars == {"costly": pytest.approx(forecast.lengths["costly"] * 3 / 1e6)}
    assert "money: about $" in said(forecast)
    assert glance(plans, lambda _: False, lambda _: False).seconds == 0.0


def endpoint() -> Any:
    from harness.embedding.http_embedder import HttpEmbedder

    return HttpEmbedder("http://127.0.0.1:9/v1", "costly", "words", 64, dimensions=8, price_per_million_tokens=3.0)


def test_impossible_cells_are_named(corpus: Corpus, tmp_path: Path) -> None:
    plans = grid(corpus, hashing(tmp_path))
    looks = Ahead(tmp_path, False)
    cell = replace(plans[0].cell, label="fixed size=4 overlap=4")
    forecast = foresee([*plans, Impossible(cell, "overlap=4: must be smaller")], looks._finished, looks._ranked, tried={})
    assert "impossible: fixed size=4 overlap=4: overlap=4: must be smaller" in said(forecast)


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_the_bar_counts_work_not_cells(corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of three cells the first is nearly all the work: a bar that counted cells would stand at a third when it is done."""
    monkeypatch.setattr(sys, "stderr", Screen())
    monkeypatch.setenv("TERM", "xterm-256color")
    for name in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)
    plans = grid(corpus, hashing(tmp_path))[:3]
    console = SweepConsole("complete_within_120")
    console.expect([(plan.cell, seconds, 800) for plan, seconds in zip(plans, (80.0, 10.0, 10.0), strict=True)])
    console.sweep_started(3)
    try:
        bar = next(task for task in console._bars.tasks if task.id == console._sweep)  # type: ignore[union-attr]
        assert bar.total == 100
        console.cell_started(plans[0].cell)
        console.tokens(600, 1200)  # 400 of these came from the cache, so 200 of 800 are done
        assert bar.completed == pytest.approx(20)
        console.cell_failed(Failure(plans[0].cell, "jammed", True))
        assert (bar.completed, bar.fields["counted"]) == (80, "1/3")
        console.cell_started(plans[1].cell)
        console.tokens(800, 800)
        assert bar.completed == 90
        clock = iter([console._began + 45.0] * 2)
        monkeypatch.setattr("harness.hydra_front.console.time.perf_counter", lambda: next(clock))
        console._ran = 1
        assert console._remaining() == "  (about 11 s left)", "45 s for 80 of 100"
    finally:
        monkeypatch.undo()
        console.close()


def test_a_forecast_gives_the_bar_its_work(corpus: Corpus, tmp_path: Path) -> None:
    plans = grid(corpus, hashing(tmp_path))
    forecast = ahead(plans, tmp_path, tried={"hashing": Trial(100.0, 0.0, 0, 0)})
    work = {json.dumps(cell.config, sort_keys=True) + cell.label: (seconds, tokens) for cell, seconds, tokens in forecast.work()}
    assert len(forecast.work()) == 5
    first = next(seconds for _, seconds, tokens in forecast.work() if tokens == forecast.loads[0].passages)
    assert first > sum(forecast.loads[0].lengths.values()) / 100
    assert sum(tokens for _, tokens in work.values()) <= sum(forecast.lengths.values())
