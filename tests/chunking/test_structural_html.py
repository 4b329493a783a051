"""html: chunks written out, and what holds for any text with tags."""

from __future__ import annotations

import re

import pytest
from contracts.chunking_cases import check_contract, unit
from hypothesis import given, settings
from hypothesis import strategies as st
from structural_cases import chunks_of, least_seconds, pieces_of, shown

from harness.chunking.html import HtmlChunker
from harness.chunking.html_tags import markup
from harness.chunking.outline import outline_of
from harness.chunking.recursive import RecursiveChunker
from harness.types import Document
from harness.units import CharUnit, WordUnit

PAGE = (
    "<!DOCTYPE html>\n<html><head><title>Pumps &amp; valves</title></head>\n<body>\n<main>\n<h1>Pumps</h1>\n<p>For <b>water</b>.</p>\n"
    "<section><h2>Hand</h2><p>Up.</p></section>\n<section><h2>Motor</h2><p>Round.</p></section>\n</main>\n</body></html>\n"
)


def test_sections_with_their_wrappers() -> None:
    assert chunks_of(HtmlChunker(500), PAGE) == [PAGE.rstrip()]
    assert chunks_of(HtmlChunker(170), PAGE) == [PAGE[: PAGE.index("<body>")].rstrip(), PAGE[PAGE.index("<body>") :].rstrip()]
    assert chunks_of(HtmlChunker(80), PAGE) == [
        "<!DOCTYPE html>\n<html><head><title>Pumps &amp; valves</title></head>",
        "<body>\n<main>\n<h1>Pumps</h1>\n<p>For <b>water</b>.</p>",
        "<section><h2>Hand</h2><p>Up.</p></section>",
        "<section><h2>Motor</h2><p>Round.</p></section>\n</main>\n</body></html>",
    ]


def test_chunks_begin_where_their_heading_begins() -> None:
    """So that the path of a chunk's start is the path of its section."""
    found = outline_of(Document("a.html", PAGE))
    starts = pieces_of(HtmlChunker(80), PAGE).start
    assert starts[1:].tolist() == found.start.tolist()
    assert [found.path_at(int(start)) for start in starts] == [(), ("Pumps",), ("Pumps", "Hand"), ("Pumps", "Motor")]


def test_start_tags_go_with_what_follows_and_end_tags_with_what_is_before() -> None:
    text = "<div><p>Text one.</p></div><div><p>Text two.</p></div>"
    assert chunks_of(HtmlChunker(40), text) == [text[:27], text[27:]]
    assert chunks_of(HtmlChunker(27), text) == [text[:27], text[27:]]
    assert not [chunk for size in range(14, 27) for chunk in chunks_of(HtmlChunker(size), text) if chunk.startswith("</")]


LISTS = "<p>You need:<ul><li>a spanner<li>a rag<ol><li>clean</li><li>dry</ol><li>oil</ul><p>Then:<pre>\none\n  two\n\nthree\n</pre>Stop.<hr>End."


def test_lists_and_pre_stay_whole_where_they_fit_and_else_fall_at_items_and_lines() -> None:
    assert chunks_of(HtmlChunker(78), LISTS) == [
        "<p>You need:",
        "<ul><li>a spanner<li>a rag<ol><li>clean</li><li>dry</ol><li>oil</ul><p>Then:",
        "<pre>\none\n  two\n\nthree\n</pre>Stop.<hr>End.",
    ]
    assert chunks_of(HtmlChunker(36), LISTS) == [
        "<p>You need:",
        "<ul><li>a spanner",
        "<li>a rag",
        "<ol><li>clean</li><li>dry</ol>",
        "<li>oil</ul><p>Then:",
        "<pre>\none\n  two\n\nthree\n</pre>",
        "Stop.<hr>End.",
    ]
    assert chunks_of(HtmlChunker(20), LISTS)[-3:] == ["<pre>\none\n  two", "three\n</pre>Stop.", "<hr>End."]


TABLE = (
    "<table><caption>Weights</caption><thead><tr><th rowspan=2>part<th colspan=2>kg</thead><tr><td>drum<td>310<td>300</tr>"
    "<tr><td rowspan='2'>hook &amp; eye</td><td>40</td><td></td></tr>\n<tr><td>12<td>11</table>"
)


def test_a_table_is_split_between_rows_and_later_parts_get_its_header() -> None:
    got = shown(HtmlChunker(130), TABLE)
    assert got == [
        ("", TABLE[: TABLE.index("<tr><td rowspan")]),
        ("part | kg | kg", "<tr><td rowspan='2'>hook &amp; eye</td><td>40</td><td></td></tr>\n<tr><td>12<td>11</table>"),
    ]
    assert [context for context, _ in shown(HtmlChunker(130, table="words"), TABLE)] == [
        "part = drum; kg = 310; kg = 300",
        "part = hook & eye; kg = 40\npart = hook & eye; kg = 12; kg = 11",
    ]
    assert pieces_of(HtmlChunker(130, table="plain"), TABLE).context is None
    assert pieces_of(HtmlChunker(500), TABLE).context is None, "a table in one chunk needs none"


def test_tables_without_a_header_give_no_context() -> None:
    layout = "<table><tr><td>" + "</td></tr><tr><td>".join(["Left and right. "] * 9) + "</table>"
    assert pieces_of(HtmlChunker(60), layout).context is None
    first = layout.replace("td", "th", 2)
    assert [context for context, _ in shown(HtmlChunker(60), first)][1:] == ["Left and right."] * (len(shown(HtmlChunker(60), first)) - 1)


def test_no_cut_inside_a_tag_that_fits() -> None:
    text = "<p>Some words <a href='x.html' title='Go. Stop. Go on'>lead on</a> and <!-- a. B. c --> on <b class='very long'>so</b>.</p> " * 5
    spans = [(tag.start, tag.end) for tag in markup(text)]
    for size in range(50, 90):
        starts = pieces_of(HtmlChunker(size, 7), text).start.tolist()
        assert not [start for start in starts for a, b in spans if a < start < b], size


def test_plain_text_is_divided_as_recursive_divides_it() -> None:
    text = "# Title\n\nThe tide turns at noon. Boats leave then.\n\nNobody waits & 3 < 4. " * 5
    for size, overlap in ((30, 0), (64, 18)):
        mine, plain = pieces_of(HtmlChunker(size, overlap), text), pieces_of(RecursiveChunker(size, overlap), text)
        assert (mine.start.tolist(), mine.end.tolist(), mine.notes) == (plain.start.tolist(), plain.end.tolist(), plain.notes)


def test_overlap_stays_within_a_section() -> None:
    text = "<h1>A</h1><p>One is here. <p>Two is here. <p>Three is here.<h1>B</h1><p>Four is here."
    assert chunks_of(HtmlChunker(42, 17), text) == [
        "<h1>A</h1><p>One is here.",
        "<p>One is here. <p>Two is here.",
        "<p>Two is here. <p>Three is here.",
        "<h1>B</h1><p>Four is here.",
    ]


_piece = st.sampled_from(
    [
        *(
            "<p>",
            "</p>",
            "<div>",
            "</div>",
            "<h1>",
            "</h1>",
            "<h2 id='a > b'>",
            "</h2>",
            "<ul>",
            "<li>",
            "</li>",
            "</ul>",
            "<dl><dt>",
            "<dd>",
            "</dl>",
        ),
        *(
            "<table>",
            "<tr>",
            "<th>",
            "<td>",
            "<td rowspan=3>",
            "</td>",
            "</table>",
            "<thead>",
            "</thead>",
            "<pre>",
            "</pre>",
            "<blockquote>",
            "</blockquote>",
        ),
        *("<br>", "<hr/>", "<b>", "</b>", "<!-- c. D -->", "<script>x < y\n z</script>", "<a href='", "<3", "&lt;", "&eacute;", "<", ">"),
        *("A word. ", "鍵は。", "👍🏽", "\r\n", "\n\n", "e\u0301 ", "long" * 12, " ", "\ufeff", "\ud800"),
    ]
)


@pytest.mark.parametrize("unit_name", ["tokens", "words", "chars"])
@settings(max_examples=60, deadline=None)
@given(text=st.lists(_piece, max_size=60).map("".join), size=st.integers(1, 60), share=st.floats(0, 0.9), merge=st.sampled_from(["siblings", "none"]))
def test_contract_on_any_html(unit_name: str, text: str, size: int, share: float, merge: str) -> None:
    overlap = int(size * share)
    for table in ("header", "words"):
        check_contract(text, HtmlChunker(size, overlap, merge, table), unit(unit_name), overlap, size)  # type: ignore[arg-type]


@settings(max_examples=100, deadline=None)
@given(rows=st.integers(1, 12), size=st.integers(20, 200), sections=st.integers(1, 4))
def test_whole_blocks_of_well_formed_html(rows: int, size: int, sections: int) -> None:
    table = "<table><tr><th>k</th><th>v</th></tr>" + "".join(f"<tr><td>{n}</td><td>v. W</td></tr>" for n in range(rows)) + "</table>"
    text = "".join(
        f"<section><h2>Part {n}</h2><p>Some words. And more.</p>{table}<ul><li>one</li><li>two</li></ul></section>" for n in range(sections)
    )
    ruler = CharUnit().measure(text)
    pieces = HtmlChunker(size).split(text, ruler)
    for found in re.finditer(r"<(table|ul|section)>.*?</\1>(?:</\w+>)*", text):
        if found.end() - found.start() <= size:
            assert ((pieces.start <= found.start()) & (pieces.end >= found.end())).any(), found.group()


@pytest.mark.parametrize("part", [PAGE, LISTS, TABLE, "<table><tr><th>a<td>", "<ul><li>x ", "<!--", "<a b='", "<pre>a\nb ", "<h1>", "</div>", "<"])
def test_time_is_linear_on_broken_html_too(part: str) -> None:
    seconds = []
    for length in (100_000, 400_000):
        text = part * (length // len(part))
        ruler = WordUnit().measure(text)
        seconds.append(least_seconds(lambda text=text, ruler=ruler: HtmlChunker(50, 5).split(text, ruler)))
    assert seconds[1] < 8 * seconds[0] + 0.2, seconds  # four times the text; were it quadratic, sixteen times the time


def test_offsets_are_characters() -> None:
    assert chunks_of(HtmlChunker(18), "<p>👍🏽 鍵</p>\r\n<h1>É</h1>\r\n<p>x</p>") == ["<p>👍🏽 鍵</p>", "<h1>É</h1>", "<p>x</p>"]
