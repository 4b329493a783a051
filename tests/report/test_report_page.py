"""The page: one file, nothing of a document's text ever markup, never too large, the same bytes again."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from report_toys import corpus_of, swept

from harness.course import Course, Failure
from harness.report.material import Material
from harness.report.page import About, render
from harness.report.page.blocks import block, digest
from harness.report.page.grid import grid
from harness.report.page.pictures import Wardrobe
from harness.report.page.viewer import viewer
from harness.statistics.effects import Effect, Effects
from harness.sweep import Summary
from harness.types import Corpus

HOSTILE = (
    'Rule 1: </script><script>document.title="broken"</script> stands. <img src=x onerror="document.title=1"> <!-- <script> \u2028\u2029 & &lt; '
    "**bold** [link](javascript:alert(1)) 🚲🚲 مرحبا بالعالم \u202eright to left\u202c 駐車場です {{ 7*7 }} ]]> \ud800 end. "
)
ABOUT = About("hostile <b>name</b>", (("Command", 'chunk-sweep run "</title><script>1</script>"'),))


class Reader(HTMLParser):
    """What a browser would make of the page: elements, the texts of scripts and styles, attributes."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.raw: dict[str, list[tuple[dict[str, str | None], str]]] = {"script": [], "style": []}
        self._open: str | None = None
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self._open = tag if tag in self.raw else None
        if self._open:
            self.raw[tag].append((dict(attrs), ""))

    def handle_endtag(self, tag: str) -> None:
        self._open = None

    def handle_data(self, data: str) -> None:
        if self._open:
            attributes, text = self.raw[self._open][-1]
            self.raw[self._open][-1] = (attributes, text + data)

    def data(self) -> dict[str, Any]:
        return {str(attributes["id"]): json.loads(text) for attributes, text in self.raw["script"] if attributes.get("type") == "application/json"}


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    texts = [
        HOSTILE + "The ferry leaves at six. Pets travel below deck.",
        "# Lost property\n\nKeys wait at the desk for a week. " * 3 + "Then they are sold.",
    ]
    asked = [
        ("When does the <b>ferry</b> leave?</script>", [[(0, "The ferry leaves at six.", None)]]),
        ("Where do pets travel?", [[(0, "Pets travel below deck.", "claim"), (0, "The ferry leaves at six.", '"><script>')]]),
        ("What becomes of keys?", [[(1, "Then they are sold.", None)]]),
        ("Is there a sauna?", []),
    ]
    return corpus_of(texts, asked, ["a<script>.md", "b&amp;.md"])


@pytest.fixture(scope="module")
def made(corpus: Corpus) -> tuple[Summary, Material]:
    return swept(corpus)


@pytest.fixture(scope="module")
def page(made: tuple[Summary, Material]) -> str:
    return render(made[0], None, made[1], ABOUT)


def test_the_policy_allows_this_page_and_nothing_else(page: str) -> None:
    found = Reader(page)
    policy = next(str(attributes["content"]) for tag, attributes in found.elements if attributes.get("http-equiv") == "Content-Security-Policy")
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    scripts = [text for attributes, text in found.raw["script"] if "type" not in attributes]
    assert [digest(text) for text in scripts] == re.findall(r"'sha256-[^']+'", policy.partition("script-src")[2])
    assert [digest(text) for _, text in found.raw["style"]] == re.findall(r"'sha256-[^']+'", policy.partition("style-src")[2].partition(";")[0])
    assert len(scripts) == 2


def test_nothing_is_fetched_and_nothing_is_inline(page: str) -> None:
    for tag, attributes in Reader(page).elements:
        assert tag not in ("img", "iframe", "object", "embed", "base", "form", "b")
        assert "style" not in attributes, (tag, attributes)
        assert not [name for name in attributes if name.startswith("on")]
        for name in ("src", "href", "xlink:href"):
            assert (attributes.get(name) or "#").startswith(("#", "data:,")), (tag, attributes)
    assert "url(http" not in page
    assert "@import" not in page


def test_texts_come_back_as_they_are(page: str, corpus: Corpus) -> None:
    data = Reader(page).data()
    assert [data[f"document-{n}"]["text"] for n in range(2)] == [document.text.replace("\ud800", "\ufffd") for document in corpus.documents]
    index = data["index"]
    assert [question["text"] for question in index["questions"]] == [question.text for question in corpus.questions]
    assert [name for name, _ in index["documents"]] == [document.id for document in corpus.documents]
    assert data["document-1"]["heads"] == [[0, 1, "Lost property"]]


def test_the_viewer_knows_what_the_explanations_say(page: str, made: tuple[Summary, Material], corpus: Corpus) -> None:
    from harness.report.explain import Explainer

    summary, material = made
    data, explainer = Reader(page).data(), Explainer(material)
    by_key = {cell.result.key: cell for cell in material.cells}
    assert data["index"]["cells"][0]["key"] == summary.cheapest.result.key if summary.cheapest else False
    for place, entry in enumerate(data["index"]["cells"]):
        cell, shown = by_key[entry["key"]], data[f"cell-{place}"]
        starts = np.concatenate([np.cumsum(part) for part in np.split(np.array(shown["steps"]), np.cumsum(shown["counts"])[:-1])])
        assert starts.tolist() == cell.chunks.start.tolist()
        assert (starts + shown["lengths"]).tolist() == cell.chunks.end.tolist()
        for number, row in enumerate(shown["rows"]):
            found = explainer.explain(cell, number)
            assert row[0] == found.sentence
            assert row[2] == [hit.chunk for hit in found.hits]
            assert row[3] == [round(hit.score * 10000) for hit in found.hits]
            assert row[4:] == [found.lexical.what, found.lexical.rank, found.lexical.chunk]
            assert data["index"]["fates"][int(entry["fates"][number])] == found.attribution
        assert entry["values"][0] == [None if np.isnan(v) else v for v in cell.result.questions["complete_within_2048"].tolist()]
    assert [piece["role"] for piece in data["index"]["questions"][1]["answers"][0]] == ["claim", '"><script>']


def test_the_same_again(made: tuple[Summary, Material], page: str) -> None:
    assert render(made[0], None, made[1], ABOUT) == page


@settings(max_examples=50, deadline=None)
@given(
    st.recursive(st.text() | st.floats() | st.integers() | st.none(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=8)
)
def test_blocks_hold_no_markup(value: Any) -> None:
    text = block(value)
    assert not set(text) & set("<>&\u2028\u2029")
    assert text.encode("utf-8")
    json.loads(text)


def test_order_of_the_page(page: str) -> None:
    places = [
        page.index(f'<section id="{name}"')
        for name in ("verdict", "leaderboard", "curves", "heat", "context", "lost", "effects", "cost", "warnings", "viewer")
    ]
    assert places == sorted(places)
    assert page.count("<details>") == 7, "six pictures with a table behind each, and the columns of the leaderboard"


def test_the_course_and_effects_are_told(made: tuple[Summary, Material]) -> None:
    cell = made[0].standings[0].result.cell
    run = Course(ran=["a"], failures=[Failure(cell, "<disk> full", True)], warnings=["odd & even"])
    effects = Effects((Effect("size", 0.7, 0.5, 0.9), Effect("overlap", 0.2, 0.1, 0.4)), 0.0, 0.1, 0.1)
    page = render(replace(made[0], effects=effects), run, None, ABOUT, next_steps=["chunk-sweep report x"])
    assert "&lt;disk&gt; full" in page
    assert "odd &amp; even" in page
    assert "chunk-sweep report x" in page
    assert '<section id="effects"' in page


def test_without_text_nothing_of_documents_or_questions_is_there(made: tuple[Summary, Material], corpus: Corpus) -> None:
    reason = "The documents of toy are not those that were measured, so they are not shown."
    page = render(made[0], None, Material(None, made[1].cells, (reason,)), ABOUT)
    assert reason in page
    bare = render(made[0], None, None, ABOUT)
    assert "text was not given" in bare
    for shown in (page, bare):
        assert "ferry" not in shown
        assert not Reader(shown).data()


def large() -> tuple[Summary, Material]:
    texts = [f"# Part {n}\n\n" + f"Item {n} costs {n} crowns at desk {n}. " + "Nothing else is said of it. " * 30 for n in range(40)]
    asked = [(f"What does item {n % 40} cost, asks visitor {n}?", [[(n % 40, f"Item {n % 40} costs {n % 40} crowns", None)]]) for n in range(120)]
    return swept(corpus_of(texts, asked), [(60, 0), (120, 0), (120, 40), (200, 0), (300, 0)])


def test_a_page_stays_below_its_limit_and_says_what_is_left_out() -> None:
    summary, material = large()
    whole = render(summary, None, material, ABOUT)
    assert 'left-out"' not in whole
    least = len(render(summary, None, None, ABOUT).encode())
    for share in (0.9, 0.7, 0.5, 0.35):
        limit = int(least + 45_000 + share * (len(whole.encode()) - least - 45_000))
        page = render(summary, None, material, ABOUT, limit=limit)
        assert len(page.encode()) <= limit
        index = Reader(page).data()["index"]
        told = re.search(r'left-out">([^<]*)', page)
        assert told
        for count, total, name in (
            (len(index["questions"]), 120, "questions"),
            (len(index["cells"]), 5, "cells"),
            (len(index["inside"]), 40, "documents"),
        ):
            assert (f"{count} of {total} {name}" in told[1]) == (count < total)
        assert index["cells"][0]["key"] == (summary.cheapest.result.key if summary.cheapest else "")
    nothing = render(summary, None, material, ABOUT, limit=least + 45_000)
    assert "no room" in nothing
    assert not Reader(nothing).data()


def test_questions_that_tell_cells_apart_come_first() -> None:
    summary, material = large()
    whole = viewer(summary, material, 10**8)
    few = viewer(summary, material, 60_000)
    assert whole is not None
    assert few is not None
    full, part = json.loads(whole.blocks[0][1]), json.loads(few.blocks[0][1])
    values = np.array([cell["values"][0] for cell in full["cells"][:4]], dtype=float)
    flips = {full["questions"][n]["id"] for n in np.flatnonzero(values.min(axis=0) != values.max(axis=0))}
    kept = {question["id"] for question in part["questions"]}
    assert len(kept) < 120
    assert kept <= flips or flips <= kept


def test_drawings_lose_their_styles_but_not_their_looks() -> None:
    wardrobe = Wardrobe()
    drawn = wardrobe.dressed(
        '<svg><style>*{fill:red}</style><g style="fill: #123; stroke: url(#x)"/><g style="fill: #123; stroke: url(#x)"/><p style="a"/></svg>'
    )
    assert drawn == '<svg><g class="v0"/><g class="v0"/><p class="v1"/></svg>'
    assert wardrobe.css() == ".v0{fill: #123; stroke: url(#x)}\n.v1{a}\n"
    wardrobe.dressed('<g style="x: url(http://elsewhere/)}</style><script>"/>')
    assert "url(http" not in wardrobe.css()
    assert "<" not in wardrobe.css()


def test_tables_show_null_as_null() -> None:
    found = grid(pd.DataFrame({"a_b": [0.5, float("nan")], "n": [1200, 3], "word": ["x", None], "is": [True, False]}))
    assert found.head == ("a b", "n", "word", "is")
    assert [[field.text for field in row] for row in found.rows] == [[".500", "1,200", "x", "yes"], ["-", "3", "-", "no"]]
    assert found.numeric == (True, True, False, False)


def test_one_cell_and_no_question_answered(corpus: Corpus) -> None:
    summary, material = swept(corpus, [(60, 0)])
    assert "Nothing to compare it with" in render(summary, None, material, ABOUT)
    empty = replace(summary, standings=(), cheapest=None, baseline=None, curves=())
    assert "No cell could be ranked" in render(empty, None, Material(corpus, ()), ABOUT)
