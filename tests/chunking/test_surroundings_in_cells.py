"""What surrounds chunks, in whole cells: what the metrics make of it, and sweeps from the command line."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from front_cases import QUICK, call, experiment_on, planned, small_corpus, write_corpus
from surrounding_toys import Lines

import harness
from harness.chunking import digest
from harness.chunking.fixed import FixedChunker
from harness.chunking.surroundings import Surroundings
from harness.corpus.assembly import assemble
from harness.corpus.questions import EvidenceLabel, QuestionLabel
from harness.evaluation import evaluate
from harness.experiment import Retrieved, fitted, retrieve
from harness.hydra_front.keys import ranking_key_of, shelf_key_of
from harness.report.export import export_chunks
from harness.splitter import Splitter
from harness.tracking.rankings import read_retrieved, write_retrieved
from harness.types import CellResult, Corpus, Document
from harness.units import WordUnit


def searched(corpus: Corpus, chunker: Any, **around: Any) -> tuple[Retrieved, CellResult]:
    experiment = replace(experiment_on(corpus, chunker), around=Surroundings(**around))
    retrieved, plan = retrieve(experiment, lambda name: None, lambda done, total: None), planned(experiment)
    served = fitted(experiment, retrieved)
    assert served is not None
    assert np.array_equal(served.ranking.chunk, retrieved.ranking.chunk)
    return retrieved, evaluate(experiment, retrieved, plan.scoring, plan.cell, plan.key)


def two_parents(tmp_path: Path) -> Corpus:
    """The question is nearest to the three children of the first section; its answer is in the second."""
    near = "\n".join(f"Which knot holds a boat number {place}" for place in ("one", "two", "three"))
    text = f"# First\n\n{near}\n\n# Second\n\nA bowline holds.\nNothing else does.\n"
    label = QuestionLabel(1, "q", "Which knot holds a boat number?", ((EvidenceLabel("d.md", "Nothing else does."),),))
    return assemble("knots", [Document("d.md", text)], [label], tmp_path / "questions.jsonl", [])


def test_the_children_of_one_parent_count_once(tmp_path: Path) -> None:
    """By chunks the answer is behind three others; of what the reader gets it is second, and the first section is paid for once."""
    corpus = two_parents(tmp_path)
    _, plain = searched(corpus, Lines())
    retrieved, found = searched(corpus, Lines(), returned="section")
    assert plain.metrics["complete_at_3"] == 0.0
    assert found.metrics["mrr_at_20"] == 0.5
    assert found.metrics["complete_at_3"] == 1.0
    first = retrieved.ranking.chunk[:3]
    assert len(set(zip(retrieved.chunks.returned_start[first].tolist(), retrieved.chunks.returned_end[first].tolist(), strict=True))) == 1
    assert found.metrics["context_tokens_at_5"] == len(corpus.documents[0].text.split())
    assert found.metrics["complete_within_40"] == 1.0


def test_children_that_return_their_own_edges_would_count_each(tmp_path: Path) -> None:
    """The same with every child's span one character longer than the next: what the test above would see if parents were not shared exactly."""
    corpus = two_parents(tmp_path)
    experiment = replace(experiment_on(corpus, Lines()), around=Surroundings(returned="section"))
    retrieved, plan = retrieve(experiment, lambda name: None, lambda done, total: None), planned(experiment)
    chunks = retrieved.chunks
    moved = replace(chunks, returned_start=np.maximum(chunks.returned_start - np.arange(len(chunks)), 0))
    found = evaluate(experiment, replace(retrieved, chunks=moved), plan.scoring, plan.cell, plan.key)
    assert found.metrics["context_tokens_at_5"] != len(corpus.documents[0].text.split())


def test_a_second_vector_can_find_what_the_first_does_not(tmp_path: Path) -> None:
    text = "# Other\n\nFog.\n\n" * 9 + "# Rules\n\nMooring of boats is not for everybody here.\n\n# Mooring fees\n\nTen coins a night.\n"
    label = QuestionLabel(1, "q", "mooring fees", ((EvidenceLabel("d.md", "Ten coins a night."),),))
    corpus = assemble("fees", [Document("d.md", text)], [label], tmp_path / "questions.jsonl", [])
    (one, plain), (two, found) = searched(corpus, Lines()), searched(corpus, Lines(), vectors="heading+body")
    assert (plain.metrics["complete_at_1"], plain.metrics["complete_at_3"]) == (0.0, 0.0)
    assert found.metrics["complete_at_3"] == 1.0
    assert two.facts["index_bytes"] == 2 * one.facts["index_bytes"]
    assert two.facts["embedded_tokens"] + two.facts["cached_tokens"] > one.facts["embedded_tokens"] + one.facts["cached_tokens"]
    assert (found.metrics["chunks"], found.metrics["storage_ratio"]) == (plain.metrics["chunks"], plain.metrics["storage_ratio"])
    assert two.ranking.candidates.tolist() == [len(one.chunks)]
    assert plain.chunk_digest != found.chunk_digest


def test_a_search_ends_when_everything_that_can_be_returned_was_read(tmp_path: Path) -> None:
    """One document of many chunks: to rank them all would bring nothing new."""
    corpus = small_corpus(tmp_path, documents=3, sections=40)
    retrieved, found = searched(corpus, FixedChunker(2), returned="document")
    assert (np.diff(retrieved.ranking.indptr) < retrieved.ranking.candidates).any()
    assert not [line for line in found.warnings if "search deeper" in line]


def test_stored_rankings_hold_every_text(tmp_path: Path) -> None:
    """Half a surrogate pair included, which a column of strings does not take."""
    corpus = two_parents(tmp_path)
    odd = replace(corpus, documents=(replace(corpus.documents[0], title="half \ud83d"),))
    retrieved, _ = searched(odd, Lines(), context="title", vectors="heading+body")
    write_retrieved(tmp_path / "stored", retrieved)
    back = read_retrieved(tmp_path / "stored")
    assert back is not None
    assert back.chunks.context == retrieved.chunks.context
    assert back.chunks.also == retrieved.chunks.also
    assert digest(back.chunks) == digest(retrieved.chunks)


def test_what_was_dropped_is_said(tmp_path: Path) -> None:
    retrieved, found = searched(two_parents(tmp_path), Lines(), min_size=4, short="drop")
    assert retrieved.chunks.notes["dropped"] == 4
    assert [line for line in found.warnings if line.startswith("4 chunks under min_size were dropped")]
    assert found.metrics["answer_existence"] == 0.0


def test_whatever_surrounds_a_chunk_is_in_the_key(tmp_path: Path) -> None:
    base = experiment_on(small_corpus(tmp_path, documents=1))
    choices: list[dict[str, Any]] = [{}, {"context": "title"}, {"returned": "section"}, {"min_size": 2}, {"min_size": 2, "short": "drop"}]
    around = [Surroundings(**choice) for choice in (*choices, {"vectors": "heading+body"})]
    shelves = [shelf_key_of(replace(base, around=one)) for one in around]
    assert len({ranking_key_of(base, shelf) for shelf in shelves}) == len(around)


DATA = ("dataset=folder", "size=12", "overlap=0")


def test_a_sweep_over_what_surrounds_a_chunk(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Unquoted as they are typed; impossible ones are skipped; the winner is run again, loaded and exported as it was measured."""
    corpus = write_corpus(tmp_path / "harbour", documents=2)
    words = ("run", *QUICK, *DATA, f"dataset.path={corpus}", f"outputs={tmp_path}/outputs")
    axes = ("context=none,title+heading_path", "returned=parent:8,parent:48,neighbours:1", "vectors=one,heading+body", "min_size=5")
    said = call(capsys, *words, "-m", *axes)
    assert said.status == 0, said.err
    assert "8 ran, 4 impossible" in said.out
    assert "recursive size=12 overlap=0 hashing context=title+heading_path returned=parent:48 min_size=5 vectors=heading+body" in said.out
    (sweep,) = tmp_path.glob("outputs/sweeps/*")
    record = json.loads((sweep / "sweep.json").read_text(encoding="utf-8"))
    assert len({cell["label"] for cell in record["cells"]}) == len(record["cells"]) == 8
    again = call(capsys, "run", "--config-dir", str(sweep), "--config-name", "winner", *QUICK[1:-2], "unit=words", f"outputs={tmp_path}/outputs")
    assert "1 reused" in again.out, again.err
    board = (sweep / "leaderboard.csv").read_text(encoding="utf-8").splitlines()
    assert "context,returned,min_size,short,vectors" in board[0]


def test_the_winner_splits_and_exports_as_it_was_measured(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    corpus = write_corpus(tmp_path / "harbour", documents=2)
    around = ("context=heading_path", "returned=parent:48", "vectors=heading+body", "min_size=5")
    said = call(capsys, "run", *QUICK, *DATA, *around, f"dataset.path={corpus}", f"outputs={tmp_path}/outputs")
    assert said.status == 0, said.err
    splitter = harness.load(next(tmp_path.glob("outputs/sweeps/*/winner.yaml")))
    assert splitter.around == Surroundings("heading_path", "parent:48", 5, "merge", "heading+body")
    (place,) = tmp_path.glob("outputs/rankings/*")
    measured = read_retrieved(place)
    assert measured is not None
    text = (corpus / "documents" / "notice-0.md").read_text(encoding="utf-8")
    found, first = splitter.split(text), measured.chunks.doc == 0
    for column in ("start", "end", "returned_start", "returned_end"):
        assert [getattr(chunk, column) for chunk in found] == getattr(measured.chunks, column)[first].tolist()
    assert tuple(chunk.context for chunk in found) == (measured.chunks.context or ())[: len(found)]
    assert tuple(chunk.also for chunk in found) == (measured.chunks.also or ())[: len(found)]


def test_an_export_has_what_is_returned_and_every_vector(tmp_path: Path) -> None:
    around = Surroundings(context="heading_path", returned="section", vectors="heading+body")
    experiment = replace(experiment_on(small_corpus(tmp_path / "harbour", documents=1), FixedChunker(20)), around=around)
    count = export_chunks(experiment, tmp_path / "export")
    rows = pq.read_table(tmp_path / "export" / "chunks.parquet").to_pylist()
    text = experiment.corpus.documents[0].text
    assert len(rows) == 2 * count
    assert sum(row["id"].endswith("#also") for row in rows) == count
    for row in rows:
        assert row["text"] == text[row["returned_start"] : row["returned_end"]]
        if not row["id"].endswith("#also"):
            assert row["indexed_text"] == row["context"] + text[row["start"] : row["end"]]
    vectors = experiment.embedder.embed([row["indexed_text"] for row in rows], "passage").vectors
    assert np.allclose([row["vector"] for row in rows], vectors)


def test_a_splitter_of_ones_own_takes_name_title_and_metadata() -> None:
    around = Surroundings(context="title+metadata:team", returned="document")
    found = Splitter(FixedChunker(3), WordUnit(), around).split(" one two three four ", title="T", metadata={"team": "x"})
    assert [(chunk.text, chunk.context) for chunk in found] == [(" one two three ", "T\nx\n"), ("four ", "T\nx\n")]
    assert {(chunk.returned_start, chunk.returned_end) for chunk in found} == {(1, 19)}


@pytest.mark.parametrize(
    ("preset", "strategy", "returned"), [("parent_child", "recursive", "parent:512"), ("sentence_window", "sentence", "neighbours:3")]
)
def test_presets(preset: str, strategy: str, returned: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Several settings at once, each of which may still be changed; the winner needs no preset to be run again."""
    corpus = write_corpus(tmp_path / "harbour", documents=2)
    words = ("run", "embedder=hashing", *QUICK[1:4], f"preset={preset}", "unit=words", "dataset=folder", f"dataset.path={corpus}")
    said = call(capsys, *words, f"outputs={tmp_path}/outputs")
    assert said.status == 0, said.err
    config = json.loads(next(tmp_path.glob("outputs/cells/*/config.json")).read_text(encoding="utf-8"))
    assert (config["choices"]["strategy"], config["returned"]) == (strategy, returned)
    sweep = next(tmp_path.glob("outputs/sweeps/*"))
    again = call(capsys, "run", "--config-dir", str(sweep), "--config-name", "winner", *QUICK[1:4], f"outputs={tmp_path}/outputs")
    assert "1 reused" in again.out, again.err
    changed = call(capsys, *words, "returned=neighbours:1", f"outputs={tmp_path}/outputs")
    assert "hashing returned=neighbours:1" in changed.out
