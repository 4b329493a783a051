"""Plain files: the first and complete record of every result.

    outputs/
      rankings/KEY/   chunks.parquet ranking.parquet questions.parquet probes.parquet facts.json     what retrieval gave
      cells/KEY/      result.json questions.parquet config.json                                      what was measured on it
      sweeps/KEY/     sweep.json leaderboard.csv verdict.md figures sweep.log

A folder appears whole or not at all: it is written beside its place and renamed. result.json carries a checksum of the table beside it, and
parquet pages carry their own, so that a torn or altered file is noticed and counts as absent.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from harness.errors import StoreError
from harness.types import Cell, CellResult

SCHEMA_VERSION = 1


@contextmanager
def whole_folder(place: Path) -> Iterator[Path]:
    """A temporary folder that becomes `place` when the block ends without an exception, replacing what was there."""
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        draft = Path(tempfile.mkdtemp(prefix=f".{place.name}-", dir=place.parent))
    except OSError as error:
        raise StoreError(f"{place.parent}: can't write here ({error.strerror}); choose another folder with outputs=…") from error
    try:
        yield draft
        _swap(draft, place)
    except OSError as error:
        raise StoreError(f"{place}: can't write this result ({error.strerror})") from error
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _swap(draft: Path, place: Path) -> None:
    if place.exists():
        old = Path(tempfile.mkdtemp(prefix=f".{place.name}-old-", dir=place.parent))
        os.replace(place, old / "was")
        os.replace(draft, place)
        shutil.rmtree(old, ignore_errors=True)
        return
    try:
        os.replace(draft, place)
    except OSError:
        if not place.exists():  # otherwise another process finished the same work a moment ago: theirs is as good
            raise


def write_text(path: Path, text: str) -> None:
    """Write `text` so that the file is the old one or the new one, never half of it."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=path.parent, delete=False, newline="") as draft:
            draft.write(text)
        os.replace(draft.name, path)
    except OSError as error:
        raise StoreError(f"{path}: can't write ({error.strerror})") from error


def write_json(path: Path, value: Any) -> None:
    """Write `value` as JSON; numbers that are not finite become null."""
    write_text(path, json.dumps(finite(value), ensure_ascii=False, indent=1) + "\n")


def finite(value: Any) -> Any:
    """`value` with every NaN and infinity replaced by None, at any depth."""
    if isinstance(value, Mapping):
        return {str(key): finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [finite(item) for item in value]
    if hasattr(value, "item"):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value


def write_table(path: Path, table: pd.DataFrame | pa.Table) -> None:
    """Write a parquet file whose pages carry checksums."""
    arrow = table if isinstance(table, pa.Table) else pa.Table.from_pandas(table, preserve_index=False)
    pq.write_table(arrow, path, compression="zstd", write_page_checksum=True)


def read_table(path: Path) -> pa.Table:
    """Read such a file, verifying its checksums. Raises StoreError where it is absent, torn or altered."""
    try:
        return pq.read_table(path, page_checksum_verification=True)
    except (OSError, pa.ArrowException) as error:
        raise StoreError(f"{path}: can't be read ({str(error).splitlines()[0]})") from error


def write_cell(place: Path, result: CellResult, corpus: Mapping[str, Any]) -> None:
    """Write a finished cell under `place` (outputs/cells/KEY)."""
    with whole_folder(place) as draft:
        write_table(draft / "questions.parquet", result.questions)
        write_json(draft / "config.json", result.cell.config)
        record = {
            "schema_version": SCHEMA_VERSION,
            "status": "finished",
            "key": result.key,
            "cell": {name: getattr(result.cell, name) for name in ("strategy", "size", "overlap", "embedder", "retriever", "unit", "label")},
            "metrics": dict(result.metrics),
            "counts": dict(result.counts),
            "warnings": list(result.warnings),
            "chunk_digest": result.chunk_digest,
            "histogram": dict(result.histogram),
            "corpus": dict(corpus),
            "questions_sha256": hashlib.sha256((draft / "questions.parquet").read_bytes()).hexdigest(),
        }
        write_json(draft / "result.json", record)


def read_cell(place: Path) -> CellResult | None:
    """The finished cell under `place`; None where there is none or it is damaged."""
    try:
        record = json.loads((place / "result.json").read_text(encoding="utf-8"))
        config = json.loads((place / "config.json").read_text(encoding="utf-8"))
        table = (place / "questions.parquet").read_bytes()
    except (OSError, ValueError):
        return None
    if record.get("schema_version") != SCHEMA_VERSION or record.get("status") != "finished":
        return None
    if hashlib.sha256(table).hexdigest() != record["questions_sha256"]:
        return None
    return CellResult(
        cell=Cell(**record["cell"], config=config),
        key=record["key"],
        metrics=record["metrics"],
        counts=record["counts"],
        warnings=tuple(record["warnings"]),
        chunk_digest=record["chunk_digest"],
        questions=read_table(place / "questions.parquet").to_pandas(),
        histogram=record["histogram"],
    )
