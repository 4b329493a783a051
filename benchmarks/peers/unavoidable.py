"""The least that a grid can cost: its distinct chunks and the questions, once, through our engine. Writes seconds and counts.

python benchmarks/peers/unavoidable.py JOB.json
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from harness.chunking import chunk_documents
from harness.chunking.fixed import FixedChunker
from harness.chunking.recursive import RecursiveChunker
from harness.chunking.sentence import SentenceChunker
from harness.corpus.folder import load_folder
from harness.embedding import minilm
from harness.units import measure_all

STRATEGIES = {"fixed": FixedChunker, "sentence": SentenceChunker, "recursive": RecursiveChunker}


def main() -> None:
    job = json.loads(Path(sys.argv[1]).read_text())
    corpus, embedder = load_folder(job["corpus"]), minilm()
    rulers, texts = measure_all(embedder.unit, corpus.documents), []
    for cell in job["cells"]:
        chunker = STRATEGIES[cell["strategy"]](size=cell["size"], overlap=cell["overlap"])
        texts += chunk_documents(chunker, corpus.documents, rulers).indexed_texts(corpus.documents)
    distinct = list(dict.fromkeys(texts))
    questions = list(dict.fromkeys(question.text for question in corpus.questions))
    embedder.embed(["warm up"], "passage")
    began = time.perf_counter()
    passages = embedder.embed(distinct, "passage")
    embedder.embed(questions, "query")
    seconds = time.perf_counter() - began
    counts = {"texts": len(texts), "distinct": len(distinct), "tokens": int(passages.tokens.sum())}
    Path(job["out"]).write_text(json.dumps({"seconds": seconds, **counts}))


if __name__ == "__main__":
    main()
