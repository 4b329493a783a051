"""The texts of a shard on their way to another machine, as Parquet files in the folder that all machines share."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from harness.errors import StoreError, reason
from harness.tracking.files import looks
from harness.types import Ints


def write_texts(folder: Path, shard: int, texts: Sequence[str]) -> None:
    """Write the texts of a shard. Raises StoreError."""
    _write(folder / f"texts-{shard:05d}.parquet", pa.table({"text": pa.array(list(texts), pa.large_string())}))


def read_texts(folder: Path, shard: int) -> list[str]:
    """The texts of a shard. Raises StoreError."""
    found: list[str] = _read(folder / f"texts-{shard:05d}.parquet").column("text").to_pylist()
    return found


def write_places(folder: Path, shard: int, places: Ints) -> None:
    """Write which of the texts of a shard are to be embedded. Raises StoreError."""
    _write(folder / f"places-{shard:05d}.parquet", pa.table({"place": pa.array(places, pa.int64())}))


def read_places(folder: Path, shard: int) -> Ints:
    """Which of the texts of a shard are to be embedded. Raises StoreError."""
    return np.asarray(_read(folder / f"places-{shard:05d}.parquet").column("place").to_numpy(), dtype=np.int64)


def _write(path: Path, table: Any) -> None:
    beside = path.with_suffix(f".{os.getpid()}.tmp")
    try:
        pq.write_table(table, beside, use_dictionary=False, compression="zstd")
        beside.replace(path)
    except (OSError, pa.ArrowException) as error:
        beside.unlink(missing_ok=True)
        raise StoreError(f"{path}: a shard can't be written ({reason(error)}); outputs=… on another disk would do") from error


def _read(path: Path) -> Any:
    for _ in looks():
        if path.exists():
            break
    try:
        return pq.read_table(path)
    except (OSError, pa.ArrowException) as error:
        raise StoreError(f"{path}: a shard can't be read ({reason(error)}); outputs must lie in a folder that all machines share") from error
