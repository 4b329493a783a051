"""Search shard by shard: the merged ranking, places and statistics are those of one search over all vectors, to the bit."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from harness.errors import StoreError
from harness.retrieval import shards as shards_module
from harness.retrieval.base import Queries, Shelf
from harness.retrieval.dense import DenseRetriever
from harness.retrieval.shards import Heard, Part, Sharded, look, search_here
from harness.shards import ShardedVectors, ShardFolder, VectorFiles, shard_bounds, write_vectors
from harness.types import Candidates, Ints, Probes, Ranking, Vectors

DIM = 24


class Case:
    """`chunks` vectors of which a share are copies of others, near and far; questions behind four filters, one of which lets nothing through;
    probes for some. With `more`, so many further entries lead to chunks."""

    def __init__(self, seed: int, chunks: int, questions: int = 9, more: int = 0) -> None:
        random = np.random.default_rng(seed)
        self.doc: Ints = np.sort(random.integers(0, 12, chunks)).astype(np.int64)
        self.entry: Ints | None = None
        count = chunks + more
        if more:
            self.entry = np.sort(np.concatenate([np.arange(chunks), random.integers(0, max(chunks, 1), more)])).astype(np.int64)
        self.vectors: Vectors = random.standard_normal((count, DIM)).astype(np.float32)
        self.vectors /= np.linalg.norm(self.vectors, axis=1, keepdims=True)
        if count:
            copies = random.random(count) < 0.3
            self.vectors[copies] = self.vectors[random.integers(0, count, int(copies.sum()))]
        masks = random.random((4, 12)) < 0.5
        masks[0], masks[1] = True, False
        asked = random.standard_normal((questions, DIM)).astype(np.float32)
        self.queries = Queries(("",) * questions, asked)
        self.candidates = Candidates(random.integers(0, 4, questions).astype(np.int64), masks)
        pairs = 40 if chunks and questions else 0
        self.probes = Probes(random.integers(0, max(questions, 1), pairs), random.integers(0, max(chunks, 1), pairs))

    def shelf(self) -> Shelf:
        return Shelf(self.doc, ("",) * len(self.doc), self.vectors, self.entry)

    def sharded(self, folder: Path, bounds: Ints) -> ShardedVectors:
        """The rows that are met first, in order, written shard by shard."""
        _, first, number = np.unique(self.vectors, axis=0, return_index=True, return_inverse=True)
        rank = np.empty(len(first), dtype=np.int64)
        rank[np.argsort(first)] = np.arange(len(first))
        rows = np.sort(first)
        ends = np.searchsorted(rows, bounds[1:])
        paths = [folder / f"{shard}.npy" for shard in range(len(ends))]
        for path, start, stop in zip(paths, [0, *ends[:-1]], ends, strict=True):
            write_vectors(path, self.vectors[rows[start:stop]])
        return ShardedVectors(VectorFiles(tuple(map(str, paths)), tuple(ends.tolist()), DIM), rank[number.ravel()])

    def search(self, sharded: Sharded | None, depth: int) -> Ranking:
        shelf = self.shelf()
        if sharded is not None:
            shelf = replace(shelf, vectors=np.zeros((0, DIM), dtype=np.float32), sharded=sharded)
        index = DenseRetriever().build(shelf)
        assert index.nbytes == len(self.vectors) * DIM * 4
        return index.search(self.queries, self.candidates, depth, self.probes)


def differences(plain: Ranking, other: Ranking) -> list[str]:
    """The columns that are not equal, NaN being equal to itself."""
    names = [name for name in Ranking.__dataclass_fields__ if name != "probes"]
    return [
        name for name in names if not np.array_equal(getattr(plain, name), getattr(other, name), equal_nan=getattr(plain, name).dtype.kind == "f")
    ]


@pytest.fixture(autouse=True)
def _narrow_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of 16 columns, so that some hundred vectors are many of them."""
    monkeypatch.setattr("harness.retrieval.products._FEWEST_COLUMNS", 16)
    monkeypatch.setattr("harness.retrieval.products._MOST_COLUMNS", 16)


@pytest.mark.parametrize("depth", [0, 1, 7, 60, 5000])
@pytest.mark.parametrize("shards", [1, 2, 3, 7, 40])
def test_the_merge_is_one_search_over_all(tmp_path: Path, shards: int, depth: int) -> None:
    case = Case(shards + depth, 700)
    sharded = Sharded(case.sharded(tmp_path, shard_bounds(700, shards)))
    assert differences(case.search(None, depth), case.search(sharded, depth)) == []


@pytest.mark.parametrize(
    ("chunks", "bounds"), [(0, [0, 0, 0]), (1, [0, 0, 1]), (300, [0, 0, 300, 300]), (300, [0, 1, 1, 299, 300]), (9, [0, *range(10)])]
)
def test_empty_and_uneven_shards(tmp_path: Path, chunks: int, bounds: list[int]) -> None:
    case = Case(chunks, chunks)
    sharded = Sharded(case.sharded(tmp_path, np.array(bounds)))
    assert differences(case.search(None, 20), case.search(sharded, 20)) == []


@pytest.mark.parametrize("shards", [1, 4])
def test_several_vectors_that_lead_to_one_chunk(tmp_path: Path, shards: int) -> None:
    case = Case(5, 300, more=200)
    sharded = Sharded(case.sharded(tmp_path, shard_bounds(500, shards)))
    assert differences(case.search(None, 30), case.search(sharded, 30)) == []


def test_no_questions(tmp_path: Path) -> None:
    case = Case(6, 100, questions=0)
    assert differences(case.search(None, 5), case.search(Sharded(case.sharded(tmp_path, shard_bounds(100, 3))), 5)) == []


def test_every_shard_is_asked_and_for_its_own_file(tmp_path: Path) -> None:
    case, seen = Case(8, 900, questions=6), []
    case.candidates = Candidates(np.zeros(6, dtype=np.int64), np.ones((1, 12), dtype=bool))

    def search(parts: list[Part], files: VectorFiles) -> list[Heard]:
        for part in parts:
            file = files.file_of(np.asarray(part.rows))
            seen.append((part.shard, (file == part.shard).mean()))
        return search_here(parts, files)

    case.search(Sharded(case.sharded(tmp_path, shard_bounds(900, 4)), search), 10)  # type: ignore[arg-type]
    assert [shard for shard, _ in seen] == [0, 1, 2, 3]
    assert min(share for _, share in seen) > 0.85, "but for the block at its end"


def test_what_goes_to_a_shard_is_small(tmp_path: Path) -> None:
    """Rows that follow each other travel as their ends."""
    case, parts_seen = Case(9, 900, questions=2), []
    case.vectors = np.random.default_rng(1).standard_normal((900, DIM)).astype(np.float32)
    case.candidates = Candidates(np.zeros(2, dtype=np.int64), np.ones((1, 12), dtype=bool))

    def search(parts: list[Part], files: VectorFiles) -> list[Heard]:
        parts_seen.extend(parts)
        return search_here(parts, files)

    case.search(Sharded(case.sharded(tmp_path, shard_bounds(900, 3)), search), 10)  # type: ignore[arg-type]
    assert all(isinstance(part.rows, range) for part in parts_seen)


def _swapped(parts: list[Part], files: VectorFiles) -> list[Heard]:
    """Each shard is believed to begin where the one before it does."""
    found = search_here(parts, files)
    return [found[0], *(replace(heard, column=heard.column - parts[1].start) for heard in found[1:])]


def _shifted(parts: list[Part], files: VectorFiles) -> list[Heard]:
    return [replace(heard, column=np.maximum(heard.column - 1, 0)) for heard in search_here(parts, files)]


def _one_forgotten(parts: list[Part], files: VectorFiles) -> list[Heard]:
    found = search_here(parts, files)
    return [replace(found[0], score=found[0].score - 9, below=found[0].below * 0, sums=found[0].sums * 0), *found[1:]]


@pytest.mark.parametrize("wrong", [_swapped, _shifted, _one_forgotten])
def test_the_comparison_notices(tmp_path: Path, wrong: object) -> None:
    case = Case(10, 700)
    vectors = case.sharded(tmp_path, shard_bounds(700, 5))
    assert differences(case.search(None, 20), case.search(Sharded(vectors), 20)) == []
    assert "chunk" in differences(case.search(None, 20), case.search(Sharded(vectors, wrong), 20))  # type: ignore[arg-type]


def test_the_comparison_notices_files_in_another_order_and_places_that_are_off(tmp_path: Path) -> None:
    case = Case(11, 700)
    vectors = case.sharded(tmp_path, np.array([0, 300, 600, 700]))
    plain = case.search(None, 20)
    assert vectors.files.ends[0] != vectors.files.ends[1] - vectors.files.ends[0]
    swapped = replace(vectors.files, paths=(vectors.files.paths[1], vectors.files.paths[0], vectors.files.paths[2]))
    with pytest.raises(StoreError, match="expected float32 of shape"):
        case.search(Sharded(replace(vectors, files=swapped)), 20)
    off = replace(vectors, place=(vectors.place + 1) % len(vectors.files))
    assert "chunk" in differences(plain, case.search(Sharded(off), 20))


def test_a_pivot_of_its_own_in_each_shard_would_show(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The moments are float32 sums around one pivot; another one in some shard would leave statistics that are not the sum of these."""

    def strayed(part: Part, files: VectorFiles) -> Heard:
        return look(replace(part, pivot=part.pivot + np.float32(0.01) * part.shard), files)

    case = Case(12, 700)
    vectors = case.sharded(tmp_path, shard_bounds(700, 3))
    monkeypatch.setattr(shards_module, "look", strayed)
    assert differences(case.search(None, 20), case.search(Sharded(vectors), 20)) == ["score_mean", "score_m2"]


def test_files_are_read_as_one_matrix(tmp_path: Path) -> None:
    case = Case(13, 200)
    vectors = case.sharded(tmp_path, np.array([0, 0, 90, 200]))
    assert np.array_equal(vectors[0:200], case.vectors)
    some = np.array([150, 3, 3, 199, 0])
    assert np.array_equal(vectors[some], case.vectors[some])
    assert np.array_equal(np.asarray(vectors), case.vectors)
    assert vectors.files.slice(5, 5).shape == (0, DIM)


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    case = Case(14, 50)
    vectors = case.sharded(tmp_path, shard_bounds(50, 2))
    Path(vectors.files.paths[1]).unlink()
    with pytest.raises(StoreError, match="can't be read"):
        case.search(Sharded(vectors), 5)


def test_a_folder_goes_with_its_holder_and_those_of_the_dead_with_the_next(tmp_path: Path) -> None:
    held = ShardFolder(tmp_path / "shards")
    (held.path / "0.npy").write_bytes(b"x")
    code = "import os, sys; from pathlib import Path; from harness.shards import ShardFolder; f = ShardFolder(Path(sys.argv[1])); os._exit(9)"
    assert subprocess.run([sys.executable, "-c", code, str(tmp_path / "shards")], env={**os.environ}, check=False).returncode == 9
    assert len(list((tmp_path / "shards").iterdir())) == 2
    other = ShardFolder(tmp_path / "shards")
    assert sorted((tmp_path / "shards").iterdir()) == sorted([held.path, other.path])
    del held
    assert list((tmp_path / "shards").iterdir()) == [other.path]


def test_there_are_no_more_parts_than_rows() -> None:
    assert shard_bounds(3, 10**9).tolist() == [0, 1, 2, 3]
    assert shard_bounds(0, 5).tolist() == [0, 0]
