"""Fixed windows of 400 cl100k tokens overlapping by 200: the same spans as a published evaluation, at their true offsets."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from harness.chunking import chunk_documents
from harness.chunking.fixed import FixedChunker
from harness.types import ChunkSet, Document
from harness.units import TiktokenUnit, measure_all

Golden = tuple[list[Document], ChunkSet, list[tuple[int, int, int]]]


@pytest.fixture
def golden(extra_data: Path) -> Golden:
    stored = json.loads((extra_data / "golden" / "fixed_400_200.json").read_text(encoding="utf-8"))
    order = stored["corpus_order"]
    folder = extra_data / "raw" / "chroma" / "corpora"
    documents = [Document(name, (folder / f"{name}.md").read_bytes().decode("utf-8")) for name in order]
    chunks = chunk_documents(FixedChunker(400, 200, keep_tail=False), documents, measure_all(TiktokenUnit("cl100k_base"), documents))
    wanted = sorted((order.index(row["corpus_id"]), row["true_start"], row["true_end"]) for row in stored["chunks"])
    return documents, chunks, wanted


def spans(chunks: ChunkSet, moved: int = 0) -> list[tuple[int, int, int]]:
    return list(zip(chunks.doc.tolist(), (chunks.start + moved).tolist(), (chunks.end + moved).tolist(), strict=True))


def test_the_same_spans(golden: Golden) -> None:
    documents, chunks, wanted = golden
    assert len(wanted) == 1639
    assert spans(chunks) == wanted
    assert spans(chunks, moved=1) != wanted, "offsets moved by one must not pass"
    assert chunks.notes == {}
    assert np.bincount(chunks.doc).tolist() == [sum(doc == number for doc, _, _ in wanted) for number in range(len(documents))]


def test_the_tail_and_the_overlap_matter(golden: Golden) -> None:
    documents, _, wanted = golden
    rulers = measure_all(TiktokenUnit("cl100k_base"), documents)
    for other in (FixedChunker(400, 200, keep_tail=True), FixedChunker(400, 199, keep_tail=False), FixedChunker(399, 199, keep_tail=False)):
        assert spans(chunk_documents(other, documents, rulers)) != wanted
