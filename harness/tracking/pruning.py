"""Deletes stored results that no kept sweep needs."""

from __future__ import annotations

import json
import shutil
import time
from pathlib import Path
from typing import Any

RUNNING = "running.json"
"""In a sweep's folder while it runs, and after it was killed: the keys of its cells and rankings."""
_UNFINISHED = 7 * 86_400.0
_DRAFT = 86_400.0


def prune(outputs: Path, keep: int, *, delete: bool) -> list[tuple[Path, int]]:
    """The folders that the newest `keep` sweeps don't need, with their bytes; deleted where `delete` says so.

    A sweep that is running, or was killed less than a week ago, keeps what it has; so does a file that is being written. Any other cell that
    belongs to no sweep goes.
    """
    sweeps = sorted((path.parent for path in outputs.glob("sweeps/*/sweep.json")), key=_age)
    kept = sweeps[:keep]
    cells = {entry["key"][:20] for folder in kept for entry in _json(folder / "sweep.json").get("cells", [])}
    rankings = {str(_json(outputs / "cells" / cell / "result.json").get("ranking_key", ""))[:20] for cell in cells if cell.isalnum()}
    needed = {*(folder.name for folder in kept), *cells, *rankings, *_of_the_unfinished(outputs)}
    gone = [place for kind in ("sweeps", "cells", "rankings") for place in sorted(outputs.glob(f"{kind}/*"))]
    gone = [place for place in gone if place.name not in needed and not (place.name.startswith(".") and _younger(place, _DRAFT))]
    found = [(place, sum(file.stat().st_size for file in place.rglob("*") if file.is_file())) for place in gone]
    if delete:
        for place in gone:
            shutil.rmtree(place, ignore_errors=True)
    return found


def _of_the_unfinished(outputs: Path) -> set[str]:
    needed: set[str] = set()
    for path in outputs.glob(f"sweeps/*/{RUNNING}"):
        if _younger(path, _UNFINISHED):
            record = _json(path)
            needed |= {path.parent.name, *(str(key)[:20] for kind in ("cells", "rankings") for key in record.get(kind, []))}
    return needed


def _younger(path: Path, seconds: float) -> bool:
    try:
        return time.time() - path.stat().st_mtime < seconds
    except OSError:
        return False


def _age(folder: Path) -> float:
    return -(folder / "sweep.json").stat().st_mtime


def _json(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
