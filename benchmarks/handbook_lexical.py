"""How far lexical search alone gets on the bundled handbook: BM25 hit rate@1 on recursive chunks of 256 tokens.

python benchmarks/handbook_lexical.py
"""

from __future__ import annotations

import sys
from datetime import date

import bm25s
import numpy as np

from harness.chunking import chunk_documents
from harness.chunking.recursive import RecursiveChunker
from harness.corpus.bundled import bundled
from harness.embedding import minilm
from harness.filters import candidates_of
from harness.metrics.held import relevant
from harness.units import measure_all


def main() -> None:
    corpus = bundled("handbook")
    documents = corpus.documents
    chunks = chunk_documents(RecursiveChunker(256, 0), documents, measure_all(minilm().unit, documents))
    candidates = candidates_of(documents, corpus.questions)
    found = relevant(corpus, chunks, candidates)
    index = bm25s.BM25()
    index.index(bm25s.tokenize(chunks.indexed_texts(documents), stopwords="en", show_progress=False), show_progress=False)
    asked = bm25s.tokenize([question.text for question in corpus.questions], stopwords="en", show_progress=False, return_ids=False)
    hits = held = 0
    for place, words in enumerate(asked):
        whole = found.probes.chunk[found.probes.question == place]
        if len(whole):
            allowed = candidates.documents[candidates.group[place]][chunks.doc]
            scores = np.where(allowed, index.get_scores(words), -np.inf)
            held += 1
            hits += int(np.argmax(scores)) in set(whole.tolist())
    asked_of_one = sum(bool(question.answers) for question in corpus.questions) - int(found.labels.multi_document.sum())
    sys.stdout.write(
        f"{date.today()}  handbook, {len(chunks)} chunks: BM25 hit rate@1 {hits / asked_of_one:.3f} of {asked_of_one} single-document questions, "
        f"{hits / held:.3f} of the {held} whose answer is whole in a chunk\n"
    )


if __name__ == "__main__":
    main()
