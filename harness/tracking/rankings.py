"""Rankings on disk: what retrieval gave for one combination of parts, kept so that metrics, k and budgets can be scored again without it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

from harness.errors import StoreError
from harness.experiment import Retrieved
from harness.tracking.files import read_table, sealed, whole_folder, write_json, write_table
from harness.types import ChunkSet, Probes, Ranking

_CHUNK_COLUMNS = ("doc", "start", "end", "returned_start", "returned_end")
_TEXT_COLUMNS = ("context", "also")
"""Kept as bytes: a text may hold half a surrogate pair, which no string column takes."""
_QUESTION_COLUMNS = ("candidates", "score_mean", "score_m2")


def write_retrieved(place: Path, retrieved: Retrieved) -> None:
    """Write chunks, ranking and facts under `place` (outputs/rankings/KEY)."""
    chunks, ranking = retrieved.chunks, retrieved.ranking
    columns = {name: getattr(chunks, name) for name in _CHUNK_COLUMNS}
    for name in _TEXT_COLUMNS:
        if (texts := getattr(chunks, name)) is not None:
            columns[name] = pa.array([text.encode("utf-8", "surrogatepass") for text in texts], pa.binary())
    with whole_folder(place) as draft:
        write_table(draft / "chunks.parquet", pa.table(columns))
        write_table(draft / "ranking.parquet", pa.table({"chunk": ranking.chunk, "score": ranking.score}))
        per_question = {name: getattr(ranking, name) for name in _QUESTION_COLUMNS}
        write_table(draft / "questions.parquet", pa.table({"retrieved": np.diff(ranking.indptr), **per_question}))
        probes = {"question": ranking.probes.question, "chunk": ranking.probes.chunk}
        stands = {"score": ranking.probe_score, "below": ranking.probe_below, "tied": ranking.probe_tied}
        write_table(draft / "probes.parquet", pa.table({**probes, **stands}))
        write_json(draft / "facts.json", {"facts": dict(retrieved.facts), "notes": dict(chunks.notes)})


def read_retrieved(place: Path) -> Retrieved | None:
    """What `write_retrieved` wrote, or None where it is absent or damaged."""
    if not sealed(place):
        return None
    try:
        chunks, ranking = read_table(place / "chunks.parquet"), read_table(place / "ranking.parquet")
        questions, probes = read_table(place / "questions.parquet"), read_table(place / "probes.parquet")
        record = json.loads((place / "facts.json").read_text(encoding="utf-8"))
    except (OSError, StoreError):  # another process replaces it this moment
        return None
    return Retrieved(_chunks(chunks, record["notes"]), _ranking(ranking, questions, probes), record["facts"])


def _chunks(table: pa.Table, notes: Mapping[str, int]) -> ChunkSet:
    texts = {name: _texts(table[name].to_pylist()) for name in _TEXT_COLUMNS if name in table.column_names}
    columns = {name: table[name].to_numpy() for name in _CHUNK_COLUMNS}
    return ChunkSet(**columns, context=texts.get("context"), also=texts.get("also"), notes=notes)


def _texts(column: Sequence[bytes]) -> tuple[str, ...]:
    return tuple(raw.decode("utf-8", "surrogatepass") for raw in column)


def _ranking(ranking: pa.Table, questions: pa.Table, probes: pa.Table) -> Ranking:
    return Ranking(
        indptr=np.concatenate([[0], np.cumsum(questions["retrieved"].to_numpy())]).astype(np.int64),
        chunk=ranking["chunk"].to_numpy(),
        score=ranking["score"].to_numpy(),
        candidates=questions["candidates"].to_numpy(),
        score_mean=questions["score_mean"].to_numpy(),
        score_m2=questions["score_m2"].to_numpy(),
        probes=Probes(probes["question"].to_numpy(), probes["chunk"].to_numpy()),
        probe_score=probes["score"].to_numpy(),
        probe_below=probes["below"].to_numpy(),
        probe_tied=probes["tied"].to_numpy(),
    )
