"""Results as tidy frames."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from harness.types import CellResult

AXES = ("strategy", "size", "overlap", "unit", "embedder", "retriever")
TAGS = ("winner", "tied_with_winner", "cheapest_of_tied", "pareto")


def tags_of(record: Mapping[str, Any], key: str) -> dict[str, bool]:
    """What the sweep's record says of the cell with this key. All False where there was nothing to choose between."""
    decided = record.get("winner") is not None
    members = {
        "winner": [record.get("winner")],
        "tied_with_winner": record.get("tied", []),
        "cheapest_of_tied": [record.get("cheapest")],
        "pareto": record.get("pareto", []),
    }
    return {name: decided and key in members[name] for name in TAGS}


def cell_frame(results: Sequence[CellResult], record: Mapping[str, Any] | None = None) -> pd.DataFrame:
    """One row a cell, in the order given.

    `cell` (its label) and `key`; the axes (`size` and `overlap` in units, whole numbers, <NA> where the strategy has none; `overlap_typed` as it was
    typed, for example "10%"; `context`, `returned`, `min_size`, `short` and `vectors` as text); with the sweep's `record` the tags `winner`,
    `tied_with_winner`, `cheapest_of_tied`, `pareto` (bool); `questions` (how many were asked); every metric by its name in docs/metrics.md (float64,
    NaN where it is null); `warnings` (lines).
    """
    frame = pd.DataFrame([_row(result, record) for result in results])
    for name in ("size", "overlap"):
        if name in frame:
            frame[name] = frame[name].astype("Int64")
    return frame


def _row(result: CellResult, record: Mapping[str, Any] | None) -> dict[str, Any]:
    axes = {name: getattr(result.cell, name) for name in AXES} | result.cell.around
    typed = {"overlap_typed": str(result.cell.config.get("overlap", result.cell.overlap))}
    metrics = {name: np.nan if value is None else float(value) for name, value in result.metrics.items()}
    tags = tags_of(record, result.key) if record is not None else {}
    head = {"cell": result.cell.label, "key": result.key, **axes, **typed, **tags, "questions": len(result.questions)}
    return {**head, **{name: value for name, value in metrics.items() if name not in head}, "warnings": "\n".join(result.warnings)}


def question_frame(results: Sequence[CellResult]) -> pd.DataFrame:
    """One row a cell and question: `cell` (its label), `key`, then the question table: `id`, `kind` … and every metric of a question."""
    parts = []
    for result in results:
        front = pd.DataFrame({"cell": result.cell.label, "key": result.key}, index=result.questions.index)
        parts.append(pd.concat([front, result.questions], axis=1))
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()
