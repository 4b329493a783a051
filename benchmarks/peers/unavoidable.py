"""The least that a grid can cost: its distinct chunks and the questions, once, through our engine. Writes seconds and counts.

python benchmarks/peers/unavoidable.py JOB.json [--by-cell]

`--by-cell` embeds cell after cell, each what none before had, instead of all at once: the difference is what a sweep loses by not pooling its cells.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from harness.chunking import chunk_documents
from harness.chunking.fixed import FixedChunker
from harness.chunking.recursive import RecursiveChunker
from harness.chunking.sentence import SentenceChunker
from harness.corpus.folder import load_folder
from harness.embedding import minilm
from harness.units import measure_all

STRATEGIES = {"fixed": FixedChunker, "sentence": SentenceChunker, "recursive": RecursiveChunker}


def new_of_each(cells: Sequence[Sequence[str]]) -> list[list[str]]:
    """The texts of each cell that no cell before it has."""
    met: set[str] = set()
    found = []
    for cell in cells:
        found.append([text for text in dict.fromkeys(cell) if text not in met])
        met.update(cell)
    return found


def main() -> None:
    job = json.loads(Path(sys.argv[1]).read_text())
    corpus, embedder = load_folder(job["corpus"]), minilm()
    rulers, cells = measure_all(embedder.unit, corpus.documents), []
    for cell in job["cells"]:
        chunker = STRATEGIES[cell["strategy"]](size=cell["size"], overlap=cell["overlap"])
        cells.append(chunk_documents(chunker, corpus.documents, rulers).indexed_texts(corpus.documents))
    texts = [text for cell in cells for text in cell]
    portions = new_of_each(cells) if "--by-cell" in sys.argv else [list(dict.fromkeys(texts))]
    questions = list(dict.fromkeys(question.text for question in corpus.questions))
    embedder.embed(["warm up"], "passage")
    began = time.perf_counter()
    tokens = sum(int(embedder.embed(portion, "passage").tokens.sum()) for portion in portions)
    embedder.embed(questions, "query")
    seconds = time.perf_counter() - began
    counts = {"texts": len(texts), "distinct": sum(map(len, portions)), "tokens": tokens}
    Path(job["out"]).write_text(json.dumps({"seconds": seconds, **counts}))


if __name__ == "__main__":
    main()
