"""mtcb (PyPI, tried: 0.1.0) on the same grid: one SimpleEvaluator a cell with chonkie's chunkers, as its README has it.

    PYTHON_OF_ITS_OWN_ENVIRONMENT benchmarks/peers/mtcb_side.py JOB.json [--chunks]

It embeds through hosted services or a model2vec model; any other object with `embed_batch` is taken as it is, so MiniLM comes in by the small class
below. A question has one passage, so only questions with one passage of evidence can be asked. Chonkie's recursive chunker has no overlap; its
OverlapRefinery is put behind it, as chonkie's pages say. Sizes are in MiniLM's tokens. `cache_dir` is given, for what it keeps. Its recall at a k
larger than any number of chunks is its answer existence. `--chunks` writes every cell's chunks for the judge instead; it is not timed.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

ALL = 10**9


def questions(corpus: str) -> list[dict]:
    lines = Path(corpus, "questions.jsonl").read_text(encoding="utf-8").splitlines()
    found = [json.loads(line) for line in lines]
    return [question for question in found if question["answers"] and len(question["answers"][0]["evidence"]) == 1]


class MiniLM:
    """What mtcb asks of an embedder."""

    model = "all-MiniLM-L6-v2"

    def __init__(self, path: str) -> None:
        from sentence_transformers import SentenceTransformer

        self._model = SentenceTransformer(path)

    def embed_batch(self, texts: list[str], input_type: str = "document", show_progress: bool = False) -> list[Any]:
        return list(self._model.encode(texts))


class Overlapping:
    """Chonkie's recursive chunker with its overlap refinery behind it."""

    def __init__(self, chunker: Any, refinery: Any) -> None:
        self._chunker, self._refinery = chunker, refinery

    def __call__(self, text: str) -> list[Any]:
        return self._refinery(self._chunker(text))


def chunker(cell: dict, model: str) -> Any:
    import chonkie
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(f"{model}/tokenizer.json")
    tokenizer.no_truncation()
    tokenizer.no_padding()
    size, overlap = cell["size"], cell["overlap"]
    if cell["strategy"] == "fixed":
        return chonkie.TokenChunker(tokenizer=tokenizer, chunk_size=size, chunk_overlap=overlap)
    if cell["strategy"] == "sentence":
        return chonkie.SentenceChunker(tokenizer, chunk_size=size, chunk_overlap=overlap)
    plain = chonkie.RecursiveChunker(tokenizer=tokenizer, chunk_size=size)
    if not overlap:
        return plain
    return Overlapping(plain, chonkie.OverlapRefinery(tokenizer=tokenizer, context_size=overlap, method="prefix", merge=True))


def documents(corpus: str) -> dict[str, str]:
    folder = Path(corpus, "documents")
    return {str(path.relative_to(folder)): path.read_bytes().decode() for path in sorted(folder.rglob("*")) if path.is_file()}


def run(job: dict) -> list[dict]:
    from mtcb import SimpleEvaluator

    model, asked = MiniLM(job["model"]), questions(job["corpus"])
    passages = [question["answers"][0]["evidence"][0]["quote"] for question in asked]
    rows = []
    for cell in job["cells"]:
        evaluator = SimpleEvaluator(
            corpus=list(documents(job["corpus"]).values()),
            questions=[question["question"] for question in asked],
            relevant_passages=passages,
            chunker=chunker(cell, job["model"]),
            embedding_model=model,
            tokenizer=None,
            cache_dir=job["folder"],
        )
        found = evaluator.evaluate(k=[*job["ks"], ALL], show_progress_bar=False)
        recall = {f"recall_at_{k}": found.recall[k] for k in job["ks"]}
        rows.append({**cell, "chunks": found.total_chunks_created, "n": len(asked), "exists": found.recall[ALL], **recall})
    return rows


def chunks(job: dict) -> list[dict]:
    found = []
    for cell in job["cells"]:
        cut = chunker(cell, job["model"])
        made = [(name, chunk.text, chunk.start_index) for name, text in documents(job["corpus"]).items() for chunk in cut(text)]
        found.append({**cell, "chunks": made})
    return found


def main() -> None:
    job = json.loads(Path(sys.argv[1]).read_text())
    found = chunks(job) if "--chunks" in sys.argv else run(job)
    Path(job["out"]).write_text(json.dumps(found))


if __name__ == "__main__":
    main()
