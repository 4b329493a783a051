"""semantic: where it cuts, what it never exceeds, and what it embeds."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from semantic_toys import Compass, Watched, chunks_of

from harness.chunking.base import CorpusChunker
from harness.chunking.runs import INSIDE, Limits, cut_large, join_small
from harness.chunking.semantic import SemanticChunker
from harness.embedding import CachedEmbedder, HashingEmbedder, minilm
from harness.errors import ConfigError, ImpossibleCell
from harness.types import Document, Ints
from harness.units import CharUnit, WordUnit, measure_all

# Directions 0 10 10 60 60 70 30 30: distances of 10, 0, 50, 0, 10, 40 and 0 degrees.
LETTERS = "ABBGGHDD"
TURNING = " ".join(f"{letter} is said here." for letter in LETTERS)
TOPICS = (
    "The ferry leaves the quay at six. The ferry carries cars and bicycles. Tickets for the ferry are sold at the quay. "
    "Bread dough needs flour, water and yeast. Knead the dough until it is smooth. Bake the bread in a hot oven. "
    "The violin has four strings. A violin is played with a bow. The bow of a violin is strung with horse hair."
)


def groups(chunker: SemanticChunker, text: str = TURNING) -> list[str]:
    """The chunks, each as its capital letters."""
    return ["".join(filter(str.isupper, chunk)) for chunk in chunks_of(chunker, text)]


def semantic(size: int = 5000, embedder: Any = None, **changes: Any) -> SemanticChunker:
    return SemanticChunker(size, embedder or Compass(), **{"window": 0, **changes})


@pytest.mark.parametrize(
    ("threshold", "amount", "cuts"),
    [
        ("percentile", 90, ["ABB", "GGHDD"]),  # seven distances: the percentile lies between the largest and the next
        ("percentile", 80, ["ABB", "GGH", "DD"]),
        ("percentile", 100, ["ABBGGHDD"]),  # nothing is above the largest
        ("percentile", 0, ["A", "BB", "GG", "H", "DD"]),  # equal to the smallest is no cut
        ("deviation", 1, ["ABB", "GGH", "DD"]),  # mean .088, deviation .135
        ("deviation", 1.8, ["ABB", "GGHDD"]),
        ("deviation", 3, ["ABBGGHDD"]),
        ("gradient", 80, ["AB", "BGG", "HDD"]),  # slopes of -.02 .17 0 -.17 .12 -.01 -.23: where distances rise fastest
        ("gradient", 90, ["AB", "BGGHDD"]),
        ("absolute", 0.9, ["ABB", "GGH", "DD"]),  # cos 40 = .77, cos 10 = .98
        ("absolute", 0.7, ["ABB", "GGHDD"]),  # cos 50 = .64
        ("absolute", 0.99, ["A", "BB", "GG", "H", "DD"]),
        ("absolute", -1, ["ABBGGHDD"]),
    ],
)
def test_cuts_by_hand(threshold: Any, amount: float, cuts: list[str]) -> None:
    assert groups(semantic(threshold=threshold, amount=amount)) == cuts


def test_amounts_left_out_are_those_of_the_threshold() -> None:
    for threshold, amount in (("percentile", 90), ("deviation", 1), ("gradient", 90), ("absolute", 0.5)):
        embedder = Compass()
        assert semantic(embedder=embedder, threshold=threshold) == semantic(embedder=embedder, threshold=threshold, amount=amount)


@pytest.mark.parametrize("threshold", ["percentile", "deviation", "gradient", "absolute"])
def test_sentences_that_are_all_alike_stay_together_up_to_size(threshold: Any) -> None:
    text = "We are all alike. " * 40
    assert chunks_of(semantic(threshold=threshold, embedder=HashingEmbedder()), text) == [text.strip()]
    sizes = [len(chunk) for chunk in chunks_of(semantic(200, HashingEmbedder(), threshold=threshold), text)]
    assert sum(sizes) + len(sizes) == len(text)
    assert max(sizes) <= 200
    assert min(sizes) >= 80, "ties are cut in the middle, so no crumbs are left"


@pytest.mark.parametrize("threshold", ["percentile", "deviation", "gradient", "absolute"])
@pytest.mark.parametrize("text", ["", " \n\u2028 ", "One alone.", "Two are here. They are few.", "Three. Are. Here."])
def test_short_texts(threshold: Any, text: str) -> None:
    assert "".join(chunks_of(semantic(threshold=threshold), text)).replace(" ", "") == text.strip().replace(" ", "")


def test_windows_are_slices_with_their_neighbours() -> None:
    embedder = Compass()
    semantic(embedder=embedder, window=1).split("First A.\r\n\r\nThen B. Then C.", CharUnit().measure("First A.\r\n\r\nThen B. Then C."))
    assert embedder.asked == [["First A.\r\n\r\nThen B.", "First A.\r\n\r\nThen B. Then C.", "Then B. Then C."]]


def test_vectors_decide() -> None:
    honest, shuffled = semantic(embedder=Watched(Compass())), semantic(embedder=Watched(Compass(), shuffled=True))
    assert groups(honest) == ["ABB", "GGHDD"]
    assert groups(shuffled) != groups(honest)


def test_a_large_run_is_cut_at_its_weakest_places() -> None:
    three = 3 * len("A is said here.") + 2
    assert groups(semantic(three, amount=100)) == ["ABB", "GGH", "DD"]
    assert groups(semantic(three - 1, amount=100)) == ["A", "BB", "GG", "H", "DD"]


def test_small_runs_join_the_nearer_neighbour() -> None:
    one = len("A is said here.")
    apart = {"threshold": "absolute", "amount": 0.99}
    assert groups(semantic(**apart, smallest=one)) == ["A", "BB", "GG", "H", "DD"]
    assert groups(semantic(**apart, smallest=one + 1)) == ["ABB", "GGH", "DD"]
    assert groups(semantic(2 * one + 1, **apart, smallest=one + 1)) == ["A", "BB", "GG", "H", "DD"], "nothing grows over size"
    assert groups(semantic(100, **apart, smallest="16%")) == groups(semantic(100, **apart, smallest=16)) == ["ABB", "GGH", "DD"]


def test_overlap_repeats_whole_sentences_within_size() -> None:
    one = len("A is said here.")
    chunks = chunks_of(semantic(500, overlap=2 * one + 1), TURNING)
    assert chunks == ["A is said here. B is said here. B is said here.", TURNING[one + 1 :]]
    assert chunks_of(semantic(500, overlap=2 * one), TURNING)[1] == TURNING[2 * one + 2 :]
    assert chunks_of(semantic(500, overlap=one - 1), TURNING)[1] == TURNING[3 * one + 3 :]
    apart = semantic(overlap=2 * one + 1, threshold="absolute", amount=0.99)
    assert groups(apart) == ["A", "BB", "BGG", "GH", "DD"], "never the first sentence of the run before"
    tight = semantic(4 * one + 2, overlap=one, amount=100)
    assert groups(tight) == ["ABB", "GGH", "HDD"], "four sentences and three spaces would be over size"


def test_a_sentence_larger_than_size_is_split_inside() -> None:
    text = "A short one. B " + "goes on and on " * 30 + "for long. A short one."
    chunks = chunks_of(semantic(60), text)
    assert max(map(len, chunks)) <= 60
    assert chunks[0] == "A short one."
    assert "".join(chunks).replace(" ", "") == text.replace(" ", "")


# One call, once


def documents() -> list[Document]:
    return [Document("a", TURNING), Document("b", ""), Document("c", "Alone."), Document("d", TOPICS), Document("e", TURNING[::-1])]


def test_all_documents_go_to_the_embedder_in_one_call_and_only_once() -> None:
    watched = Watched(CachedEmbedder(HashingEmbedder()))
    rulers = measure_all(CharUnit(), documents())
    made = []
    for size, threshold in ((200, "percentile"), (200, "absolute"), (90, "deviation"), (500, "gradient")):
        chunker = SemanticChunker(size, watched, overlap=10, threshold=threshold)  # type: ignore[arg-type]
        assert isinstance(chunker, CorpusChunker)
        made.append([pieces.start.tolist() for pieces in chunker.split_all(documents(), rulers)])
    assert len(watched.gave) == 4
    assert not watched.gave[0].cached.all()
    assert all(found.cached.all() for found in watched.gave[1:]), "another threshold, size or overlap embeds nothing new"
    assert len({str(starts) for starts in made}) >= 3
    SemanticChunker(200, watched, window=2).split_all(documents(), rulers)
    assert not watched.gave[-1].cached.all(), "other windows are other texts"


def test_a_document_is_cut_the_same_in_any_company() -> None:
    embedder = HashingEmbedder()
    chunker = SemanticChunker(120, embedder, overlap=20)
    rulers = measure_all(CharUnit(), documents())
    forward = chunker.split_all(documents(), rulers)
    backward = chunker.split_all(documents()[::-1], rulers[::-1])[::-1]
    alone = [chunker.split(document.text, ruler) for document, ruler in zip(documents(), rulers, strict=True)]
    for one, two, three in zip(forward, backward, alone, strict=True):
        assert one.start.tolist() == two.start.tolist() == three.start.tolist()
        assert one.end.tolist() == two.end.tolist() == three.end.tolist()
        assert one.notes == two.notes == three.notes


def test_what_the_windows_cost_is_counted_the_same_with_and_without_a_cache() -> None:
    ruler = WordUnit().measure(TURNING)
    embedder = CachedEmbedder(HashingEmbedder())
    notes = [SemanticChunker(50, embedder, window=1).split(TURNING, ruler).notes for _ in range(2)]
    assert notes[0] == notes[1] == {"strategy_tokens": 4 * (8 * 3 - 2)}
    assert SemanticChunker(50, embedder).split("Only one sentence.", WordUnit().measure("Only one sentence.")).notes == {}
    long = "Words " * 30 + "end here. Short. " + "words " * 30
    assert semantic().split(long, CharUnit().measure(long)).notes["strategy_unread_tokens"] > 0


# Cutting and joining against plain versions


def plain_cuts(begin: int, end: int, floor: Ints, ceil: Ints, distance: Ints, limits: Limits) -> list[int]:
    if end - begin == 1 or ceil[end - 1] - floor[begin] <= limits.most:
        return []
    every = list(range(begin + 1, end))
    good = [cut for cut in every if min(ceil[cut - 1] - floor[begin], ceil[end - 1] - floor[cut]) >= limits.least]
    if not any(distance[cut - 1] > INSIDE for cut in good):
        good = every
    largest = max(distance[cut - 1] for cut in good)
    middle = (floor[begin] + ceil[end - 1]) / 2
    cut = min((cut for cut in good if distance[cut - 1] == largest), key=lambda cut: (abs(floor[cut] - middle), cut))
    return [*plain_cuts(begin, cut, floor, ceil, distance, limits), cut, *plain_cuts(cut, end, floor, ceil, distance, limits)]


_runs = st.lists(st.tuples(st.integers(1, 9), st.integers(0, 2), st.integers(-1, 4), st.booleans()), min_size=1, max_size=30)


@settings(max_examples=300, deadline=None)
@given(pieces=_runs, most=st.integers(1, 40), least=st.integers(0, 12))
def test_cutting_and_joining_do_what_they_say(pieces: list[tuple[int, int, int, bool]], most: int, least: int) -> None:
    sizes, gaps, apart, breaks = (np.array(column) for column in zip(*pieces, strict=True))
    floor = np.cumsum(sizes + gaps) - sizes
    ceil, distance, limits = floor + sizes, apart[1:].astype(np.int64), Limits(most, least)
    first = np.concatenate(([0], np.flatnonzero(breaks[1:]) + 1))
    cut = cut_large(first, floor, ceil, distance, limits)
    plain = [plain_cuts(a, b, floor, ceil, distance, limits) for a, b in zip(first, [*first[1:], len(floor)], strict=True)]
    assert cut.tolist() == sorted([*first.tolist(), *(place for places in plain for place in places)])
    joined = join_small(cut, floor, ceil, distance, limits)
    assert set(joined.tolist()) <= set(cut.tolist())
    last = np.append(joined[1:], len(floor)) - 1
    measured = ceil[last] - floor[joined]
    assert all(size <= most or a == b for size, a, b in zip(measured, joined, last, strict=True))
    for row in range(len(joined) - 1):
        both = ceil[last[row + 1]] - floor[joined[row]]
        assert both > most or min(measured[row], measured[row + 1]) >= least, "a small run that could be joined"


def test_cutting_a_text_of_rising_distances_takes_no_square_time() -> None:
    count = 50_000
    floor = 10 * np.arange(count)
    begun = time.perf_counter()
    found = cut_large(np.zeros(1, np.int64), floor, floor + 9, np.arange(count - 1), Limits(99))
    assert time.perf_counter() - begun < 5
    assert len(found) == count - 9, "every cut leaves one piece at the end, until the rest fits"


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"embedder": "minilm"}, "strategy.embedder"),
        ({"threshold": "knee"}, "strategy.threshold"),
        ({"amount": 101}, "strategy.amount"),
        ({"amount": True}, "strategy.amount"),
        ({"amount": float("nan")}, "strategy.amount"),
        ({"threshold": "absolute", "amount": 90}, "strategy.amount"),
        ({"threshold": "deviation", "amount": float("inf")}, "strategy.amount"),
        ({"window": -1}, "strategy.window"),
        ({"window": 1.5}, "strategy.window"),
        ({"smallest": -1}, "strategy.smallest"),
        ({"smallest": 0.5}, "strategy.smallest"),
        ({"language": ""}, "strategy.language"),
    ],
)
def test_what_cannot_work_is_refused(changes: dict[str, Any], key: str) -> None:
    with pytest.raises(ConfigError) as raised:
        semantic(50, **changes)
    assert raised.value.key == key
    assert not isinstance(raised.value, ImpossibleCell)


def test_a_smallest_above_size_is_an_impossible_cell() -> None:
    with pytest.raises(ImpossibleCell, match=r"strategy\.smallest=60: must not be larger than size=50"):
        semantic(50, smallest=60)


@pytest.mark.slow
def test_minilm_cuts_where_the_topic_turns() -> None:
    embedder = CachedEmbedder(minilm())
    for changes in ({"amount": 75}, {"threshold": "deviation"}, {"threshold": "absolute", "amount": 0.2}, {"amount": 100, "size": 150}):
        chunks = chunks_of(semantic(**{"embedder": embedder, **changes}), TOPICS)
        assert [chunk.split()[1] for chunk in chunks] == ["ferry", "dough", "violin"], changes
