"""A Ray cluster of two nodes, a worker killed in the middle and a node lost: the same numbers as here, nothing lost."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import pytest
from front_cases import call
from launching_cases import Harbour, deadly, the_same
from stored_cases import cells, leaderboard

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::ResourceWarning")]
pytest.importorskip("ray", reason="needs chunk-sweep[ray]")


@pytest.fixture
def harbour(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Harbour:
    return deadly(tmp_path, monkeypatch)


def test_the_same_as_here(harbour: Harbour, cluster: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two processes are killed in the middle of a cell, and one cell fails by itself."""
    grid = [*harbour.words, "embedder=mortal", "-m", "strategy=fixed,sinking,recursive", "size=10,24"]
    here = call(capsys, *grid, f"outputs={tmp_path}/here")
    assert len(cells(tmp_path / "here")) == 4, here.err
    harbour.will_die(2)
    there = call(capsys, *grid, "hydra/launcher=ray", f'hydra.launcher.address="{cluster.address}"', f"outputs={tmp_path}/there")
    assert (here.status, there.status) == (1, 1), there.err
    assert not list(harbour.deaths.iterdir())
    assert len(cells(tmp_path / "there")) == 4
    the_same(tmp_path / "here", tmp_path / "there")


def test_a_node_that_is_lost(harbour: Harbour, cluster: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    grid = [*harbour.words, "embedder=hashing", "-m", "strategy=fixed,recursive", "size=10,16,20,24"]
    assert call(capsys, *grid, f"outputs={tmp_path}/here").status == 0
    (second,) = cluster.worker_nodes

    def lose() -> None:
        while not list(tmp_path.glob("there/cells/*/result.json")):
            time.sleep(0.05)
        cluster.remove_node(second, allow_graceful=False)

    losing = threading.Thread(target=lose, daemon=True)
    losing.start()
    there = call(capsys, *grid, "hydra/launcher=ray", f'hydra.launcher.address="{cluster.address}"', f"outputs={tmp_path}/there")
    assert there.status == 0, there.err
    losing.join()
    assert cells(tmp_path / "there") == cells(tmp_path / "here")
    assert leaderboard(tmp_path / "there") == leaderboard(tmp_path / "here")


def test_an_address_where_nobody_is(harbour: Harbour, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["hydra/launcher=ray", 'hydra.launcher.address="127.0.0.1:1"', f"outputs={tmp_path}/there"]
    said = call(capsys, *harbour.words, "embedder=hashing", "size=10", *words)
    assert said.status == 2, said.err
    assert "hydra.launcher.address=127.0.0.1:1" in said.err
