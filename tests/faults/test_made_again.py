"""A file of the sweep's own folder that is gone or was changed is written again by the same command; no cell runs."""

from __future__ import annotations

from pathlib import Path

import pytest
from front_cases import QUICK, call


@pytest.mark.parametrize("damage", ["changed", "gone"])
def test_a_leaderboard(damage: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("run", *QUICK, "dataset.documents=1", f"outputs={tmp_path}")
    assert call(capsys, *words).status == 0
    (board,) = tmp_path.glob("sweeps/*/leaderboard.csv")
    before = board.read_bytes()
    if damage == "gone":
        board.unlink()
    else:
        board.write_bytes(before.replace(b"0", b"1", 1))
    said = call(capsys, *words)
    assert "1 reused" in said.out
    assert board.read_bytes() == before
