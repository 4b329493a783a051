"""A hostile corpus in a real browser: whatever stands in texts, ids, titles, questions, roles and labels, the report runs none of it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from report_toys import corpus_of, swept

from harness.evaluation import Scoring
from harness.report.material import Material
from harness.report.page import About, render
from harness.summary import Baseline
from harness.sweep import Select, summarise
from harness.types import Corpus

pytestmark = pytest.mark.slow

WAYS = (
    "</script><script>window.owned=1</script>",
    '<img src=x onerror="window.owned=1">',
    '"><svg onload=window.owned=1>',
    "' onmouseover='window.owned=1' x='",
    '" style="color:red;/*" onfocus="window.owned=1" autofocus="',
    "<!--<script>window.owned=1",
    "]]><![CDATA[<script>window.owned=1</script>",
    "</title></style></textarea></noscript><iframe srcdoc='<script>parent.owned=1</script>'>",
    '<a href="javascript:window.owned=1">javascript:window.owned=1</a>',
    "<meta http-equiv=refresh content='0;url=https://example.invalid/leak'>",
    "<link rel=stylesheet href=https://example.invalid/leak><base href=https://example.invalid/>",
    "{{ 7*7 }}{% set x = 1 %}${7*7}`${window.owned=1}`",
    "$x_{$ $\\frac{1$",
    "&lt;script&gt;window.owned=1&lt;/script&gt; &#x3C;script>",
    "__proto__ constructor \u2028 \u202e",
)
ALL = " ".join(WAYS)
RULE, EXCEPTION = "The ferry leaves at six.", "On Sundays the ferry leaves at nine."


def hostile() -> tuple[Corpus, str]:
    """The page of a sweep in which everything that others write is hostile."""
    texts = [f"# {ALL}\n\n{ALL} {RULE} {ALL}\n\n## {way}\n\n{EXCEPTION} {way}" for way in WAYS[:3]]
    asked = [
        (f"When does the ferry leave? {way}", [[(number % 3, RULE, way), (number % 3, EXCEPTION, "exception")]]) for number, way in enumerate(WAYS)
    ]
    corpus = corpus_of(texts, asked, [f"{way}.md" for way in WAYS[:3]])
    documents = tuple(replace(document, title=ALL, metadata={ALL: ALL}) for document in corpus.documents)
    questions = tuple(replace(question, id=way, kind=way) for question, way in zip(corpus.questions, WAYS, strict=True))
    corpus = replace(corpus, name=ALL, documents=documents, questions=questions)
    _, material = swept(corpus, [(60, 0), (120, 40), (240, 0)])
    cells = []
    for cell, way in zip(material.cells, WAYS, strict=False):
        told = replace(cell.result.cell, strategy=way, embedder=WAYS[-5], label=f"{way} {WAYS[4]} {cell.result.cell.size}")
        cells.append(replace(cell, result=replace(cell.result, cell=told, warnings=(ALL,))))
    summary = summarise([cell.result for cell in cells], Select(baseline=Baseline("fixed", 120, "40")), Scoring(50))
    page = render(summary, None, Material(corpus, tuple(cells)), About(ALL, (("Command", ALL), (ALL, ALL))), next_steps=(ALL,))
    return corpus, page


def opened(browser: Any, path: Path, page: str) -> Any:
    path.write_text(page, encoding="utf-8", newline="")
    for log in ("browser", "performance"):
        browser.get_log(log)
    browser.get(path.as_uri())
    return browser


def used(browser: Any) -> None:
    """Everything that shows others' words is brought up: each question in each cell, tables sorted, theme changed, the search filled."""
    browser.execute_script("""
        for (const summary of document.querySelectorAll('summary')) summary.click();
        for (const button of document.querySelectorAll('th button, #theme')) button.click();
        for (const box of ['v-a', 'v-b']) {
          const select = document.getElementById(box);
          for (const option of select.options) {
            select.value = option.value;
            select.dispatchEvent(new Event('input')); select.dispatchEvent(new Event('change'));
            for (const item of document.querySelectorAll('#v-list [role=option]')) item.click();
          }
        }
        for (const element of document.querySelectorAll('*')) {
          element.dispatchEvent(new MouseEvent('mouseover', {bubbles: true})); element.dispatchEvent(new Event('focus'));
        }""")


def test_nothing_of_a_corpus_runs(browser: Any, tmp_path: Path) -> None:
    corpus, page = hostile()
    shown = opened(browser, tmp_path / "report.html", page)
    used(shown)
    assert shown.execute_script("return window.owned") is None
    foreign = """return [...document.querySelectorAll('*')].filter(e =>
        ['IFRAME', 'OBJECT', 'EMBED', 'BASE', 'IMG', 'FORM'].includes(e.tagName)
        || [...e.attributes].some(a => a.name.startsWith('on') || a.name === 'style' || /^\\s*javascript:/i.test(a.value))).map(e => e.outerHTML)"""
    assert shown.execute_script(foreign) == []
    assert len(shown.execute_script("return document.querySelectorAll('meta[http-equiv]')")) == 1
    events = [json.loads(entry["message"])["message"] for entry in shown.get_log("performance")]
    asked = {event["params"]["request"]["url"] for event in events if event["method"] == "Network.requestWillBeSent"}
    assert {address for address in asked if not address.startswith("data:")} == {(tmp_path / "report.html").as_uri()}
    assert shown.get_log("browser") == [], "nor was anything tried that the policy had to stop"
    assert shown.execute_script("return document.title") == f"{ALL}: chunk-sweep"
    ids = shown.execute_script("return [...document.querySelectorAll('#v-list .id')].map(e => e.textContent)")
    assert ids == [question.id for question in corpus.questions], "every word stands as it was written"


def test_the_check_notices_a_page_that_takes_texts_for_markup(browser: Any, tmp_path: Path) -> None:
    _, page = hostile()
    weak = page.replace('http-equiv="Content-Security-Policy"', 'name="was-policy"', 1).replace("made.textContent = text", "made.innerHTML = text")
    weak = weak.replace("http-equiv=refresh", "name=refresh")  # which would lead away before anything can be looked at
    assert weak != page
    shown = opened(browser, tmp_path / "weak.html", weak)
    used(shown)
    browser.execute_async_script("setTimeout(arguments[0], 300)")
    assert shown.execute_script("return window.owned") == 1
    shown.get_log("browser")
    only_policy = page.replace("<main>", f"<main>{WAYS[1]}{WAYS[0]}", 1)
    shown = opened(browser, tmp_path / "policy.html", only_policy)
    browser.execute_async_script("setTimeout(arguments[0], 300)")
    assert shown.execute_script("return window.owned") is None, "the policy alone stops what is written into the page"
    assert any("Content Security Policy" in entry["message"] for entry in shown.get_log("browser"))
