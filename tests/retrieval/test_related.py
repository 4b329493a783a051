"""Linked documents come along: by hand, and against a list that is built chunk by chunk."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from retrieval_toys import NO_PROBES, Written, everything, numbered, pool_of, ranked, shelf_of, some, written

from harness.errors import ConfigError, DataError
from harness.retrieval.base import Shelf
from harness.retrieval.related import RelatedRetriever, links_of
from harness.types import Candidates, Document

DOC = [0, 0, 1, 1, 2, 2]
SCORES = ((9.0, 8.0, 3.0, 4.0, 1.0, 2.0),)


def linked(*links: Any) -> tuple[Document, ...]:
    return tuple(Document(f"{number}.md", "", metadata={} if link is None else {"related": link}) for number, link in enumerate(links))


def of(*links: Any) -> Shelf:
    return shelf_of([""] * 6, DOC, documents=linked(*links))


@pytest.mark.parametrize(
    ("links", "settings", "expected"),
    [
        ((["2.md"], None, None), {}, [0, 5, 1, 3, 2, 4]),
        (("2.md", None, None), {"each": 2}, [0, 5, 4, 1, 3, 2]),
        ((["2.md", "1.md"], None, None), {}, [0, 5, 3, 1, 2, 4]),
        ((None, ["2.md"], None), {}, [0, 1, 3, 5, 2, 4]),
        ((None, ["2.md"], None), {"from_top": 2}, [0, 1, 3, 2, 5, 4]),
        ((None, None, ["0.md", "0.md", "2.md"]), {}, [0, 1, 3, 2, 5, 4]),
        ((None, None, ["0.md"]), {"backward": True}, [0, 5, 1, 3, 2, 4]),
        ((["gone.md", "1.md"], ["2.md"], None), {}, [0, 3, 5, 1, 2, 4]),  # what comes along brings others, if it is among the best by itself
        ((["gone.md", "1.md"], ["2.md"], None), {"from_top": 1}, [0, 3, 1, 2, 5, 4]),
        ((["1.md"], ["0.md"], None), {}, [0, 3, 1, 2, 5, 4]),  # what stands above already stays
    ],
)
def test_by_hand(links: tuple[Any, ...], settings: dict[str, Any], expected: list[int]) -> None:
    assert ranked(RelatedRetriever(Written(SCORES), **settings), of(*links), numbered(1), everything(1, 3)) == [expected]


def test_only_candidates_come_along() -> None:
    without = Candidates(np.zeros(1, dtype=np.int64), np.array([[True, True, False]]))
    assert ranked(RelatedRetriever(Written(SCORES)), of(["2.md"], None, None), numbered(1), without) == [[0, 1, 3, 2]]


def test_scores_mean_the_order() -> None:
    ranking = RelatedRetriever(Written(SCORES)).build(of(["2.md"], None, None)).search(numbered(1), everything(1, 3), 4, NO_PROBES)
    assert ranking.score.tolist() == [9.0, 8.0, 7.0, 6.0]


def brought(order: list[int], doc: list[int], links: tuple[tuple[int, ...], ...], from_top: int, each: int) -> list[int]:
    out, came = list[int](), set[int]()
    for chunk in order[:from_top]:
        if chunk not in out:
            out.append(chunk)
        new: list[int] = []
        for document in links[doc[chunk]]:
            if document not in came:
                came.add(document)
                new += [other for other in [other for other in order if doc[other] == document][:each] if other not in out]
        place = out.index(chunk) + 1
        out = out[:place] + new + out[place:]
    return out + [chunk for chunk in order if chunk not in out]


@pytest.mark.parametrize("backward", [False, True])
@pytest.mark.parametrize(("from_top", "each"), [(1, 1), (3, 1), (5, 2), (100, 100)])
def test_it_is_its_definition(backward: bool, from_top: int, each: int) -> None:
    random = np.random.default_rng(from_top)
    doc = np.sort(random.integers(0, 12, 60)).tolist()
    documents = linked(*([f"{other}.md" for other in random.integers(0, 14, random.integers(0, 4))] for _ in range(12)))
    shelf, candidates, inner = shelf_of([""] * 60, doc, documents=documents), some(random, 25, 12), written(random, 25, 60)
    found = ranked(RelatedRetriever(inner, from_top=from_top, each=each, backward=backward), shelf, numbered(25), candidates)
    before = ranked(inner, shelf, numbered(25), candidates)
    links = links_of(documents, "related", backward=backward)
    assert found == [brought(order, doc, links, from_top, each) for order in before]
    assert found != [brought(order, doc, links[1:] + links[:1], from_top, each) for order in before]
    assert found != before
    assert all(sorted(order) == pool_of(shelf, candidates, question) for question, order in enumerate(found))


def test_links_go_both_ways_only_if_asked() -> None:
    documents = linked(["2.md", "1.md", "2.md", "0.md"], None, ("1.md",))
    assert links_of(documents, "related") == ((2, 1), (), (1,))
    assert links_of(documents, "related", backward=True) == ((2, 1), (0, 2), (1, 0))


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"from_top": 0}, r"retriever\.from_top=0: a whole number from 1 up would do"),
        ({"each": 0}, r"retriever\.each=0"),
        ({"backward": "yes"}, r"retriever\.backward=yes: true or false would do"),
        ({"field": "sees"}, r"retriever\.field=sees: no document links to another there"),
    ],
)
def test_values_that_mean_nothing_are_refused(settings: dict[str, Any], problem: str) -> None:
    with pytest.raises(ConfigError, match=problem):
        RelatedRetriever(Written(()), **settings).build(of(["1.md"], None, None))


@pytest.mark.parametrize("value", [3, [3], {"id": "1.md"}])
def test_links_that_are_no_ids_name_their_document(value: Any) -> None:
    with pytest.raises(DataError, match=r"1\.md: metadata 'related': found .*; a list of document ids would do"):
        RelatedRetriever(Written(())).build(of(["1.md"], value, None))
