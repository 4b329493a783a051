"""The data of the boundary viewer: documents, questions and cells as blocks of JSON, as much of them as the page has room for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup

from harness.curves import column
from harness.metrics.attribution import ASSEMBLED, CHUNKING_MISS, IN_ONE, MULTI_DOCUMENT, RANKING_MISS, UNANSWERABLE
from harness.report.explain import Explainer
from harness.report.material import CellMaterial, Material
from harness.report.page import rows
from harness.report.page.blocks import block, weight
from harness.report.page.grid import badges
from harness.sweep import Summary
from harness.types import Bools, Ints

FATES = (IN_ONE, ASSEMBLED, CHUNKING_MISS, RANKING_MISS, MULTI_DOCUMENT, UNANSWERABLE)
_FEWEST_CELLS = 4
"""So many cells are shown with fewer questions rather than fewer cells with all of them."""
_DOCUMENTS = 0.5
"""The share of the room that documents may take where not everything fits."""
_AT_FIVE = "complete_at_5"


@dataclass(frozen=True, slots=True)
class Viewer:
    """`blocks`: JSON by the id of its element. `cells`: keys in the viewer's order. `left_out`: what had no room, in sentences."""

    blocks: tuple[tuple[str, Markup], ...]
    cells: tuple[str, ...]
    left_out: tuple[str, ...]


def viewer(summary: Summary, material: Material, room: int) -> Viewer | None:
    """At most `room` bytes. None where there is no text, no cell with a ranking, or no room worth the name.

    First come the cells that matter to the choice (named, best, runner-up, default), then the others, best first; of questions those that tell the
    first of these cells apart, then those that the first of them fails.
    """
    cells = _in_order(summary, material)
    if material.corpus is None or not cells or not material.corpus.questions:
        return None
    shelf = _Shelf(summary, Explainer(material), cells, room)
    return shelf.viewer()


def _in_order(summary: Summary, material: Material) -> list[CellMaterial]:
    by_key = {cell.result.key: cell for cell in material.cells}
    standings = summary.standings
    runner_up = next((item for item in standings if item is not summary.winner and not item.broken), None)
    first = [item.result.key for item in (summary.cheapest, summary.winner, runner_up, summary.baseline) if item is not None]
    keys = dict.fromkeys([*first, *(item.result.key for item in standings), *by_key])
    return [by_key[key] for key in keys if key in by_key]


class _Shelf:
    """Fills the room."""

    def __init__(self, summary: Summary, explainer: Explainer, cells: Sequence[CellMaterial], room: int) -> None:
        self.summary, self.explainer, self.cells, self.room = summary, explainer, cells, room
        self.corpus = explainer.corpus

    def viewer(self) -> Viewer | None:
        """Documents first, then questions, then as many cells as fit."""
        order = self._by_interest()
        documents, order = self._documents(order)
        entries = rows.question_entries(self.explainer, self.cells[0], order)
        first = rows.cell_rows(self.explainer, self.cells[0], order)
        left = self.room - sum(weight(text) for text in documents.values())
        fewest = min(_FEWEST_CELLS, len(self.cells))
        spent = left - fewest * weight(block(rows.chunk_columns(self.cells[0].chunks, len(self.corpus.documents)))) - self._frame_weight()
        each = [weight(block(entry)) + 1 + fewest * (weight(block(row)) + 1) for entry, row in zip(entries, first, strict=True)]
        kept = int(np.searchsorted(np.cumsum(each) * 1.05, max(spent, 0), side="right"))
        if not kept:
            return None
        places = np.argsort(order[:kept], kind="stable")
        chosen = [order[place] for place in places]
        listed = [entries[place] for place in places]
        left -= sum(weight(block(entry)) + 1 for entry in listed) + self._frame_weight()
        shown = list(self._cells(chosen, [first[place] for place in places], left))
        if not shown:
            return None
        keys = [cell.result.key for cell, _ in shown]
        index = block(self._index(chosen, listed, [cell for cell, _ in shown], documents))
        blocks = [("index", index), *((f"cell-{place}", text) for place, (_, text) in enumerate(shown))]
        blocks += [(f"document-{number}", text) for number, text in documents.items()]
        return Viewer(tuple(blocks), tuple(keys), tuple(self._left_out(chosen, keys, documents)))

    def _by_interest(self) -> list[int]:
        """Numbers of questions: those whose value differs between the first cells, then those that the first cell fails, then the rest."""
        values = np.stack([column(cell.result, self.summary.select.metric) for cell in self.cells[:_FEWEST_CELLS]])
        filled = np.nan_to_num(values, nan=-1.0)
        flips: Bools = filled.min(axis=0) != filled.max(axis=0)
        fails: Bools = (values[0] < 1) & ~np.isnan(values[0])
        found: list[int] = np.argsort(np.where(flips, 0, np.where(fails, 1, 2)), kind="stable").tolist()
        return found

    def _documents(self, order: Sequence[int]) -> tuple[dict[int, Markup], list[int]]:
        """The documents that have room, and the questions that can be asked of them."""
        everything = range(len(self.corpus.documents))
        sizes = [weight(document.text.encode("utf-8", "replace").decode()) for document in self.corpus.documents]
        if sum(sizes) * 1.1 <= _DOCUMENTS * self.room:
            return {number: self._document(number) for number in everything}, list(order)
        kept: dict[int, Markup] = {}
        asked, spent = [], 0
        for question in order:
            new = {number: self._document(number) for number in self._needed(question) if number not in kept}
            cost = sum(weight(text) for text in new.values())
            if spent + cost <= _DOCUMENTS * self.room:
                spent += cost
                kept |= new
                asked.append(question)
        return dict(sorted(kept.items())), asked

    def _needed(self, question: int) -> Iterable[int]:
        """The documents of a question's evidence; where it has none, that of the best retrieved chunk."""
        of_evidence = {piece.span.doc for answer in self.corpus.questions[question].answers for piece in answer.evidence}
        if of_evidence:
            return of_evidence
        ranking, chunks = self.cells[0].ranking, self.cells[0].chunks
        low, high = ranking.indptr[question : question + 2]
        return {int(chunks.doc[ranking.chunk[low]])} if high > low else set()

    def _document(self, number: int) -> Markup:
        outline = self.explainer.outlines.of(number)
        heads = [[start, level, title] for start, level, title in zip(outline.start.tolist(), outline.level.tolist(), outline.titles, strict=True)]
        return block({"text": self.corpus.documents[number].text, "heads": heads})

    def _cells(self, chosen: Sequence[int], first: Sequence[rows.Row], left: int) -> Iterable[tuple[CellMaterial, Markup]]:
        for place, cell in enumerate(self.cells):
            found = first if place == 0 else rows.cell_rows(self.explainer, cell, chosen)
            text = block({**rows.chunk_columns(cell.chunks, len(self.corpus.documents)), "rows": found})
            self.explainer.forget(cell)
            left -= weight(text) + 100
            if left < 0:
                return
            yield cell, text

    def _frame_weight(self) -> int:
        """Bytes of the index apart from its questions: names of documents and cells, and of each cell the fate of every question."""
        names = [[document.id, document.title] for document in self.corpus.documents]
        return weight(block(names)) + len(self.cells) * 600 + len(self.corpus.questions) * len(self.cells) * 6

    def _index(
        self, chosen: Sequence[int], listed: Sequence[rows.Entry], cells: Sequence[CellMaterial], documents: dict[int, Markup]
    ) -> dict[str, object]:
        metrics = list(dict.fromkeys((self.summary.select.metric, _AT_FIVE)))
        metrics = [name for name in metrics if all(name in cell.result.questions for cell in cells)]
        return {
            "metrics": metrics,
            "fates": FATES,
            "documents": [[document.id, document.title] for document in self.corpus.documents],
            "inside": list(documents),
            "questions": listed,
            "cells": [self._cell_entry(cell, chosen, metrics) for cell in cells],
        }

    def _cell_entry(self, cell: CellMaterial, chosen: Sequence[int], metrics: Sequence[str]) -> dict[str, object]:
        standing = next((item for item in self.summary.standings if item.result.key == cell.result.key), None)
        table = cell.result.questions
        codes = {word: code for code, word in enumerate(FATES)}
        fates = [str(codes.get(str(word), len(FATES) - 1)) for word in table["attribution"]]
        return {
            "key": cell.result.key,
            "label": cell.result.cell.label,
            "badges": badges(standing, self.summary) if standing else (),
            "fates": "".join(fates[number] for number in chosen),
            "values": [_rounded(column(cell.result, name)[np.asarray(chosen, dtype=np.int64)]) for name in metrics],
        }

    def _left_out(self, chosen: Sequence[int], keys: Sequence[str], documents: dict[int, Markup]) -> list[str]:
        counts = (
            (len(chosen), len(self.corpus.questions), "questions (those that tell the leading cells apart first, then failures of the first)"),
            (len(keys), len(self.cells), "cells (those that matter to the choice, then the best)"),
            (len(documents), len(self.corpus.documents), "documents (those with evidence of these questions)"),
        )
        short = [f"{kept:,} of {whole:,} {what}" for kept, whole, what in counts if kept < whole]
        return [f"To keep this file small, the viewer holds only {'; '.join(short)}. `chunk-sweep report explain` shows any other."] if short else []


def _rounded(values: Ints | np.ndarray) -> list[float | int | None]:
    """Short in JSON: whole numbers whole, three digits otherwise."""
    return [None if np.isnan(value) else int(value) if float(value).is_integer() else round(float(value), 3) for value in values]
