"""A cell's shards on a Ray cluster of two nodes: processes killed in the middle and a node lost, and the numbers are those of one process."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from front_cases import call
from launching_cases import Harbour, deadly, the_same

from harness.embedding import HashingEmbedder
from harness.embedding.sharded import Source
from harness.errors import PartError
from harness.hydra_front.launching import ray_shards
from harness.hydra_front.launching.base import Place
from harness.hydra_front.launching.ray_shards import RayShards, in_order

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::ResourceWarning")]
pytest.importorskip("ray", reason="needs chunk-sweep[ray]")


@pytest.fixture
def harbour(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Harbour:
    made = deadly(tmp_path, monkeypatch, documents=12)
    # Narrow blocks of products, so that some hundred chunks are searched on the cluster.
    monkeypatch.setattr("harness.retrieval.products._FEWEST_COLUMNS", 16)
    monkeypatch.setattr("harness.retrieval.products._MOST_COLUMNS", 16)
    return made


def on(cluster: Any) -> list[str]:
    return ["hydra/launcher=ray", f'hydra.launcher.address="{cluster.address}"', "shards=5"]


def tokens(outputs: Path) -> dict[str, Any]:
    """That were embedded and served, by cell."""
    found = {}
    for path in outputs.glob("cells/*/result.json"):
        metrics = json.loads(path.read_text(encoding="utf-8"))["metrics"]
        found[path.parent.name] = (metrics["embedded_tokens"], metrics["cached_tokens"])
    return found


def test_processes_killed_in_the_middle(
    harbour: Harbour, cluster: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two that embed and one that searches. Nothing of them is missing and no token is counted twice."""
    grid = [*harbour.words, "embedder=mortal", "-m", "size=10,24"]
    here = call(capsys, *grid, f"outputs={tmp_path}/here")
    assert here.status == 0, here.err
    harbour.will_die(2)
    searched: list[int] = []
    search = RayShards.search

    def deadly(self: RayShards, parts: Any, files: Any) -> Any:
        found = search(self, parts, files)
        if not searched:
            ray = self._executor.connected()
            os.kill(ray.get(self._searchers[0].process.remote()), signal.SIGKILL)
            again = search(self, parts, files)
            assert [one.score.tolist() for one in again] == [one.score.tolist() for one in found]
        searched.append(len(parts))
        return found

    monkeypatch.setattr(ray_shards.RayShards, "search", deadly)
    there = call(capsys, *grid, *on(cluster), f"outputs={tmp_path}/there")
    assert there.status == 0, there.err
    assert not list(harbour.deaths.iterdir())
    assert max(searched) > 1, "several shards were asked"
    the_same(tmp_path / "here", tmp_path / "there")
    assert tokens(tmp_path / "there") == tokens(tmp_path / "here")
    assert not list((tmp_path / "there" / "cache" / "shards").iterdir())
    assert "Running" not in there.err
    assert "ray" not in there.err.lower()


def test_a_node_that_is_lost(harbour: Harbour, cluster: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    grid = [*harbour.words, "embedder=hashing", "-m", "size=10,24"]
    assert call(capsys, *grid, f"outputs={tmp_path}/here").status == 0
    (second,) = cluster.worker_nodes

    def lose() -> None:
        while not list(tmp_path.glob("there/cache/shards/*/vectors-*.npy")):
            time.sleep(0.02)
        cluster.remove_node(second, allow_graceful=False)

    losing = threading.Thread(target=lose, daemon=True)
    losing.start()
    there = call(capsys, *grid, *on(cluster), f"outputs={tmp_path}/there")
    assert there.status == 0, there.err
    losing.join()
    the_same(tmp_path / "here", tmp_path / "there")


def test_what_a_part_raises_is_told_at_once(harbour: Harbour, cluster: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "nan_harbour.py").write_text(
        "import numpy as np\nfrom harness.embedding import HashingEmbedder\n\n\nclass Holes(HashingEmbedder):\n"
        "    def vectors(self, inputs, rows):\n        for block, found in super().vectors(inputs, rows):\n            yield block, found * np.nan\n"
    )
    (tmp_path / "own" / "embedder" / "holes.yaml").write_text("_target_: nan_harbour.Holes\n")
    said = call(capsys, *harbour.words, "embedder=holes", "size=10", *on(cluster), f"outputs={tmp_path}/there")
    assert said.status == 1, said.err
    assert "shard" in said.err
    assert "found a vector of length nan" in said.err


class Cluster:
    """Stands for an executor, and for pipelines of which each gives some shards and then loses a process."""

    retries, cpus, width = 2, 1, 1

    def __init__(self, gives: list[list[int]]) -> None:
        self.gives, self.asked = gives, list[list[int]]()

    def connected(self) -> Any:
        import ray

        return ray

    def cache_there(self) -> None: ...

    def pipeline(self, job: Any, shards: list[int], embeds: bool) -> Any:
        self.asked.append(shards)
        return self

    def iter_rows(self) -> Iterator[dict[str, Any]]:
        for shard in self.gives.pop(0):
            yield {"shard": shard, "problem": "", "first": b"%d" % shard, "second": b"", "third": b""}
        raise self.connected().exceptions.RayActorError()


def run(cluster: Cluster, shards: int) -> dict[int, bytes]:
    workers = RayShards(cluster, Place(Path("/nowhere"), 1.0))  # type: ignore[arg-type]
    workers._pipeline = cluster.pipeline  # type: ignore[method-assign]
    source = Source(HashingEmbedder())
    return {shard: told[0] for shard, told in workers._run(source, Path("/nowhere"), range(shards), embeds=False)}


def test_deaths_are_counted_from_the_last_shard_that_came() -> None:
    cluster = Cluster([[], [2], [], [0, 1]])
    assert run(cluster, 3) == {2: b"2", 0: b"0", 1: b"1"}
    assert cluster.asked == [[0, 1, 2], [0, 1, 2], [0, 1], [0, 1]]
    with pytest.raises(PartError, match=r"^shard 1 \(of 2 left\): Ray gave it up after 2 more tries"):
        run(Cluster([[0], [], []]), 3)


def test_shards_come_in_their_order_as_soon_as_they_can() -> None:
    seen: list[int] = []

    def coming() -> Iterator[tuple[int, Any]]:
        for shard in (3, 1, 5):
            seen.append(shard)
            yield shard, (b"%d" % shard, b"", b"")

    found = in_order([1, 3, 5], coming())
    assert next(found)[0] == b"1"
    assert seen == [3, 1]
    assert [told[0] for told in found] == [b"3", b"5"]
