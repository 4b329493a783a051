"""What a sweep left under its outputs, without what may differ between two runs of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd

MAY_DIFFER = ("seconds_", "embedded_tokens", "cached_tokens")


def cells(outputs: Path) -> dict[str, Any]:
    """Every result.json and question table under `outputs`, without what may differ."""
    found: dict[str, Any] = {}
    for path in outputs.glob("cells/*/result.json"):
        record = json.loads(path.read_text(encoding="utf-8"))
        record["metrics"] = {name: value for name, value in record["metrics"].items() if not name.startswith(MAY_DIFFER)}
        found[path.parent.name] = (record, pd.read_parquet(path.parent / "questions.parquet").to_json())
    return found


def leaderboard(outputs: Path) -> str:
    (path,) = outputs.glob("sweeps/*/leaderboard.csv")
    frame = pd.read_csv(path)
    return frame.drop(columns=[name for name in frame.columns if name.startswith(MAY_DIFFER)]).to_csv()
