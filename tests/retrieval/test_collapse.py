"""Near-duplicates against sets of shingles compared pair by pair."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from retrieval_toys import NO_PROBES, Written, everything, lists, numbered, pool_of, ranked, shelf_of, some, written

from harness.errors import ConfigError
from harness.retrieval.collapse import CollapseRetriever
from harness.retrieval.shingles import alike

RULE = "Whatever was bought in a sale stays with the buyer unless it came broken and was shown to us within thirty days of the day it was delivered"


def shingles(text: str, width: int) -> set[tuple[str, ...]]:
    words = text.lower().split()
    return {tuple(words[start : start + width]) for start in range(max(len(words) - width + 1, 1))}


def resemblance(one: str, other: str, width: int) -> float:
    first, second = shingles(one, width), shingles(other, width)
    return len(first & second) / len(first | second)


def texts_alike(random: np.random.Generator, count: int) -> list[str]:
    """Windows over one run of words, some with a word or two changed."""
    base, texts = random.choice(list("abcdefgh"), 60).tolist(), []
    for _ in range(count):
        start = int(random.integers(0, 20))
        window = base[start : start + int(random.integers(1, 30))]
        for _ in range(int(random.integers(0, 3))):
            window[int(random.integers(len(window)))] = str(random.choice(list("xyz")))
        texts.append(" ".join(window))
    return texts


def collapsed(order: list[int], near: np.ndarray) -> list[int]:
    kept: list[int] = []
    for chunk in order:
        if not any(near[chunk, other] for other in kept):
            kept.append(chunk)
    return kept + [chunk for chunk in order if chunk not in kept]


@pytest.mark.parametrize("share", [0.1, 0.5, 0.8, 1.0])
@pytest.mark.parametrize("width", [1, 2, 5])
def test_it_keeps_what_no_better_one_says(share: float, width: int) -> None:
    random = np.random.default_rng(width)
    texts = texts_alike(random, 70)
    shelf, candidates, inner = shelf_of(texts), some(random, 20, 70), written(random, 20, 70)
    near = np.array([[resemblance(one, other, width) >= share for other in texts] for one in texts])
    astray = np.roll(near, 1, axis=0)
    made, before = CollapseRetriever(inner, share, width), ranked(inner, shelf, numbered(20), candidates)
    found = ranked(made, shelf, numbered(20), candidates)
    assert found == [collapsed(order, near) for order in before]
    assert found != [collapsed(order, astray) for order in before]
    assert found != before
    index = made.build(shelf)
    for depth in (3, 12, 50, 70):  # deeper each time, so that chunks are compared which were not before
        assert lists(index.search(numbered(20), candidates, depth, NO_PROBES)) == [order[:depth] for order in found]
    assert all(sorted(order) == pool_of(shelf, candidates, question) for question, order in enumerate(found))


def test_what_is_behind_is_below() -> None:
    shelf = shelf_of([RULE, "Nothing else.", RULE + "."])
    ranking = CollapseRetriever(Written(((3.0, 1.0, 2.0),))).build(shelf).search(numbered(1), everything(1, 3), 3, NO_PROBES)
    assert lists(ranking) == [[0, 1, 2]]
    assert ranking.score.tolist() == [3.0, 1.0, 0.0]


def test_one_that_was_not_kept_hides_nobody() -> None:
    """The second is near the first, the third near the second alone: the third stays."""
    texts = ["a b c d e f g h i j", "b c d e f g h i j k", "c d e f g h i j k l"]
    assert resemblance(texts[0], texts[1], 2) == resemblance(texts[1], texts[2], 2) == 0.8
    assert ranked(CollapseRetriever(Written(((3.0, 2.0, 1.0),)), 0.8, 2), shelf_of(texts), numbered(1), everything(1, 3)) == [[0, 2, 1]]


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (RULE, RULE.upper().replace(" ", "\r\n"), True),
        (RULE, RULE[len("Whatever was "):], True),  # a window that begins two words later
        (RULE, RULE[len(RULE) // 3 :], False),
        (RULE, " ".join(reversed(RULE.split())), False),
        ("返品は購入から三十日以内に限り、送料はお客様の負担となります。", "返品は購入から三十日以内に限り、送料はお客様の負担となります", True),
        ("返品は購入から三十日以内に限ります。", "営業時間は午前九時から午後六時です。", False),
        ("คืนสินค้าได้ภายในสามสิบวันนับจากวันที่ได้รับของ", "คืนสินค้าได้ภายในสามสิบวันนับจากวันที่ได้รับของ ", True),
        ("👩‍🚀 one", "👩‍🚀 two", False),
        ("", "", True),
        ("", "a", False),
    ],
)  # fmt: skip
def test_what_counts_as_the_same(one: str, other: str, same: bool) -> None:
    near = alike([one, other, "something else"], 0.9, 5)
    assert (near.kind[0] == near.kind[1] or near.kind[1] in near.other[near.one == near.kind[0]]) == same
    assert near.kind[2] not in near.kind[:2]


def test_a_thousand_copies_are_one_comparison() -> None:
    near = alike([RULE] * 1000 + [f"{RULE} {number}" for number in range(3)], 0.9, 5)
    assert len(set(near.kind.tolist())) == 4
    assert len(near.one) == 12


@pytest.mark.parametrize(
    ("settings", "problem"), [({"share": 0}, "share=0: a number above 0 to 1 would do"), ({"share": 2}, "share=2"), ({"width": 0}, "width=0")]
)
def test_values_that_mean_nothing_are_refused(settings: dict[str, Any], problem: str) -> None:
    with pytest.raises(ConfigError, match=problem):
        CollapseRetriever(Written(()), **settings)
