"""context-grid (PyPI, tried: 0.9.5) on the same grid, as its documentation has it: a YAML file, a plugin that brings the model, `contextgrid run`.

    PYTHON_OF_ITS_OWN_ENVIRONMENT benchmarks/peers/context_grid_side.py JOB.json [--chunks]

Written to be fair to it: sizes are in MiniLM's tokens (its own default counts words), evidence has to lie wholly in a chunk (its default is half of
it), vectors are kept on disk (its default forgets them). It has no sentence strategy with a size in tokens of its own; the one of chonkie, which it
offers, is taken. `--chunks` writes every cell's chunks as (document, text, start) instead of running, for the judge; it is not timed.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

PLUGIN = """
import dataclasses
from functools import lru_cache
from typing import ClassVar

from contextgrid.embed import EMBEDDERS, EmbeddingResult
from contextgrid.tokens import TOKENIZERS

MODEL = {model!r}


@lru_cache(maxsize=1)
def model():
    from sentence_transformers import SentenceTransformer

    return SentenceTransformer(MODEL)


@lru_cache(maxsize=1)
def word_pieces():
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(MODEL + "/tokenizer.json")
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


@dataclasses.dataclass(frozen=True)
class MiniLMTokens:
    name: str = "minilm"
    exact: bool = True

    def token_spans(self, text):
        return word_pieces().encode(text, add_special_tokens=False).offsets

    def count(self, text):
        return len(word_pieces().encode(text, add_special_tokens=False).ids)


@dataclasses.dataclass(frozen=True)
class MiniLM:
    name: ClassVar[str] = "minilm"
    version: ClassVar[str] = "1"
    normalised: ClassVar[bool] = True
    max_tokens: ClassVar[int] = None  # the model cuts by its own tokenizer, as everywhere in this comparison
    dimensions: ClassVar[int] = 384

    def prepare(self, documents):
        return None

    def embed_documents(self, texts):
        return EmbeddingResult(vectors=model().encode(list(texts)), input_tokens=0)

    def embed_queries(self, texts):
        return self.embed_documents(texts)


TOKENIZERS.register("minilm", doc="MiniLM's word pieces.")(MiniLMTokens)
EMBEDDERS.register("minilm", doc="all-MiniLM-L6-v2.")(MiniLM)
"""
NAMES = {"fixed": "fixed", "recursive": "recursive", "sentence": "chonkie:sentence"}


def spec(cell: dict) -> str:
    return f"{NAMES[cell['strategy']]}:{cell['size']},overlap={cell['overlap']},tokenizer=minilm"


def questions(corpus: str) -> list[dict]:
    """Its own form; an answer of several passages becomes a question with several gold spans, the most that it can say."""
    found = []
    for line in Path(corpus, "questions.jsonl").read_text(encoding="utf-8").splitlines():
        question = json.loads(line)
        if question["answers"]:
            passages = [passage for answer in question["answers"] for passage in answer["evidence"]]
            gold = [{"doc_id": passage["doc"], "start": passage["start"], "end": passage["end"]} for passage in passages]
            found.append({"id": question["id"], "question": question["question"], "gold": gold})
    return found


def write_experiment(job: dict, folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "minilm_plugin.py").write_text(PLUGIN.format(model=job["model"]))
    (folder / "questions.jsonl").write_text("\n".join(json.dumps(question) for question in questions(job["corpus"])))
    experiment = {
        "corpus": str(Path(job["corpus"], "documents")),
        "evalset": "questions.jsonl",
        "plugins": ["./minilm_plugin.py"],
        "grid": {"parser": "text", "chunker": [spec(cell) for cell in job["cells"]], "embedder": "minilm", "index": "dense"},
        "run": {
            "mode": "factorial",
            "k": max(job["ks"]),
            "headline": f"hit_rate@{job['ks'][-1]}",
            "resolution_policy": "containment",
            "cache": "disk",
        },
        "report": {"out": "results", "formats": ["json"]},
    }
    place = folder / "experiment.yaml"
    place.write_text(json.dumps(experiment))  # JSON is YAML
    return place


def read_back(job: dict, folder: Path) -> list[dict]:
    answerable = len(questions(job["corpus"]))
    found = json.loads((folder / "results" / "results.json").read_text())
    runs = {run["config"]["chunker"]: run for run in found["runs"]}
    rows = []
    for cell in job["cells"]:
        run = runs[spec(cell)]
        n = run["scored_queries"]
        rows.append({**cell, "chunks": run["chunks"], "n": n, "exists": n / answerable, **run["metrics"]})
    return rows


def chunks(job: dict, folder: Path) -> list[dict]:
    from contextgrid.chunk import get_chunker
    from contextgrid.config.plugins import load_plugins
    from contextgrid.corpus import Corpus
    from contextgrid.pipeline import Config, build

    load_plugins(("./minilm_plugin.py",), base=folder)
    parses = build(Config(parser="text", embedder=None, index="bm25"), Corpus.from_dir(Path(job["corpus"], "documents"))).parses
    found = []
    for cell in job["cells"]:
        cut = get_chunker(spec(cell))
        made = [chunk for parsed in parses.values() for chunk in cut.chunk(parsed)]
        found.append({**cell, "chunks": [(chunk.span.doc_id, chunk.text, chunk.span.start) for chunk in made]})
    return found


def main() -> int:
    job = json.loads(Path(sys.argv[1]).read_text())
    folder = Path(job["folder"])
    experiment = write_experiment(job, folder)
    if "--chunks" in sys.argv:
        Path(job["out"]).write_text(json.dumps(chunks(job, folder)))
        return 0
    from contextgrid.cli.__main__ import main as contextgrid

    status = contextgrid(["run", str(experiment)])
    if not status:
        Path(job["out"]).write_text(json.dumps(read_back(job, folder)))
    return status or 0


if __name__ == "__main__":
    sys.exit(main())
