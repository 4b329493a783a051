"""Spans against plain loops over sets of characters."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness import spans
from harness.types import Document

SPANS = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 30), st.integers(1, 12)), max_size=14)
LINE = spans.Line.of([Document("a", "x" * 50), Document("b", "y" * 50), Document("c", "")])
BOUNDED = settings(max_examples=60, deadline=None)


def columns(rows):
    table = np.array(rows, dtype=np.int64).reshape(-1, 3)
    doc, start, length = table.T
    low = LINE.at(doc, start)
    return low, low + length


def places(row):
    doc, start, length = row
    return {(doc, place) for place in range(start, start + length)}


@BOUNDED
@given(SPANS, SPANS)
def test_pairs_are_those_of_plain_loops(outer, inner):
    outer_columns, inner_columns = columns(outer), columns(inner)
    pairs = [(i, j) for i in range(len(outer)) for j in range(len(inner))]

    def borders(i, j):
        one, other = outer[i], inner[j]
        return one[0] == other[0] and one[1] <= other[1] + other[2] and other[1] <= one[1] + one[2]

    found = {
        "holds": spans.holding(*outer_columns, *inner_columns),
        "overlaps": spans.overlapping(*outer_columns, *inner_columns),
        "borders": spans.overlapping(*outer_columns, *inner_columns, touching=True),
    }
    got = {name: sorted(zip(*(column.tolist() for column in pair), strict=True)) for name, pair in found.items()}
    assert got["holds"] == [(i, j) for i, j in pairs if places(inner[j]) <= places(outer[i])]
    assert got["overlaps"] == [(i, j) for i, j in pairs if places(inner[j]) & places(outer[i])]
    assert got["borders"] == [(i, j) for i, j in pairs if borders(i, j)]


@BOUNDED
@given(SPANS, SPANS)
def test_lengths_count_every_character_once(one, other):
    sides = [(np.arange(len(rows)) % 3, *columns(rows)) for rows in (one, other)]
    sets = [[set().union(*[places(row) for row in rows[group::3]], set()) for group in range(3)] for rows in (one, other)]
    assert spans.union_length(*sides[0], 3).tolist() == [len(group) for group in sets[0]]
    assert spans.intersection_length(*sides, 3).tolist() == [len(a & b) for a, b in zip(*sets, strict=True)]


def test_touching_is_not_overlapping_and_documents_never_touch():
    low, high = columns([(0, 0, 10), (0, 10, 10), (1, 0, 5)])
    assert [len(column) for column in spans.overlapping(low[:1], high[:1], low[1:], high[1:])] == [0, 0]
    outer, inner = spans.overlapping(low[:1], high[:1], low[1:], high[1:], touching=True)
    assert (outer.tolist(), inner.tolist()) == ([0], [0])
    end_of_a, start_of_b = columns([(0, 40, 10)]), columns([(1, 0, 5)])
    assert len(spans.overlapping(*end_of_a, *start_of_b, touching=True)[0]) == 0


def test_union_merges_what_touches():
    group, start, end = spans.union(np.array([1, 0, 0, 0]), np.array([3, 5, 0, 20]), np.array([4, 9, 5, 30]))
    assert list(zip(group.tolist(), start.tolist(), end.tolist(), strict=True)) == [(0, 0, 9), (0, 20, 30), (1, 3, 4)]


def test_a_join_in_blocks_equals_a_join_in_one_go(monkeypatch: pytest.MonkeyPatch):
    random = np.random.default_rng(3)
    start = random.integers(0, 500, 200)
    columns_of = (start, start + random.integers(1, 300, 200), start[:50] + 5, start[:50] + 20)
    whole = spans.holding(*columns_of)
    monkeypatch.setattr(spans, "_BLOCK", 7)
    assert np.array_equal(whole, spans.holding(*columns_of))
