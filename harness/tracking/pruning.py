"""Deletes stored results that no kept sweep needs."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any


def prune(outputs: Path, keep: int, *, delete: bool) -> list[tuple[Path, int]]:
    """The folders that the newest `keep` sweeps don't need, with their bytes; deleted where `delete` says so.

    A cell that belongs to no sweep (an interrupted one) goes too, unless its sweep is among the kept.
    """
    sweeps = sorted((path.parent for path in outputs.glob("sweeps/*/sweep.json")), key=_age)
    kept = sweeps[:keep]
    cells = {entry["key"][:20] for folder in kept for entry in _json(folder / "sweep.json").get("cells", [])}
    rankings = {str(_json(outputs / "cells" / cell / "result.json").get("ranking_key", ""))[:20] for cell in cells}
    needed = {*(folder.name for folder in kept), *cells, *rankings}
    gone = [place for kind in ("sweeps", "cells", "rankings") for place in sorted(outputs.glob(f"{kind}/*")) if place.name not in needed]
    found = [(place, sum(file.stat().st_size for file in place.rglob("*") if file.is_file())) for place in gone]
    if delete:
        for place in gone:
            shutil.rmtree(place, ignore_errors=True)
    return found


def _age(folder: Path) -> float:
    return -(folder / "sweep.json").stat().st_mtime


def _json(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
