"""What a page and an explanation are made of, read back from the files of a sweep."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from report_toys import corpus_of, swept

from harness.errors import StoreError
from harness.experiment import Retrieved
from harness.report.material import load
from harness.tracking.rankings import write_retrieved
from harness.types import CellResult, Corpus

CORPUS = corpus_of(
    ["Ferries leave at six. They wait for nobody, not even for the mail."], [("When do ferries leave?", [[(0, "leave at six", None)]])]
)


@pytest.fixture
def stored(tmp_path: Path) -> list[CellResult]:
    _, material = swept(CORPUS, [(20, 0), (40, 0)])
    for cell in material.cells:
        write_retrieved(tmp_path / "rankings" / cell.result.ranking_key[:20], Retrieved(cell.chunks, cell.ranking))
    return [cell.result for cell in material.cells]


def test_rankings_are_found_by_their_key(tmp_path: Path, stored: list[CellResult]) -> None:
    material = load(tmp_path, stored, CORPUS, digests=(CORPUS.digest, CORPUS.questions_digest))
    assert material.missing == ()
    assert material.text() is CORPUS
    assert [cell.result for cell in material.cells] == stored
    assert np.array_equal(material.cells[0].chunks.start, [0, 20, 40, 60])


def changed(corpus: Corpus, **change: str) -> Corpus:
    return replace(corpus, **change)


@pytest.mark.parametrize(
    ("corpus", "why"),
    [
        (None, "text is not at hand"),
        (changed(CORPUS, digest="other"), "documents of toy"),
        (changed(CORPUS, questions_digest="x"), "questions of toy"),
    ],
)
def test_other_text_than_was_measured_is_not_shown(tmp_path: Path, stored: list[CellResult], corpus: Corpus | None, why: str) -> None:
    material = load(tmp_path, stored, corpus, digests=(CORPUS.digest, CORPUS.questions_digest))
    assert material.corpus is None
    assert why in material.missing[0]
    with pytest.raises(StoreError, match=why):
        material.text()


def test_a_ranking_that_is_gone_is_named(tmp_path: Path, stored: list[CellResult]) -> None:
    (tmp_path / "rankings" / stored[1].ranking_key[:20] / "chunks.parquet").write_bytes(b"")
    material = load(tmp_path, [*stored, replace(stored[0], ranking_key="")], CORPUS)
    assert [cell.result for cell in material.cells] == stored[:1]
    assert [stored[1].cell.label in material.missing[0], len(material.missing)] == [True, 2]


def test_cells_are_found_by_label_or_key(tmp_path: Path, stored: list[CellResult]) -> None:
    material = load(tmp_path, stored, CORPUS)
    assert material.cell("fixed size=20").result is stored[0]
    assert material.cell(stored[1].key).result is stored[1]
    for name in ("fixed", "nothing"):
        with pytest.raises(StoreError, match="there are: fixed size=20"):
            material.cell(name)
