"""Merging: one passage marked in pieces is one piece of evidence, a claim and its exception are two."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from harness.corpus.merging import merge
from harness.types import Document, Evidence, Span

TEXT = "Open at six. Close at ten.\n\nNot on feast days, though."
DOCUMENTS = [Document("a", TEXT), Document("b", TEXT)]
OPEN, CLOSE, FEAST = Span(0, 0, 12), Span(0, 13, 26), Span(0, 28, 54)


def test_neighbours_are_one_passage_whatever_white_space_lies_between() -> None:
    assert merge([(FEAST, None), (OPEN, None), (CLOSE, None)], DOCUMENTS) == (Evidence(Span(0, 0, 54)),)
    assert merge([(Span(0, 0, 4), None), (Span(0, 4, 12), None)], DOCUMENTS) == (Evidence(OPEN),)
    assert merge([(OPEN, None), (FEAST, None)], DOCUMENTS) == (Evidence(OPEN), Evidence(FEAST))
    assert merge([(OPEN, None), (CLOSE._replace(doc=1), None)], DOCUMENTS) == (Evidence(OPEN), Evidence(CLOSE._replace(doc=1)))


def test_contained_and_repeated_evidence_counts_once() -> None:
    assert merge([(Span(0, 0, 26), "claim"), (OPEN, "claim"), (OPEN, "claim"), (Span(0, 5, 7), "claim")], DOCUMENTS) == (
        Evidence(Span(0, 0, 26), "claim"),
    )


def test_roles_keep_a_claim_and_its_exception_apart_even_where_they_overlap() -> None:
    apart = merge([(CLOSE, "claim"), (FEAST, "exception"), (OPEN, "claim"), (Span(0, 20, 40), None)], DOCUMENTS)
    assert apart == (Evidence(Span(0, 0, 26), "claim"), Evidence(Span(0, 20, 40)), Evidence(FEAST, "exception"))


_SPANS = st.tuples(st.integers(0, 1), st.integers(0, 53), st.integers(1, 54)).map(
    lambda it: Span(it[0], min(it[1:]), max(it[1], it[2], min(it[1:]) + 1))
)


@settings(max_examples=50, deadline=None)
@given(marked=st.lists(st.tuples(_SPANS, st.sampled_from([None, "claim"])), min_size=1, max_size=8), data=st.data())
def test_merging_keeps_every_character_and_adds_only_white_space(marked: list[tuple[Span, str | None]], data: st.DataObject) -> None:
    def characters(pairs: list[tuple[Span, str | None]]) -> set[tuple[int, int, str | None]]:
        return {(span.doc, at, role) for span, role in pairs for at in range(span.start, span.end)}

    merged = merge(marked, DOCUMENTS)
    before, after = characters(marked), characters([(it.span, it.role) for it in merged])
    assert before <= after
    assert all(TEXT[at].isspace() for _, at, _ in after - before)
    assert merge([(it.span, it.role) for it in merged], DOCUMENTS) == merged
    assert merge(data.draw(st.permutations(marked)), DOCUMENTS) == merged
