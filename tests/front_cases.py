"""What the suites of the front share: small corpora of our own, planned cells without Hydra, and the console command called in this process."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from harness.chunking.base import Chunker
from harness.chunking.fixed import FixedChunker
from harness.corpus.folder import load_folder
from harness.embedding import CachedEmbedder, HashingEmbedder
from harness.embedding.base import Embedder, Kind, Progress
from harness.evaluation import Scoring
from harness.experiment import Experiment
from harness.filters import candidates_of
from harness.hydra_front.keys import cell_key_of, ranking_key_of, shelf_key_of
from harness.planned import Planned
from harness.retrieval.base import Index, Retriever, Shelf
from harness.retrieval.dense import DenseRetriever
from harness.types import Cell, Corpus, Embedded
from harness.units import WordUnit
from harness.units.base import Unit

ROOT = Path(__file__).resolve().parent.parent
_WORDS = """anchor ballast beacon bilge bosun bowline buoy capstan chart cleat compass crane davit dinghy dory fathom fender ferry fog foghorn
foremast galley gangway harbour hatch hawser helm hull jetty keel kelp lantern lighthouse line locker mainsail mast mooring oar painter pier pilot
plank pump quay rigging rope rudder sail sextant shackle shoal skipper slipway sloop sounding spar starboard stern tackle tide tiller topsail"""
WORDS = _WORDS.split()
QUICK = ("embedder=hashing", "report=false", "tracking=files", "scoring.resamples=60", "size=24", "unit=words")
"""Words of a command that costs a fraction of a second."""


def write_corpus(folder: Path, *, documents: int = 5, sections: int = 4, seed: int = 1) -> Path:
    """Harbour notices: Markdown with headings; for each section a question whose answer is one sentence, or a rule with its exception; one question
    a document that nothing answers; one behind a filter."""
    draw = random.Random(seed)
    (folder / "documents").mkdir(parents=True, exist_ok=True)
    rows: list[dict[str, Any]] = []
    for number in range(documents):
        name, parts = f"notice-{number}.md", [f"# Notice {number}"]
        for section in range(sections):
            told = [[draw.choice(WORDS) for _ in range(8)] for _ in range(5)]
            sentences = [f"Rule {number}.{section}.{place} is about {' '.join(words)}." for place, words in enumerate(told)]
            parts += [f"## Section {section}", " ".join(sentences)]
            evidence = [{"doc": name, "quote": sentences[1], "role": "claim"}]
            if section % 2:
                evidence.append({"doc": name, "quote": sentences[4], "role": "exception"})
            question = {"id": f"q{number}-{section}", "question": f"What of {' '.join(told[1][:5])}?", "answers": [{"evidence": evidence}]}
            rows.append({**question, "filter": {"doc": name}} if section == 2 else question)
        rows.append({"id": f"none-{number}", "question": f"Who painted the {draw.choice(WORDS)}?", "answers": []})
        (folder / "documents" / name).write_text("\n\n".join(parts) + "\n", encoding="utf-8")
    (folder / "questions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return folder


def small_corpus(folder: Path, **changes: Any) -> Corpus:
    """`write_corpus`, loaded."""
    return load_folder(write_corpus(folder, **changes), name="harbour")


@dataclass
class Calls:
    """How often the costly steps were taken."""

    embedded: int = 0
    built: int = 0


@dataclass
class CountedEmbedder:
    """An embedder that counts the texts it is asked for."""

    inner: Embedder
    calls: Calls = field(compare=False)

    @property
    def name(self) -> str:
        return self.inner.name

    @property
    def identity(self) -> str:
        return self.inner.identity

    @property
    def dim(self) -> int:
        return self.inner.dim

    @property
    def limit(self) -> int:
        return self.inner.limit

    @property
    def unit(self) -> Unit:
        return self.inner.unit

    def embed(self, texts: Any, kind: Kind, progress: Progress | None = None) -> Embedded:
        self.calls.embedded += len(texts)
        return self.inner.embed(texts, kind, progress)


@dataclass(frozen=True)
class CountedRetriever:
    """A retriever that counts the indexes it builds."""

    inner: Retriever
    calls: Calls = field(compare=False)

    def build(self, shelf: Shelf) -> Index:
        self.calls.built += 1
        return self.inner.build(shelf)


def experiment_on(corpus: Corpus, chunker: Chunker | None = None, calls: Calls | None = None, **changes: Any) -> Experiment:
    """Windows of 20 words, hashed words, exact search; whatever `changes` says otherwise."""
    calls = calls or Calls()
    plain = Experiment(
        corpus=corpus,
        candidates=candidates_of(corpus.documents, corpus.questions),
        chunker=chunker or FixedChunker(20),
        unit=WordUnit(),
        embedder=CountedEmbedder(CachedEmbedder(HashingEmbedder()), calls),
        retriever=CountedRetriever(DenseRetriever(), calls),
        budget_unit=WordUnit(),
        ks=(1, 3, 5),
        budgets=(40, 120),
    )
    return replace(plain, **changes)


def planned(experiment: Experiment, *, label: str | None = None, scoring: Scoring | None = None) -> Planned:
    """The experiment as a cell with its keys."""
    scoring = scoring or Scoring(60)
    chunker: Any = experiment.chunker
    size, overlap = getattr(chunker, "size", None), getattr(chunker, "overlap", None)
    strategy = type(chunker).__name__.removesuffix("Chunker").lower()
    label = label or f"{strategy} size={size} overlap={overlap} hashing"
    cell = Cell(strategy, size, overlap, "hashing", "dense", "words", label, {"size": size, "overlap": str(overlap)})
    shelf_key = shelf_key_of(experiment)
    ranking_key = ranking_key_of(experiment, shelf_key)
    return Planned(cell, cell_key_of(ranking_key, experiment, scoring), ranking_key, experiment, scoring, shelf_key)


@dataclass(frozen=True)
class Said:
    """What a command said and how it ended."""

    status: int
    out: str
    err: str

    @property
    def lines(self) -> list[str]:
        """The lines of standard error."""
        return self.err.splitlines()


def call(capsys: Any, *words: str) -> Said:
    """`chunk-sweep WORDS` in this process."""
    from harness.cli.main import main

    before, sys.argv = sys.argv, ["chunk-sweep"]
    capsys.readouterr()
    try:
        status = main(list(words))
    except SystemExit as ended:
        status = int(ended.code or 0)
    finally:
        sys.argv = before
    said = capsys.readouterr()
    return Said(status, said.out, said.err)


def start(*words: str, cwd: Path | None = None, **environment: str) -> subprocess.Popen[str]:
    """`chunk-sweep WORDS` in a process of its own."""
    known = {**os.environ, "PYTHONPATH": str(ROOT), "MLFLOW_DISABLE_TELEMETRY": "true", "DO_NOT_TRACK": "true", **environment}
    command = [sys.executable, "-m", "harness", *words]
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen(command, cwd=cwd, env=known, preexec_fn=_hear_ctrl_c, **pipes)


def _hear_ctrl_c() -> None:
    """A shell starts what it runs in the background deaf to Ctrl-C, and a process hands that on."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def finished(process: subprocess.Popen[str], timeout: float = 120) -> Said:
    """Wait for it."""
    out, err = process.communicate(timeout=timeout)
    return Said(process.returncode, out, err)
