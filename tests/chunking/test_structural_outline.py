"""Headings, their paths and their sections, in Markdown and HTML."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.chunking.headings import heading_spans, headings, plain_title
from harness.chunking.html_tags import looks_like_html, tags, words_of
from harness.chunking.outline import Outline, outline_of
from harness.types import Document

CRANE = "\ufeff---\ntitle: Crane\n# not one\n---\nBefore.\n# Crane ##\nLift.\n```\n# code\n```\n### Ropes\nHemp.\n\nBrakes\n------\nSteel.\n# Log\n"


def outline(text: str, name: str = "a.md") -> Outline:
    return outline_of(Document(name, text))


def rows(found: Outline) -> list[tuple[str, int, int]]:
    return list(zip(found.titles, found.level.tolist(), found.start.tolist(), strict=True))


def test_headings_paths_and_sections_of_a_document() -> None:
    found = outline(CRANE)
    places = [CRANE.index(line) for line in ("# Crane", "### Ropes", "Brakes", "# Log")]
    assert rows(found) == [("Crane", 1, places[0]), ("Ropes", 3, places[1]), ("Brakes", 2, places[2]), ("Log", 1, places[3])]
    assert [CRANE[a:b] for a, b in zip(found.start, found.end, strict=True)] == ["# Crane ##\n", "### Ropes\n", "Brakes\n------\n", "# Log\n"]
    assert found.paths == (("Crane",), ("Crane", "Ropes"), ("Crane", "Brakes"), ("Log",))
    assert found.parent.tolist() == [-1, 0, 0, -1]
    assert found.path_at(CRANE.index("Before")) == ()
    assert found.path_at(CRANE.index("# code")) == ("Crane",)
    assert found.path_at(places[2]) == ("Crane", "Brakes"), "a heading is in force from its first character"
    assert found.path_at(places[2] - 1) == ("Crane", "Ropes")
    assert found.section_at(np.array([0, places[0] - 1, places[0], places[3], len(CRANE)])).tolist() == [-1, -1, 0, 3, 3]
    assert found.sections[1].tolist() == [places[3], places[2], places[3], len(CRANE)]
    assert found.leaves[1].tolist() == [places[1], places[2], places[3], len(CRANE)]


def test_a_document_without_headings_has_no_sections() -> None:
    for text in ("", " \n", "Just text.", "---\n"):
        found = outline(text)
        assert len(found) == 0
        assert found.path_at(0) == ()
        assert found.section_at(np.array([0, 3])).tolist() == [-1, -1]
        assert [len(column) for column in (*found.sections, *found.leaves)] == [0, 0, 0, 0]


@pytest.mark.parametrize(
    ("source", "title"),
    [
        ("Plain words", "Plain words"),
        ("The *quick* `a*b` __fox__", "The quick a*b fox"),
        ("A [link](http://x.example) and ![a crane](c.png)", "A link and a crane"),
        ("R&amp;D \\# 5 &lt;b&gt; <b>bold</b>", "R&D # 5 <b> bold"),
        ("two\nlines", "two lines"),
        ("<http://x.example>", "http://x.example"),
        ("2 * 3 _ 4", "2 * 3 _ 4"),
        ("", ""),
    ],
)
def test_titles_are_plain_text(source: str, title: str) -> None:
    assert plain_title(source) == title


def test_headings_without_words_are_left_out_of_paths() -> None:
    assert outline("# A\n\n## \n\n### C\n").paths == (("A",), ("A",), ("A", "C"))


def test_a_line_of_hyphens_below_a_table_is_no_heading() -> None:
    text = "| a | b |\n|---|---|\n| 1 | 2 |\n---\n\n# H\n"
    assert headings(text)[3] == ("H",)
    assert len(heading_spans(text)[0]) == 2, "CommonMark alone knows no tables"


def test_the_fence_with_hash_lines_of_the_collected_faults(extra_data: Path) -> None:
    case = extra_data.parent / "cases" / "md-fence-hash"
    if not case.is_dir():
        pytest.skip(f"the collected faults are not here ({case})")
    expected = json.loads((case / "expect.json").read_text(encoding="utf-8"))
    (document,) = (case / "docs").iterdir()
    text = document.read_bytes().decode("utf-8")
    found = outline(text, document.name)
    assert rows(found) == [(row["text"], row["level"], row["start"]) for row in expected["headings"]]
    for line in (case / "questions.jsonl").read_text(encoding="utf-8").splitlines():
        question = json.loads(line)
        place = question["answers"][0]["evidence"][0]["start"]
        assert found.path_at(place) == tuple(expected["paths"][question["id"]])


_level = st.integers(1, 6)
_title = st.sampled_from(["Locks", "Zoë’s 鍵", "A b c", "🦭 Seals", "No. 7"])
_body = st.sampled_from(
    [
        "Text.",
        "```\n# code\n```",
        "    # indented",
        "<!--\n# off\n-->",
        "- # in a list",
        "> # quoted",
        "#hashtag",
        "~~~\nFence\n---\n~~~",
        "مرحبا 👍🏽",
        "",
    ]
)
_line_end = st.sampled_from(["\n", "\r\n", "\r"])


@settings(max_examples=150, deadline=None)
@given(lead=_body, sections=st.lists(st.tuples(_level, _title, _body, st.booleans()), max_size=8), end=_line_end)
def test_outline_of_a_document_made_of_known_sections(lead: str, sections: list[tuple[int, str, str, bool]], end: str) -> None:
    text, wanted = lead + "\n\n", []
    for level, title, body, underlined in sections:
        setext = underlined and level < 3
        text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\n", end)
        wanted.append((title, level, len(text)))
        text += f"{title}\n{'=-'[level - 1] * 3}\n" if setext else f"{'#' * level} {title}{' #' * underlined}\n"
        text += f"\n{body}\n\n"
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\n", end)
    found = outline(text)
    assert rows(found) == wanted
    check_outline(found, text)


def check_outline(found: Outline, text: str) -> None:
    """What any outline keeps, against plain loops."""
    assert (found.start[1:] >= found.end[:-1]).all()
    assert (found.start < found.end).all()
    numbers = range(len(found))
    for number, (start, end) in enumerate(zip(*found.sections, strict=True)):
        later = [found.start[other] for other in numbers if other > number and found.level[other] <= found.level[number]]
        assert (start, end) == (found.start[number], min(later, default=len(text)))
    starts, ends = found.sections
    for position in range(0, len(text), 7):
        around = [number for number in numbers if starts[number] <= position < ends[number]]
        assert found.path_at(position) == tuple(found.titles[number] for number in around if found.titles[number])
        assert found.section_at(np.array([position]))[0] == (around[-1] if around else -1)


# HTML


PAGE = (
    "<!DOCTYPE html><html><head><title><h1>no</h1></title><script>var a = '<h1>no</h1>';</script></head>\n<body>\n<section>\n"
    " <h1 id='a>b'>Zoë &amp; 鍵</h1><p>a <3 b<!-- <h2>no</h2> --><h3>Open<p>para <H2\n>Up<br>per <em>case</em></H4></body>"
)


def test_headings_of_html() -> None:
    found = outline(PAGE, "page.html")
    assert [(text, level, PAGE[a:b]) for (text, level, a), b in zip(rows(found), found.end, strict=True)] == [
        ("Zoë & 鍵", 1, "<body>\n<section>\n <h1 id='a>b'>Zoë &amp; 鍵</h1>"),
        ("Open", 3, "<h3>Open"),
        ("Up per case", 2, "<H2\n>Up<br>per <em>case</em></H4>"),
    ]
    assert found.path_at(PAGE.index("para")) == ("Zoë & 鍵", "Open")
    assert found.paths[2] == ("Zoë & 鍵", "Up per case")


@pytest.mark.parametrize(
    ("name", "text", "is_html"),
    [
        ("a.html", "x", True),
        ("A.HTM", "x", True),
        ("b.xhtml", "x", True),
        ("c", "\ufeff \n<!DocType HTML>", True),
        ("c", "<HTML>", True),
        ("c.md", "<div>", False),
        ("c.html.md", "<p>", False),
    ],
)
def test_what_is_read_as_html(name: str, text: str, is_html: bool) -> None:
    assert len(outline(text + "<h1>A</h1>\n\n# B\n", name)) == 1
    assert outline(text + "<h1>A</h1>\n\n# B\n", name).titles == (("A",) if is_html else ("B",))
    assert looks_like_html(text) == (is_html and name == "c")


@pytest.mark.parametrize(
    "hidden", ["<!-- > <h1>no</h1> -->", '<a title="> <h1>no</h1>">', "<a title='> <h1>no</h1>'>", "<textarea> <h1>no</h1></textarea>"]
)
def test_what_only_looks_like_a_heading_of_html(hidden: str) -> None:
    assert outline(f"<h1>One</h1>{hidden}<h2>Two</h2>", "a.html").titles == ("One", "Two")


def test_broken_html_costs_no_other_heading() -> None:
    for broken in ("<p <h2>", '<a href="x>y', "<!-->", "<![<", "</>", "<", "<3", "a<b", "</p", "<? >", "<td></ul></table>", "<h1>", "<h4></h5>"):
        found = outline(f"<h1>One</h1>{broken} text> <h2>Two</h2>", "a.html")
        assert found.titles[0] == "One", broken
        assert found.titles[-1] == "Two", broken


_tag = st.sampled_from(
    ["<p>", "</p>", "<div class='a > b'>", "</div>", "<br/>", '<a title="<h1>">', "</a>", "<!-- <h1> -->", "<script>'<h2>'</script>", "<li>", "&lt;"]
)
_words = st.sampled_from(["word ", "鍵 ", "👍🏽", "\r\n", "é", "a & b", " "])
_element = st.integers(1, 6).flatmap(lambda level: st.just(f"<h{level}>T{level}</h{level}>"))


class _Starts(HTMLParser):
    """Where headings start, by another reader of HTML."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[int, int]] = []
        self.lines = [0, *(place + 1 for place, sign in enumerate(text) if sign == "\n")]
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if len(tag) == 2 and tag[0] == "h" and tag[1].isdigit():
            line, column = self.getpos()
            self.found.append((self.lines[line - 1] + column, int(tag[1])))


@settings(max_examples=150, deadline=None)
@given(parts=st.lists(st.one_of(_tag, _words, _element), max_size=30))
def test_headings_agree_with_another_reader_of_html(parts: list[str]) -> None:
    text = "".join(parts)
    found = outline(text, "a.html")
    tagged = [(tag.start, int(tag.name[1])) for tag in tags(text) if tag.name in {"h1", "h2", "h3", "h4", "h5", "h6"} and not tag.closing]
    assert tagged == _Starts(text).found
    assert [level for _, level in tagged] == found.level.tolist()
    assert all(text[start : start + 1] == "<" for start in found.start)
    check_outline(found, text)


@settings(max_examples=200, deadline=None)
@given(text=st.lists(st.sampled_from([*"<>/!-\"'= h1ap\n", "<h1", "</h1>", "<!--", "-->", "<script", "é", "\ud800"]), max_size=60).map("".join))
def test_any_text_has_an_outline_of_html(text: str) -> None:
    found = outline(text, "a.html")
    check_outline(found, text)
    assert all(0 <= tag.start < tag.end <= len(text) for tag in tags(text))
    words_of(text)
