"""What surrounds chunks, for every YAML in conf/strategy: merging and dropping keep the contract of chunks, and what is returned holds the chunk."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from chunking_cases import STRATEGIES, TEXTS, is_external, load_strategy, takes_size, unit
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.chunking import Pieces, chunk_documents
from harness.chunking.short import settle_short
from harness.chunking.surroundings import Surroundings, size_of
from harness.types import ChunkSet, Document
from harness.units.base import Ruler

UNITS = ("words", "chars")
RETURNED = ("chunk", "neighbours:1", "neighbours:50", "parent:{parent}", "section", "document")
_piece = st.sampled_from(
    [*"ab .?!\n\r\t#-`|é\u0301\ud800\x00", "👍🏽", "日本", "\r\n", "\n\n", "# ", "\n\n## One\n\n", "\n# Two\n", "```\n", "word ", "a b. "]
)
_text = st.lists(_piece, max_size=120).map("".join)


def check_short(plain: Pieces, settled: Pieces, ruler: Ruler, around: Surroundings, size: int | None, overlap: int) -> None:
    """Assert what harness/chunking/short.py promises of `settled`, which was made of `plain`."""
    before = list(zip(plain.start.tolist(), plain.end.tolist(), strict=True))
    after = list(zip(settled.start.tolist(), settled.end.tolist(), strict=True))
    small = [span for span, units in zip(before, ruler.size(plain.start, plain.end).tolist(), strict=True) if units < around.min_size]
    left = int(np.count_nonzero(ruler.size(settled.start, settled.end) < around.min_size))
    assert after == sorted(set(after)), "document order, no span twice"
    assert (np.diff(settled.end) >= 0).all()
    assert ruler.size(settled.start[1:], settled.end[:-1]).max(initial=0) <= overlap
    assert settled.notes.get("unbounded", 0) in (0, len(after))
    if around.short == "drop":
        assert after == [span for span in before if span not in small]
        assert settled.notes.get("dropped", 0) == len(small)
        return
    assert settled.notes.get("short", 0) == left
    if around.short == "keep":
        assert after == before
        return
    assert settled.notes.get("merged", 0) == len(before) - len(after)
    assert {start for start, _ in after} <= {start for start, _ in before}
    assert {end for _, end in after} <= {end for _, end in before}
    for old_start, old_end in before:
        assert any(start <= old_start and old_end <= end for start, end in after), "nothing is lost"
    for span, units in zip(after, ruler.size(settled.start, settled.end).tolist(), strict=True):
        assert span in before or size is None or units <= size, "a merged chunk keeps the bound"
    for number in np.flatnonzero(ruler.size(settled.start, settled.end) < around.min_size).tolist():
        for first, last in ((number - 1, number), (number, number + 1)):
            if first >= 0 and last < len(after):
                joined = int(ruler.size(settled.start[[first]], settled.end[[last]])[0])
                assert size is not None, "without a bound a short chunk always has a neighbour to go to"
                assert joined > size, "a short chunk that is left fits with no neighbour"


@pytest.mark.parametrize("unit_name", UNITS)
@pytest.mark.parametrize("strategy", STRATEGIES)
@settings(max_examples=20, deadline=None)
@given(text=_text, size=st.integers(1, 30), share=st.floats(0, 0.99), least=st.floats(0, 1), short=st.sampled_from(["merge", "drop", "keep"]))
def test_short_chunks_keep_the_contract(strategy: str, unit_name: str, text: str, size: int, share: float, least: float, short: str) -> None:
    overlap = int(size * share) if takes_size(strategy) else 0
    chunker, ruler = load_strategy(strategy, size, overlap), unit(unit_name).measure(text)
    around = Surroundings(min_size=round(least * size), short=short)
    plain = chunker.split(text, ruler)
    shared = ruler.total if is_external(strategy) else overlap  # how much theirs share is their own affair
    check_short(plain, settle_short(plain, ruler, around, size_of(chunker)), ruler, around, size_of(chunker), shared)


@settings(max_examples=200, deadline=None)
@given(cuts=st.sets(st.integers(1, 79), max_size=30), overlap=st.integers(0, 3), least=st.integers(1, 12), size=st.integers(4, 30), data=st.data())
def test_short_chunks_of_any_lengths(cuts: set[int], overlap: int, least: int, size: int, data: Any) -> None:
    """Every pattern of short and long chunks, overlapping or not; contexts follow the first part of a merged chunk."""
    text = "x" * 80
    edges = [0, *sorted(cuts), 80]
    start = np.array([max(edge - overlap, before) for edge, before in zip(edges[:-1], [0, *edges[:-2]], strict=True)], dtype=np.int64)
    ruler = unit("chars").measure(text)
    short = data.draw(st.sampled_from(["merge", "drop", "keep"]))
    plain = Pieces(start, np.array(edges[1:], dtype=np.int64), context=tuple(f"{place}: " for place in start.tolist()))
    if len({*zip(plain.start.tolist(), plain.end.tolist(), strict=True)}) < len(start):
        return
    around = Surroundings(min_size=least, short=short)
    settled = settle_short(plain, ruler, around, size)
    check_short(plain, settled, ruler, around, size, max(int(ruler.size(start[1:], plain.end[:-1]).max(initial=0)), overlap))
    assert settled.context == tuple(f"{place}: " for place in settled.start.tolist())


@dataclass(frozen=True)
class Again:
    """Gives pieces that are there already, so that a costly strategy splits a text once for all that may surround its chunks."""

    pieces: Pieces

    def split(self, text: str, ruler: Ruler) -> Pieces:
        return self.pieces


def check_all_returned(strategy: str, text: str, size: int, overlap: int, unit_name: str) -> None:
    """`check_returned` for every way to return."""
    documents, rulers = [Document("d.md", text)], [unit(unit_name).measure(text)]
    plain = chunk_documents(load_strategy(strategy, size, overlap), documents, rulers)
    again = Again(Pieces(plain.start, plain.end))
    for returned in RETURNED:
        check_returned(text, plain, chunk_documents(again, documents, rulers, Surroundings(returned=returned.format(parent=size + 3))))


def check_returned(text: str, plain: ChunkSet, chunks: ChunkSet) -> None:
    """Assert that a returned span holds its chunk, and that chunk and order are those of `plain`."""
    assert np.array_equal(plain.start, chunks.start)
    assert np.array_equal(plain.end, chunks.end)
    for start, end, first, last in zip(
        *(column.tolist() for column in (chunks.start, chunks.end, chunks.returned_start, chunks.returned_end)), strict=True
    ):
        body = text[start:end]
        assert 0 <= first < last <= len(text)
        assert first <= start + len(body) - len(body.lstrip()), "all of the chunk that is not white space"
        assert start + len(body.rstrip()) <= last


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_what_is_returned_holds_the_chunk_of_hostile_texts(strategy: str) -> None:
    for text in TEXTS.values():
        check_all_returned(strategy, text, 7, 3, "words")
        check_all_returned(strategy, text, 40, 0, "chars")


@settings(max_examples=100, deadline=None)
@given(text=_text, size=st.integers(1, 20), share=st.floats(0, 0.99), strategy=st.sampled_from(STRATEGIES), unit_name=st.sampled_from(UNITS))
def test_what_is_returned_holds_the_chunk(text: str, size: int, share: float, strategy: str, unit_name: str) -> None:
    check_all_returned(strategy, text, size, int(size * share), unit_name)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_texts_to_embed_on_hostile_texts(strategy: str) -> None:
    """A text in front never touches the span, and comes before what the strategy itself puts there."""
    documents = [Document(f"{name}.md", text, title="A title" if name < "m" else "") for name, text in TEXTS.items()]
    rulers = [unit("words").measure(document.text) for document in documents]
    chunker = load_strategy(strategy, 12, 2)
    plain = chunk_documents(chunker, documents, rulers)
    choices = (("title", "one"), ("heading_path", "heading+body"), ("title+heading_path", "signature+body"), ("before:3+title", "one"))
    for context, vectors in choices:
        chunks = chunk_documents(chunker, documents, rulers, Surroundings(context=context, vectors=vectors))
        assert np.array_equal(plain.start, chunks.start)
        assert np.array_equal(plain.returned_end, chunks.returned_end)
        for own, whole in zip(plain.indexed_texts(documents), chunks.indexed_texts(documents), strict=True):
            assert whole.endswith(own)
        texts, chunk = chunks.second_texts()
        assert all(text.strip() for text in texts)
        assert len(set(chunk.tolist())) == len(texts)
        assert bool(texts) == (vectors != "one")
