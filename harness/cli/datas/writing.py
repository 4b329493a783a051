"""Writes one file whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

from harness.errors import ConfigError
from harness.tracking.files import write_bytes


def check_free(path: Path, *, replace: bool) -> Path:
    """`path` with a leading ~ filled in. Raises ConfigError for a folder, and for a file that is there unless it may be replaced."""
    path = Path(os.path.expanduser(path))
    if path.is_dir():
        raise ConfigError("--to", path, "is a folder; name a file")
    if path.exists() and not replace:
        raise ConfigError("--to", path, "is there already; name another file, or add --overwrite")
    return path


def write_new(path: Path, content: bytes, *, replace: bool) -> None:
    """Write `content`, making the folder. Raises ConfigError as `check_free`, StoreError where the disk refuses."""
    write_bytes(check_free(path, replace=replace), content)
