"""Which cell a person means."""

from __future__ import annotations

import json
from pathlib import Path

from harness import results
from harness.errors import StoreError
from harness.types import CellResult

_SHORTEST_KEY = 4


def find_cell(outputs: Path, word: str) -> CellResult:
    """The cell in a folder, with a key that begins with `word`, or with this label (of equal labels the one measured last).

    Raises StoreError where there is none, or where the beginning of a key fits several.
    """
    if (place := Path(word).expanduser()).exists():
        return results.cell(place)
    by_key = sorted(outputs.glob(f"cells/{word}*/result.json")) if len(word) >= _SHORTEST_KEY and word.isalnum() else []
    if len(by_key) > 1:
        raise StoreError(f"{word}: {len(by_key)} cells have a key that begins so; give more of it")
    found = by_key or sorted((path for path in outputs.glob("cells/*/result.json") if _label(path) == word), key=lambda path: -path.stat().st_mtime)
    if not found:
        known = ", ".join(sorted({f"'{_label(path)}'" for path in outputs.glob("cells/*/result.json")})[:6]) or "none yet"
        raise StoreError(f"{word}: there is no such cell under {outputs}/cells; there are {known}")
    return results.cell(found[0].parent)


def _label(path: Path) -> str:
    try:
        return str(json.loads(path.read_text(encoding="utf-8"))["cell"]["label"])
    except (OSError, ValueError, KeyError, TypeError):
        return ""
