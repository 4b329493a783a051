"""Why a cell answered a question, or did not: as records, as one sentence, as text for the console."""

from __future__ import annotations

from harness.errors import StoreError
from harness.report.explain.explainer import Explainer, lexical
from harness.report.explain.records import Boundary, Excerpt, Explanation, Hit, Lexical, Mark, Piece
from harness.report.explain.sentence import sentence
from harness.report.explain.text import explain_text, lexical_sentence
from harness.report.material import CellMaterial, Material

__all__ = [
    "Boundary",
    "Excerpt",
    "Explainer",
    "Explanation",
    "Hit",
    "Lexical",
    "Mark",
    "Piece",
    "explain",
    "explain_text",
    "lexical",
    "lexical_sentence",
    "sentence",
]


def explain(material: Material, cell: CellMaterial, question: str) -> Explanation:
    """Why `cell` answered the question with this id, or did not. Raises StoreError where there is no such question, or no text."""
    explainer = Explainer(material)
    numbers = {asked.id: number for number, asked in enumerate(explainer.corpus.questions)}
    if question not in numbers:
        some = ", ".join(list(numbers)[:5])
        raise StoreError(f"question {question!r}: {explainer.corpus.name} has none with this id; it has {len(numbers)}, for example {some}")
    return explainer.explain(cell, numbers[question])
