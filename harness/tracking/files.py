"""Plain files: the first and complete record of every result.

    outputs/
      rankings/KEY/   chunks.parquet ranking.parquet questions.parquet probes.parquet facts.json     what retrieval gave
      cells/KEY/      result.json questions.parquet config.json                                      what was measured on it
      sweeps/KEY/     sweep.json leaderboard.csv verdict.md figures sweep.log

A folder of rankings/ or cells/ appears whole or not at all: it is written beside its place and renamed. Its file SHA256SUMS (sha256sum -c reads
it) has the checksum of every other file, so that a torn or altered folder is noticed and counts as absent.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import shutil
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from harness.errors import StoreError
from harness.types import Cell, CellResult

SCHEMA_VERSION = 1
_LATE = (0.2, 0.8, 2.0, 5.0, 10.0, 15.0)
"""Seconds between looks; NFS keeps an absent name in mind for up to 30."""
QUESTIONS = "questions.parquet"
"""The table of a result, one row a question."""
SUMS = "SHA256SUMS"
"""In every folder that `whole_folder` wrote: the checksum of every other file."""


def folder_for(place: Path) -> Path:
    """`place`, made if it is not there. Raises StoreError where it can't be."""
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"{place}: can't write here ({error.strerror}); choose another folder with outputs=…") from error
    return place


@contextmanager
def whole_folder(place: Path) -> Iterator[Path]:
    """A temporary folder that becomes `place`, sealed, when the block ends without an exception, replacing what was there."""
    folder_for(place.parent)
    draft = folder_for(_beside(place))
    try:
        yield draft
        (draft / SUMS).write_text(_sums(draft), encoding="utf-8")
        _swap(draft, place)
    except OSError as error:
        raise StoreError(f"{place}: can't be written ({error.strerror})") from error
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _beside(place: Path) -> Path:
    """A name of our own for what is to become `place`, in the same folder and with the rights that a person's own files have."""
    return place.with_name(f".{place.name}-{uuid.uuid4().hex}")


def _sums(folder: Path) -> str:
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != SUMS)
    return "".join(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.relative_to(folder).as_posix()}\n" for path in files)


def sealed(place: Path) -> bool:
    """Whether `place` is a folder that `whole_folder` wrote and that nobody altered since."""
    try:
        return (place / SUMS).read_bytes() == _sums(place).encode()
    except OSError:
        return False


def _swap(draft: Path, place: Path) -> None:
    """Where other processes put the same work here at the same time, the last or theirs stays: one is as good as the other."""
    old = _beside(place)
    try:
        with suppress(FileNotFoundError):
            os.replace(place, old)
        os.replace(draft, place)
    except OSError:
        if not place.exists():
            with suppress(FileNotFoundError):
                os.replace(old, place)
            raise
    finally:
        shutil.rmtree(old, ignore_errors=True)


def write_text(path: Path, text: str) -> None:
    """Write `text` so that the file is the old one or the new one, never half of it."""
    write_bytes(path, text.encode("utf-8"))


def write_bytes(path: Path, content: bytes) -> None:
    """The same with bytes. Raises StoreError where the disk refuses."""
    draft = folder_for(path.parent) / _beside(path).name
    try:
        draft.write_bytes(content)
        os.replace(draft, path)
    except OSError as error:
        draft.unlink(missing_ok=True)
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


def looks() -> Iterator[None]:
    """Occasions to look for what another machine wrote: at once, and then after longer and longer pauses, as a network file system shows it late."""
    for seconds in (0.0, *_LATE):
        time.sleep(seconds)
        yield


def write_table(path: Path, table: pd.DataFrame | pa.Table) -> None:
    """Write a parquet file."""
    arrow = table if isinstance(table, pa.Table) else pa.Table.from_pandas(table, preserve_index=False)
    # Small tables of numbers: a dictionary and statistics of each column take longer than the numbers, and more room.
    pq.write_table(arrow, path, compression="zstd", use_dictionary=False, write_statistics=False)


def read_table(path: Path) -> pa.Table:
    """Read such a file. Raises StoreError where it is absent or torn."""
    try:
        with pq.ParquetFile(path) as file:  # half the time of pq.read_table, which is for folders of files
            return file.read()
    except (OSError, pa.ArrowException) as error:
        raise StoreError(f"{path}: can't be read ({str(error).splitlines()[0]})") from error


def write_cell(place: Path, result: CellResult, corpus: Mapping[str, Any]) -> None:
    """Write a finished cell under `place` (outputs/cells/KEY)."""
    with whole_folder(place) as draft:
        write_table(draft / QUESTIONS, result.questions)
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
            "ranking_key": result.ranking_key,
            "corpus": dict(corpus),
        }
        write_json(draft / "result.json", record)


def read_cell(place: Path) -> CellResult | None:
    """The finished cell under `place`; None where there is none, or it is damaged or of another schema version."""
    if not sealed(place):
        return None
    try:
        record = json.loads((place / "result.json").read_text(encoding="utf-8"))
        config = json.loads((place / "config.json").read_text(encoding="utf-8"))
        questions = read_table(place / QUESTIONS).to_pandas()
    except (OSError, StoreError):  # another process replaces it this moment
        return None
    if record.get("schema_version") != SCHEMA_VERSION or record["status"] != "finished":
        return None
    return result_of(record, config, questions)


def result_of(record: Mapping[str, Any], config: Mapping[str, Any], questions: pd.DataFrame) -> CellResult:
    """A result from what result.json, config.json and questions.parquet hold, wherever they came from."""
    return CellResult(
        cell=Cell(**record["cell"], config=config),
        key=record["key"],
        metrics=record["metrics"],
        counts=record["counts"],
        warnings=tuple(record["warnings"]),
        chunk_digest=record["chunk_digest"],
        questions=questions,
        histogram=record["histogram"],
        ranking_key=record["ranking_key"],
        questions_digest=record["corpus"]["questions_digest"],
    )
