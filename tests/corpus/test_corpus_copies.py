"""Copies: every other place of a long passage, and no place that is not one."""

from __future__ import annotations

import time

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from harness.corpus import copies as module
from harness.corpus.copies import SHORTEST, find_copies
from harness.types import Document, Span

CLAUSE = "The miller may draw water from the race between dawn and dusk, but never while the village fountain is dry. 水車を止めること。"
assert len(CLAUSE) > SHORTEST


def _naive(texts: list[str], span: Span) -> tuple[Span, ...]:
    passage, found = texts[span.doc][span.start : span.end], []
    for number, text in enumerate(texts):
        at = text.find(passage)
        while at >= 0:
            found.append(Span(number, at, at + len(passage)))
            at = text.find(passage, at + len(passage))
    return tuple(it for it in found if it.doc != span.doc or it.end <= span.start or span.end <= it.start)


def test_every_other_place_is_found_in_document_order() -> None:
    texts = [f"😀 {CLAUSE}\r\n{CLAUSE}", "", "short", f"{CLAUSE[:-1]}!", CLAUSE]
    here = Span(0, 2, 2 + len(CLAUSE))
    copies = find_copies([Document(str(number), text) for number, text in enumerate(texts)], {here, Span(2, 0, 5)})
    assert copies == {here: (Span(0, here.end + 2, here.end + 2 + len(CLAUSE)), Span(4, 0, len(CLAUSE)))}
    assert all(texts[copy.doc][copy.start : copy.end] == CLAUSE for copy in copies[here])


def test_only_passages_of_eighty_characters_have_copies() -> None:
    documents = [Document("a", CLAUSE), Document("b", CLAUSE)]
    assert find_copies(documents, {Span(0, 0, SHORTEST - 1)}) == {}
    assert find_copies(documents, {Span(0, 0, SHORTEST)}) == {Span(0, 0, SHORTEST): (Span(1, 0, SHORTEST),)}


def test_passages_that_begin_alike_are_told_apart() -> None:
    documents = [Document("a", CLAUSE + " Ever."), Document("b", CLAUSE + " Now."), Document("c", CLAUSE + " Ever.")]
    long, short = Span(0, 0, len(CLAUSE) + 6), Span(0, 0, len(CLAUSE))
    assert find_copies(documents, {long, short}) == {
        long: (long._replace(doc=2),),
        short: (short._replace(doc=1), short._replace(doc=2)),
    }


def test_a_run_is_not_a_copy_of_itself() -> None:
    documents = [Document("a", "-" * 250)]
    assert find_copies(documents, {Span(0, 10, 110)}) == {}
    assert find_copies(documents, {Span(0, 0, 100)}) == {Span(0, 0, 100): (Span(0, 100, 200),)}


@settings(max_examples=50, deadline=None)
@given(
    texts=st.lists(st.text("ab", min_size=0, max_size=260), min_size=1, max_size=4),
    repeats=st.integers(1, 4),
    data=st.data(),
    block=st.sampled_from([7, 64, 1 << 19]),
)
@example(texts=["ab" * 60], repeats=2, data=None, block=64)
def test_it_agrees_with_plain_search_across_blocks(texts: list[str], repeats: int, data: st.DataObject | None, block: int) -> None:
    texts = [*texts, ("|" + texts[0]) * repeats]
    spans = set()
    for doc, text in enumerate(texts):
        if len(text) >= SHORTEST:
            start = data.draw(st.integers(0, len(text) - SHORTEST)) if data else 0
            spans.add(Span(doc, start, data.draw(st.integers(start + SHORTEST, len(text))) if data else len(text)))
    usual, module._BLOCK = module._BLOCK, block
    try:
        found = find_copies([Document(str(number), text) for number, text in enumerate(texts)], spans)
    finally:
        module._BLOCK = usual
    assert found == {span: _naive(texts, span) for span in spans if _naive(texts, span)}


def test_time_does_not_grow_with_corpus_times_passages() -> None:
    letters = np.random.default_rng(5).integers(97, 123, 4_000_000, dtype=np.uint8).tobytes().decode("ascii")
    documents = [Document("a", letters), Document("b", letters[1_000_000:1_200_000])]
    spans = {Span(0, start, start + 200) for start in range(0, 4_000_000 - 200, 1000)}
    began = time.perf_counter()
    found = find_copies(documents, spans)
    # About 0.1 s; one plain search a passage takes 4,000 x 4 MB, some 8 s.
    assert time.perf_counter() - began < 4
    assert found == {Span(0, start, start + 200): (Span(1, start - 1_000_000, start - 999_800),) for start in range(1_000_000, 1_200_000, 1000)}
