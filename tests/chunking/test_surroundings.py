"""Context, returned spans, short chunks and second vectors on texts that can be read by eye."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from surrounding_toys import BOATS, Lines

from harness.chunking import chunk_documents, digest
from harness.chunking.context import signature
from harness.chunking.document import DocumentChunker
from harness.chunking.fixed import FixedChunker
from harness.chunking.recursive import RecursiveChunker
from harness.chunking.sentence import SentenceChunker
from harness.chunking.surroundings import Surroundings
from harness.errors import ConfigError, ImpossibleCell
from harness.types import SURROUNDINGS, ChunkSet, Document
from harness.units import CharUnit, WordUnit

LINES = Lines()


def surrounded(text: str, chunker: Any = LINES, *, title: str = "", metadata: Any = None, **around: Any) -> tuple[ChunkSet, Document]:
    document = Document("d.md", text, title, metadata or {})
    return chunk_documents(chunker, [document], [WordUnit().measure(text)], Surroundings(**around)), document


def embedded(text: str, chunker: Any = LINES, **choices: Any) -> list[str]:
    chunks, document = surrounded(text, chunker, **choices)
    return chunks.indexed_texts([document])


def returned(text: str, chunker: Any = LINES, **choices: Any) -> list[str]:
    chunks, _ = surrounded(text, chunker, **choices)
    return [text[start:end] for start, end in zip(chunks.returned_start.tolist(), chunks.returned_end.tolist(), strict=True)]


def test_the_headings_in_force_stand_in_front() -> None:
    assert embedded(BOATS, context="heading_path") == [
        "# Boats",
        "Boats\nAll about boats.",
        "Boats\n## Hire",
        "Boats > Hire\nBoats go out at nine. They come back at six.",
        "Boats\n## Fees",
        "Boats > Fees\n### Members",
        "Boats > Fees > Members\nMembers pay less.",
    ]


def test_a_title_is_the_documents_own_or_its_first_heading_and_is_said_once() -> None:
    assert embedded(BOATS, context="title")[:3] == ["# Boats", "Boats\nAll about boats.", "Boats\n## Hire"]
    assert embedded(BOATS, context="title", title="The yard")[:2] == ["The yard\n# Boats", "The yard\nAll about boats."]
    assert embedded("No heading here.", context="title+heading_path") == ["No heading here."]
    both = embedded(BOATS, context="title+heading_path")
    assert both[3] == "Boats\nHire\nBoats go out at nine. They come back at six."
    assert embedded(BOATS, context="title+heading_path", title="The yard")[3].startswith("The yard\nBoats > Hire\nBoats go")


def test_text_before_the_chunk_in_units() -> None:
    assert embedded(BOATS, context="before:3")[3] == "boats.\n\n## Hire\nBoats go out at nine. They come back at six."
    assert embedded(BOATS, context="before:3")[0] == "# Boats"
    assert embedded("one two three four five six", FixedChunker(2), context="before:1") == ["one two ", "two\nthree four ", "four\nfive six"]


def test_metadata_stands_in_front() -> None:
    metadata = {"team": "Harbour office", "tags": ["ropes", "  knots\n"], "year": 2026, "none": None}
    for key, line in (("team", "Harbour office\n"), ("tags", "ropes, knots\n"), ("year", "2026\n"), ("none", "")):
        assert embedded("Text.", metadata=metadata, context=f"metadata:{key}") == [f"{line}Text."]
    assert embedded("Text.", metadata=metadata, context="metadata:year+title", title="T") == ["2026\nT\nText."]


def test_what_the_strategy_wants_stands_right_before_the_chunk() -> None:
    assert embedded("head\nrow one\nrow two", Lines(front="[head] ")) == ["head", "[head] row one", "[head] row two"]
    assert embedded("head\nrow one", Lines(front="[head] "), context="title", title="Fees") == ["Fees\nhead", "Fees\n[head] row one"]


def test_context_is_neither_in_the_span_nor_in_the_size() -> None:
    plain, _ = surrounded(BOATS, RecursiveChunker(6))
    chunks, _ = surrounded(BOATS, RecursiveChunker(6), context="title+heading_path")
    for column in ("start", "end", "returned_start", "returned_end"):
        assert np.array_equal(getattr(plain, column), getattr(chunks, column))
    assert digest(plain) != digest(chunks)


def test_sections_are_what_stands_between_two_headings() -> None:
    found = returned(BOATS, returned="section")
    assert found[0] == found[1] == "# Boats\n\nAll about boats."
    assert found[2] == found[3] == "## Hire\n\nBoats go out at nine. They come back at six."
    assert found[4] == found[5] == found[6] == "## Fees\n\n### Members\n\nMembers pay less.", "a heading with nothing under it goes with the next"
    assert returned("  A line.\n\n# Late\n\nText.", returned="section") == ["A line.", "# Late\n\nText.", "# Late\n\nText."]
    assert returned("Only.\nLines.", returned="section") == ["Only.\nLines."] * 2
    chunks, _ = surrounded(BOATS, FixedChunker(14), returned="section")
    assert chunks.notes["straddling"] == 2
    assert BOATS[chunks.returned_start[0] : chunks.returned_end[0]].endswith("They come back at six."), "of several, from the first to the last"


def test_neighbours_are_those_of_the_same_document() -> None:
    assert returned("a\nb\nc\nd", returned="neighbours:1") == ["a\nb", "a\nb\nc", "b\nc\nd", "c\nd"]
    assert returned("a\nb\nc\nd", returned="neighbours:9") == ["a\nb\nc\nd"] * 4
    texts = ["a\nb", "c\nd"]
    documents = [Document(text, text) for text in texts]
    chunks = chunk_documents(Lines(), documents, [WordUnit().measure(text) for text in texts], Surroundings(returned="neighbours:1"))
    assert list(zip(chunks.returned_start.tolist(), chunks.returned_end.tolist(), strict=True)) == [(0, 3)] * 4


def test_parents_are_chunks_of_the_recursive_strategy() -> None:
    """Whatever the strategy, white space at a chunk's edges included: the parents that come out are those of `recursive` and unions of neighbours."""
    parents = {BOATS[start:end] for start, end in _spans(RecursiveChunker(10))}
    for chunker in (RecursiveChunker(5), SentenceChunker(5)):
        assert set(returned(BOATS, chunker, returned="parent:10")) == parents
    straddling = "## Hire\n\nBoats go out at nine. They come back at six."
    assert set(returned(BOATS, Lines(size=9), returned="parent:10")) - parents == {straddling}
    assert surrounded(BOATS, Lines(size=9), returned="parent:10")[0].notes["straddling"] == 1
    text = "\n  one two three four. five six seven eight. nine ten.  \n"
    chunks = chunk_documents(FixedChunker(10), [Document("d", text)], [CharUnit().measure(text)], Surroundings(returned="parent:25"))
    ends = set(zip(chunks.returned_start.tolist(), chunks.returned_end.tolist(), strict=True))
    starts, stops = zip(*_spans(RecursiveChunker(25), text, CharUnit()), strict=True)
    assert all(start in starts and end in stops for start, end in ends)


def _spans(chunker: Any, text: str = BOATS, unit: Any = None) -> list[tuple[int, int]]:
    found = chunker.split(text, (unit or WordUnit()).measure(text))
    return list(zip(found.start.tolist(), found.end.tolist(), strict=True))


def test_the_whole_document_is_that_of_the_document_strategy() -> None:
    for text in ("\n\n Two lines.\nOf text. \n", "x"):
        plain, _ = surrounded(text, DocumentChunker())
        around, _ = surrounded(text, DocumentChunker(), returned="document", context="heading_path")
        assert digest(plain) == digest(around)
        assert set(returned(text, FixedChunker(1), returned="document")) == {text.strip()}


@pytest.mark.parametrize(
    ("lines", "least", "merged"),
    [
        ("a b c\nd\ne f g h", 2, ["a b c\nd", "e f g h"]),
        ("a b c d\ne\nf g h", 2, ["a b c d", "e\nf g h"]),
        ("a b c\nd\ne f g", 2, ["a b c\nd", "e f g"]),
        ("a\nb c", 2, ["a\nb c"]),
        ("a b\nc", 2, ["a b\nc"]),
        ("a\nb\nc\nd", 3, ["a\nb\nc\nd"]),
        ("a b c d e\nf\ng h i j k", 2, ["a b c d e", "f", "g h i j k"]),
        ("a b c d\ne\nf g h i\nj", 2, ["a b c d\ne", "f g h i\nj"]),
    ],
)
def test_a_short_chunk_goes_to_the_neighbour_with_which_it_is_smaller(lines: str, least: int, merged: list[str]) -> None:
    """At most five words a chunk: the one before where both are equal; neither where both would be too large."""
    chunks, _ = surrounded(lines, Lines(size=5), min_size=least)
    assert [lines[start:end] for start, end in zip(chunks.start.tolist(), chunks.end.tolist(), strict=True)] == merged
    assert chunks.notes.get("short", 0) == sum(len(text.split()) < least for text in merged)
    assert chunks.notes["merged"] == len(lines.splitlines()) - len(merged) if len(merged) < len(lines.splitlines()) else True


def test_dropped_and_kept_chunks_are_counted() -> None:
    text = "a b c\nd\ne f g h"
    chunks, _ = surrounded(text, min_size=2, short="drop", returned="neighbours:1")
    assert (chunks.start.tolist(), dict(chunks.notes)) == ([0, 8], {"dropped": 1})
    assert chunks.returned_end.tolist() == [15, 15], "neighbours are those that are left"
    chunks, _ = surrounded(text, min_size=2, short="keep")
    assert (len(chunks), dict(chunks.notes)) == (3, {"short": 1})
    chunks, _ = surrounded(text, min_size=9, short="drop")
    assert (len(chunks), dict(chunks.notes)) == (0, {"dropped": 3})


def test_without_a_bound_short_chunks_always_find_a_place() -> None:
    chunks, _ = surrounded("One. Two. Three four. Five.", SentenceChunker(sentences_per_chunk=1), min_size=2)
    assert (chunks.start.tolist(), chunks.end.tolist()) == ([0, 10], [9, 27])
    assert dict(chunks.notes) == {"merged": 2, "unbounded": 2}


def test_the_second_text_of_headings() -> None:
    chunks, document = surrounded(BOATS, vectors="heading+body")
    assert chunks.also == ("Boats", "Boats", "Boats > Hire", "Boats > Hire", "Boats > Fees", "Boats > Fees > Members", "Boats > Fees > Members")
    texts, chunk = chunks.second_texts()
    assert (len(texts), chunk.tolist()) == (7, list(range(7)))
    assert chunks.indexed_texts([document])[3] == "Boats go out at nine. They come back at six."
    whole, _ = surrounded("# A\n\n## B\n\nText.\n\n## C", RecursiveChunker(6), vectors="heading+body")
    assert whole.also == ("A > B", "A > C"), "of headings one below the other, the deepest that the chunk begins with"
    assert surrounded(BOATS, vectors="heading+body", title="The yard")[0].also[3] == "The yard > Boats > Hire"  # type: ignore[index]
    assert surrounded("No heading.", vectors="heading+body")[0].also is None


@pytest.mark.parametrize(
    ("code", "line"),
    [
        ("def tie(rope):\n    return rope", "def tie(rope):"),
        ("@cached\n# how\ndef tie(\n    rope,\n    knot,\n):\n    pass", "def tie(\nrope,\nknot,\n):"),
        ("/** Ties.\n * @param rope\n */\npublic void tie(Rope rope) {\n  knot();\n}", "public void tie(Rope rope) {"),
        ("fn tie(rope: &Rope) -> Knot {", "fn tie(rope: &Rope) -> Knot {"),
        ("# only\n# comments", "# only"),
        ("f(\n1,\n2,\n3,\n4,\n5,\n6)", "f(\n1,\n2,\n3,\n4,"),
        ("", ""),
    ],
)
def test_the_signature_of_code(code: str, line: str) -> None:
    assert signature(code) == line


def test_the_second_text_of_code() -> None:
    code = "def tie(rope):\n    return rope\n"
    chunks, _ = surrounded(code, DocumentChunker(), vectors="signature+body")
    assert chunks.also == ("def tie(rope):",)
    chunks, _ = surrounded("x = 1", DocumentChunker(), vectors="signature+body")
    assert chunks.also is None, "a chunk that is its own signature has one vector"
    chunks, _ = surrounded("head\nrow", Lines(front="class Knot:\n"), vectors="signature+body")
    assert chunks.also is None


BAD = [
    ({"context": "titel"}, r"context=titel: none, or"),
    ({"context": "title+title"}, "context="),
    ({"context": "none+title"}, "context="),
    ({"context": ""}, "context="),
    ({"context": "metadata:"}, "context="),
    ({"context": "before:0"}, "context="),
    ({"context": None}, "context="),
    ({"returned": "parent"}, r"returned=parent: chunk, neighbours:N"),
    ({"returned": "parent:0"}, "returned="),
    ({"returned": "neighbours:-1"}, "returned="),
    ({"returned": "chunk:3"}, "returned="),
    ({"returned": 3}, "returned="),
    ({"min_size": -1}, "min_size=-1"),
    ({"min_size": 1.5}, "min_size="),
    ({"min_size": True}, "min_size="),
    ({"short": "join"}, "short=join: one of merge, drop, keep"),
    ({"vectors": "two"}, "vectors=two: one of one, heading"),
]


@pytest.mark.parametrize(("choice", "told"), BAD, ids=lambda value: str(value))
def test_what_cannot_be_understood_is_refused(choice: dict[str, Any], told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        Surroundings(**choice)


def test_what_does_not_go_together_is_an_impossible_cell() -> None:
    for choice in ({"min_size": 21}, {"returned": "parent:19"}):
        with pytest.raises(ImpossibleCell, match="size=20"):
            surrounded(BOATS, FixedChunker(20), **choice)
        surrounded(BOATS, DocumentChunker(), **choice)
    surrounded(BOATS, FixedChunker(20), min_size=20, returned="parent:20")
    Surroundings(context="metadata:team").check_documents([Document("a", "x"), Document("b", "y", metadata={"team": 1})])
    with pytest.raises(ConfigError, match=r"metadata:crew: no document has this in its metadata, which holds: team"):
        Surroundings(context="metadata:crew").check_documents([Document("b", "y", metadata={"team": 1})])


def test_the_usual_is_said_in_one_place() -> None:
    assert {name: str(getattr(Surroundings(), name)) for name in SURROUNDINGS} == SURROUNDINGS
    assert Surroundings(short="drop") == Surroundings()
    assert Surroundings(short="drop", min_size=1) != Surroundings(min_size=1)
