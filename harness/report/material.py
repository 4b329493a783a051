"""What a page or an explanation is made of: the corpus with its text, and of each cell the result, the chunks and the ranking."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.errors import StoreError
from harness.filters import candidates_of
from harness.tracking.rankings import read_retrieved
from harness.types import Candidates, CellResult, ChunkSet, Corpus, Ranking


@dataclass(frozen=True, slots=True)
class CellMaterial:
    """A cell's result with the chunks and the ranking behind it. Rows of `result.questions`, `ranking` and the corpus's questions are the same."""

    result: CellResult
    chunks: ChunkSet
    ranking: Ranking


@dataclass(frozen=True, slots=True)
class Material:
    """Everything that explains a sweep. `corpus` is None where its text is not at hand, or is not the text that was measured; then nothing can be
    shown of documents and questions, and `missing` says why in one sentence. `missing` also names cells whose ranking is gone."""

    corpus: Corpus | None
    cells: tuple[CellMaterial, ...]
    missing: tuple[str, ...] = ()

    def candidates(self, cell: CellMaterial) -> Candidates:
        """Which documents each question may be answered from in this cell. Raises StoreError where there is no corpus."""
        corpus, config = self.text(), cell.result.cell.config
        return candidates_of(corpus.documents, corpus.questions, config.get("scope", "question"), config.get("filter"))

    def text(self) -> Corpus:
        """The corpus. Raises StoreError where there is none."""
        if self.corpus is None:
            raise StoreError(" ".join(self.missing) or "the documents' text is not at hand")
        return self.corpus

    def cell(self, name: str) -> CellMaterial:
        """The cell with this label, or whose label or key begins so. Raises StoreError where there is none, or several."""
        exact = [cell for cell in self.cells if name in (cell.result.cell.label, cell.result.key)]
        found = exact or [cell for cell in self.cells if cell.result.cell.label.startswith(name) or cell.result.key.startswith(name)]
        if len(found) != 1:
            known = "; ".join(cell.result.cell.label for cell in found or self.cells)
            raise StoreError(f"cell {name!r}: {'several begin so' if found else 'there is none'}; there are: {known or 'none'}")
        return found[0]


def load(outputs: Path, results: Sequence[CellResult], corpus: Corpus | None, *, digests: tuple[str, str] | None = None) -> Material:
    """Read the rankings of `results` from `outputs`/rankings.

    `digests` (of documents, of questions) are those that were measured: a corpus with others is not used. Cells whose ranking is gone, damaged, or
    of another number of questions are left out and named in `missing`.
    """
    missing = []
    if corpus is None:
        missing.append("The documents' text is not at hand.")
    elif digests is not None and (corpus.digest, corpus.questions_digest) != digests:
        changed = "documents" if corpus.digest != digests[0] else "questions"
        missing.append(f"The {changed} of {corpus.name} are not those that were measured, so they are not shown.")
        corpus = None
    elif corpus.stored:
        size = sum(document.length for document in corpus.documents)
        missing.append(f"The corpus is too large for this ({size / 1e6:,.0f} million characters), so documents and questions are not shown.")
        corpus = None
    cells = []
    for result in results:
        stored = read_retrieved(outputs / "rankings" / result.ranking_key[:20]) if result.ranking_key else None
        if stored is None or len(stored.ranking) != len(result.questions):
            missing.append(f"The ranking of {result.cell.label} is gone or damaged.")
        else:
            cells.append(CellMaterial(result, stored.chunks, stored.ranking))
    return Material(corpus, tuple(cells), tuple(missing))
