"""Files under outputs/ that are cut short or have a byte changed, kind by kind and at several places."""

from __future__ import annotations

import random
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

from fault_bench import Bench, Row
from fault_disk import FEW, empty_store

KINDS = {
    "result.json": "cells/*/result.json",
    "config.json": "cells/*/config.json",
    "questions.parquet of a cell": "cells/*/questions.parquet",
    "SHA256SUMS": "cells/*/SHA256SUMS",
    "chunks.parquet": "rankings/*/chunks.parquet",
    "ranking.parquet": "rankings/*/ranking.parquet",
    "facts.json": "rankings/*/facts.json",
    "the cache of vectors": "cache/vectors/*.sqlite",
    "sweep.json": "sweeps/*/sweep.json",
    "leaderboard.csv": "sweeps/*/leaderboard.csv",
}
_PLACES = (0.0, 0.2, 0.5, 0.8, 1.0)


def cut(share: float) -> Callable[[bytes], bytes]:
    return lambda content: content[: int(len(content) * share)]


def flip(share: float) -> Callable[[bytes], bytes]:
    def change(content: bytes) -> bytes:
        place = min(int(len(content) * share), len(content) - 1)
        return content[:place] + bytes([content[place] ^ 0x5A]) + content[place + 1 :]

    return change


def blot(seed: int) -> Callable[[bytes], bytes]:
    """Forty bytes at random places."""

    def change(content: bytes) -> bytes:
        draw, spoiled = random.Random(seed), bytearray(content)
        for _ in range(40):
            spoiled[draw.randrange(len(spoiled))] = draw.randrange(256)
        return bytes(spoiled)

    return change


WAYS = [cut(share) for share in _PLACES[:-1]] + [flip(share) for share in _PLACES]


def damaged(bench: Bench) -> Iterator[Row]:
    """For each kind of file: every place and way at once on different copies; the cache and MLflow's store more often, for they are not sealed."""
    for kind, pattern in KINDS.items():
        ways = [*WAYS, *(blot(seed) for seed in range(12))] if kind.startswith("the cache") else WAYS[1::2]
        problems = [line for number, way in enumerate(ways) for line in _one(bench, kind, pattern, number, way)]
        how = f"cut short or bytes changed, {len(ways)} ways" + (
            "; cells and rankings deleted, so that it is needed" if kind.startswith("the cache") else ""
        )
        seen = "vectors that changed are dropped or the cache is done without, both told in the log" if kind.startswith("the cache") else "made again"
        yield Row(f"damaged: {kind}", how, seen, not problems, tuple(problems))
    yield _mlflow(bench)


def _one(bench: Bench, kind: str, pattern: str, number: int, way: Callable[[bytes], bytes]) -> list[str]:
    _ = bench.whole
    with bench.room() as outputs:
        shutil.copytree(bench.scratch / "whole", outputs)
        for victim in sorted(outputs.glob(pattern))[: 6 if pattern.startswith("rank") else 2]:
            victim.write_bytes(way(victim.read_bytes()))
        if "cache" in pattern:
            shutil.rmtree(outputs / "cells")
            shutil.rmtree(outputs / "rankings")
        elif pattern.startswith("rank"):
            shutil.rmtree(outputs / "cells")
        return [f"way {number}: {line}" for line in bench.again(outputs)]


def _mlflow(bench: Bench) -> Row:
    """The store of MLflow and its log: results never depend on it; what can't be told is said, and a new store is told all of it."""
    problems, told = [], 0
    with bench.room() as whole:
        shutil.copytree(empty_store(bench), whole)
        for suffix, way in [("", way) for way in (*WAYS[:6:2], blot(1), blot(2))] + [("-wal", cut(0.5)), ("-wal", blot(3))]:
            with bench.room() as outputs:
                shutil.copytree(whole, outputs)
                victim = outputs / f"mlflow.db{suffix}"
                victim.write_bytes(way((outputs / "mlflow.db").read_bytes()[: 2**18] if suffix else victim.read_bytes()))
                ran = bench.run(outputs, "tracking=mlflow")
                told += "not tracked" in ran.err
                problems += ran.trouble + [f"status {ran.status}"] * (ran.status != 0)
                if "not tracked" not in ran.err:  # SQLite has no checksums, and did not mind
                    problems += bench.again(outputs, "tracking=mlflow")
                    continue
                for path in outputs.glob("mlflow.db*"):
                    path.unlink()
                shutil.copy(whole / "mlflow.db", outputs / "mlflow.db")
                problems += bench.again(outputs, "tracking=mlflow") + missing_in(outputs / "mlflow.db", 6)
    seen = f'files complete each time; {told} of 7 times told "not tracked"; the same command then tells a sound store all of it'
    return Row("damaged: mlflow.db, mlflow.db-wal", "cut short, bytes changed, a foreign log", seen, not problems, tuple(problems))


def missing_in(store: Path, cells: int, name: str = "harbour") -> list[str]:
    """What the store of MLflow (a SQLite file) lacks of a sweep on the corpus `name`: `cells` finished children of one finished parent."""
    with closing(sqlite3.connect(store)) as connection:
        status = dict(
            connection.execute(
                "SELECT run_uuid, status FROM runs JOIN experiments USING (experiment_id) WHERE experiments.name = ?", (name,)
            ).fetchall()
        )
        tags: dict[str, dict[str, str]] = {run: {} for run in status}
        for run, key, value in connection.execute("SELECT run_uuid, key, value FROM tags"):
            tags.setdefault(run, {})[key] = value
        measured = {run for (run,) in connection.execute("SELECT DISTINCT run_uuid FROM latest_metrics")}
    parents = [run for run in status if "mlflow.parentRunId" not in tags[run] and tags[run].get("chunk_sweep.cells") == str(cells)]
    parents = [run for run in parents if FEW not in tags[run]["chunk_sweep.command"]]  # what made the store, on fewer documents
    if len(parents) != 1 or status[parents[0]] != "FINISHED":
        return [f"MLflow has {[status[run] for run in parents]} for the sweep"]
    children = [run for run in status if tags[run].get("mlflow.parentRunId") == parents[0]]
    done = [tags[run]["chunk_sweep.cell_key"] for run in children if status[run] == "FINISHED" and run in measured]
    open_ = sum(status[run] == "RUNNING" for run in children)
    return (
        []
        if len(set(done)) == len(done) == cells and not open_
        else [f"MLflow has {len(set(done))} of {cells} cells, {len(done)} runs, {open_} left open"]
    )
