"""The report in a real browser: it opens at once and alone, and everything on it can be used."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from report_toys import corpus_of, swept

from harness.report.explain import Explainer
from harness.report.material import Material
from harness.report.page import About, render
from harness.sweep import Summary
from harness.types import Corpus

pytestmark = pytest.mark.slow

HOSTILE = (
    "# Notes \U0001f6b2\n\n</script><script>document.title='broken'</script> <img src=x onerror=\"document.title='broken'\"> **bold** "
    "مرحبا بالعالم \u202eturned\u202c 駐車場です {{ 7*7 }}\r\n\r\n"
)
RULE = "The ferry \U0001f6a2 leaves at six."
EXCEPTION = "On Sundays the ferry leaves at nine <b>sharp</b>."


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    filler = "Passengers keep their tickets until they are ashore. "
    texts = [
        f"{HOSTILE}{RULE} {filler * 3}\n\n## Sundays\n\n{EXCEPTION} {filler}",
        f"# Desk\n\n{filler * 2}Keys wait at the desk for a week. {filler * 4}",
    ]
    asked = [
        (
            "When does the ferry leave on Sundays? <img src=x onerror=\"document.title='broken'\">",
            [[(0, RULE, "claim"), (0, EXCEPTION, "exception")]],
        ),
        ("When does the ferry leave?", [[(0, RULE, None)]]),
        ("Where do keys wait?", [[(1, "Keys wait at the desk", "condition")]]),
        ("Is there a sauna?", []),
        ("For how long do lost keys wait at the desk?", [[(1, "for a week", None)], [(1, "Keys wait at the desk for a week", "term")]]),
    ]
    return corpus_of(texts, asked, ["ferry.md", "desk.md"])


@pytest.fixture(scope="module")
def made(corpus: Corpus) -> tuple[Summary, Material]:
    return swept(corpus, [(60, 0), (90, 30), (240, 0), (480, 120)])


@pytest.fixture(scope="module")
def place(made: tuple[Summary, Material], tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(render(made[0], None, made[1], About("ferries")), encoding="utf-8", newline="")
    return path


class Page:
    """What a person does with the page."""

    def __init__(self, browser: Any, path: Path) -> None:
        self.browser, self.path = browser, path
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": "light"}]})
        browser.set_window_size(1400, 1000)
        for log in ("browser", "performance"):
            browser.get_log(log)
        browser.get(path.as_uri())
        self.run("localStorage.clear()")

    def run(self, script: str, *arguments: Any) -> Any:
        return self.browser.execute_script(f"return {script}" if ";" not in script else script, *arguments)

    def all(self, css: str) -> list[Any]:
        return list(self.browser.find_elements("css selector", css))

    def one(self, css: str) -> Any:
        return self.browser.find_element("css selector", css)

    def texts(self, css: str) -> list[str]:
        found: list[str] = self.run("[...document.querySelectorAll(arguments[0])].map(e => e.textContent)", css)
        return found

    def press(self, *keys: str) -> None:
        for key in keys:
            self.browser.switch_to.active_element.send_keys(key)

    def click(self, css: str, number: int = 0) -> None:
        element = self.all(css)[number]
        self.run("arguments[0].scrollIntoView({block: 'center'})", element)
        element.click()

    def choose(self, css: str, value: object) -> None:
        events = "e.dispatchEvent(new Event('input')); e.dispatchEvent(new Event('change'));"
        self.run(f"const e = document.querySelector(arguments[0]); e.value = arguments[1]; {events}", css, str(value))

    def asked(self) -> str:
        return self.texts(".v-question .asked")[0]


@pytest.fixture
def page(browser: Any, place: Path) -> Iterator[Page]:
    shown = Page(browser, place)
    yield shown
    assert browser.get_log("browser") == [], "nothing was complained of, whatever was done"
    assert shown.run("document.title") == "ferries: chunk-sweep"


def test_it_opens_without_a_complaint_or_a_request(page: Page) -> None:
    asked = [json.loads(entry["message"])["message"] for entry in page.browser.get_log("performance")]
    addresses = [event["params"]["request"]["url"] for event in asked if event["method"] == "Network.requestWillBeSent"]
    assert [address for address in addresses if not address.startswith("data:")] == [page.path.as_uri()]
    assert len(page.all("#verdict .card")) >= 2
    assert page.one("#v").is_displayed()
    assert page.all(".picture svg")[0].size["width"] > 600


def test_a_table_is_sorted_by_any_column(page: Page) -> None:
    heads = page.texts("#leaderboard thead button")
    column = heads.index("exists")

    def shown() -> list[float]:
        values = page.run("[...document.querySelectorAll('#leaderboard tbody tr')].map(r => r.cells[arguments[0]].dataset.sort)", column)
        return [float(value) for value in values]

    for ordered, says in ((sorted(shown(), reverse=True), "descending"), (sorted(shown()), "ascending")):
        page.click("#leaderboard thead button", column)
        assert shown() == ordered
        assert page.all("#leaderboard thead th")[column].get_attribute("aria-sort") == says
    page.click("#leaderboard thead button", heads.index("cell"))
    labels = page.texts("#leaderboard tbody .label")
    page.click("#leaderboard thead button", 0)
    assert sorted(page.texts("#leaderboard tbody .label")) == sorted(labels)
    assert page.run("[...document.querySelectorAll('#leaderboard tbody tr')].map(r => r.cells[0].textContent)") == ["1", "2", "3", "4"]


def test_a_question_is_chosen_with_the_keyboard(page: Page, corpus: Corpus) -> None:
    page.press("/")
    assert page.run("document.activeElement.id") == "v-search"
    page.press("n", "p", "/")
    assert page.run("document.activeElement.value") == "np/", "letters are letters in the search"
    page.run("document.activeElement.select()")
    page.press("keys")
    assert page.texts("#v-list .id") == ["q2", "q4"]
    assert page.asked() == corpus.questions[2].text
    page.press("\ue007")
    assert page.run("document.activeElement.id") == "v-list"
    page.press("\ue015")
    assert page.asked() == corpus.questions[4].text
    assert page.run("document.getElementById(document.activeElement.getAttribute('aria-activedescendant')).getAttribute('aria-selected')") == "true"
    page.press("p")
    assert page.asked() == corpus.questions[2].text
    page.press("n", "n", "n")
    assert page.asked() == corpus.questions[4].text, "the list has an end"
    assert "outline" in page.run("getComputedStyle(document.activeElement).cssText || 'outline'")


def test_the_viewer_says_what_the_explanation_says(page: Page, made: tuple[Summary, Material], corpus: Corpus) -> None:
    explainer, cells = Explainer(made[1]), page.run("JSON.parse(document.getElementById('index').textContent).cells.map(c => c.key)")
    by_key = {cell.result.key: cell for cell in made[1].cells}
    for number, key in enumerate(cells):
        page.choose("#v-a", number)
        for question in range(len(corpus.questions)):
            page.run("document.getElementById('v-item-' + arguments[0]).click()", question)
            found = explainer.explain(by_key[key], question)
            assert page.texts(".v-sentence") == [found.sentence]
            assert page.texts(".v-hits tbody td:nth-child(3)") == [str(hit.chunk) for hit in found.hits]
            assert page.texts(".v-panel .fate") == [found.attribution]
            shown = [[hit.document, *(hit.section if len(hit.section) < 2 else hit.section[1:])] for hit in found.hits]
            assert page.texts(".v-hits button") == [" › ".join(parts) for parts in shown]
            held = [[name.removeprefix("the ") for name in hit.holds] for hit in found.hits]
            assert [bool(text) for text in page.texts(".v-hits tbody td:nth-child(5)")] == [bool(names) for names in held]


def test_the_document_is_shown_exactly(page: Page, made: tuple[Summary, Material], corpus: Corpus) -> None:
    cells = page.run("JSON.parse(document.getElementById('index').textContent).cells.map(c => c.key)")
    by_key = {cell.result.key: cell for cell in made[1].cells}
    page.run("document.getElementById('v-item-0').click()")
    text = corpus.documents[0].text
    for number, key in enumerate(cells):
        page.choose("#v-a", number)
        chunks = by_key[key].chunks
        inside = np.flatnonzero(chunks.doc == 0).tolist()
        assert "".join(page.texts(".v-text .seg")) == text
        assert page.texts(".v-text .seg.ev-claim") != []
        assert "".join(page.texts(".v-text .seg.ev-claim")) == RULE
        assert "".join(page.texts(".v-text .seg.ev-exception")) == EXCEPTION
        assert [int(n) for n in page.run("[...document.querySelectorAll('.v-text .cut[data-chunk]')].map(e => e.dataset.chunk)")] == inside
        covered = np.zeros(len(text) + 1, dtype=int)
        for row in inside:
            covered[chunks.start[row]] += 1
            covered[chunks.end[row]] -= 1
        overlap = "".join(letter for letter, count in zip(text, np.cumsum(covered).tolist(), strict=False) if count > 1)
        assert "".join(page.texts(".v-text .seg.lap")) == overlap
        before = page.run("""
            const found = {}; let said = '';
            for (const node of document.querySelector('.v-text').childNodes) {
              if (node.dataset.chunk) found[node.dataset.chunk] = [...said].length;
              if (node.classList.contains('seg')) said += node.textContent;
            }
            return found;""")
        assert {int(chunk): at for chunk, at in before.items()} == {row: int(chunks.start[row]) for row in inside}


def test_words_shared_with_the_question_are_marked(page: Page) -> None:
    page.run("document.getElementById('v-item-0').click()")
    marked = {word.lower() for word in page.texts(".v-text .seg.word")}
    assert {"ferry", "sundays"} <= marked
    assert "leaves" not in marked
    told = next(line for line in page.texts(".facts-line") if line.startswith("Words that"))
    assert "ferry" in told


def test_a_citation_scrolls_to_its_chunk(page: Page) -> None:
    page.run("document.getElementById('v-item-2').click()")
    last = len(page.all(".v-hits button")) - 1
    page.run("document.querySelectorAll('.v-hits button')[arguments[0]].click()", last)
    chunk = page.texts(".v-hits tbody td:nth-child(3)")[last]
    assert page.run("document.querySelector('.v-text .shown').dataset.chunk") == chunk
    page.browser.execute_async_script("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")
    gap = page.run(
        "document.querySelector('.v-text .shown').getBoundingClientRect().top - document.querySelector('.v-text').getBoundingClientRect().top"
    )
    assert -5 < gap < page.run("document.querySelector('.v-text').clientHeight")


def test_two_cells_side_by_side_with_the_questions_that_flip(page: Page, made: tuple[Summary, Material]) -> None:
    cells = page.run("JSON.parse(document.getElementById('index').textContent).cells.map(c => c.key)")
    values = {cell.result.key: cell.result.questions["complete_within_2048"].to_numpy() for cell in made[1].cells}
    at_five = {cell.result.key: cell.result.questions["complete_at_5"].to_numpy() for cell in made[1].cells}
    assert any((np.nan_to_num(at_five[key]) != np.nan_to_num(at_five[cells[0]])).any() for key in cells), "the toy tells cells apart"
    for other in range(1, len(cells)):
        page.choose("#v-a", 0)
        page.choose("#v-b", other)
        assert len(page.all(".v-panel")) == 2
        assert page.all(".v-panel")[0].location["y"] == page.all(".v-panel")[1].location["y"]
        one, two = np.nan_to_num(values[cells[0]]), np.nan_to_num(values[cells[other]])
        page.run("document.querySelector('#v-flips button').click()")
        assert page.texts("#v-list .id") == [f"q{n}" for n in np.flatnonzero(one != two)]
        assert page.texts("#v-flips button")[1:] == [f"{int((one > two).sum())} better in A", f"{int((two > one).sum())} better in B"]
        page.run("document.querySelector('#v-flips button').click()")
        assert len(page.texts("#v-list .id")) == 5
    page.run("document.querySelector('.compare').click()")
    assert len(page.all(".v-panel")) == 2


def test_filters(page: Page, made: tuple[Summary, Material]) -> None:
    key = page.run("JSON.parse(document.getElementById('index').textContent).cells[0].key")
    table = next(cell.result.questions for cell in made[1].cells if cell.result.key == key)
    page.run("document.getElementById('v-failed').click()")
    assert page.texts("#v-list .id") == table.loc[table["complete_within_2048"] < 1, "id"].tolist()
    page.run("document.getElementById('v-failed').click()")
    for code, fate in page.run("[...document.querySelectorAll('#v-fate option')].slice(1).map(o => [o.value, o.textContent])"):
        page.choose("#v-fate", code)
        assert page.texts("#v-list .id") == table.loc[table["attribution"] == fate, "id"].tolist()


def test_light_and_dark(page: Page) -> None:
    def paper() -> str:
        return str(page.run("getComputedStyle(document.body).backgroundColor"))

    light = paper()
    page.click("#theme")
    dark = paper()
    assert light != dark
    assert page.one("#theme").text == "Light"
    page.browser.refresh()
    assert paper() == dark, "the choice is kept"
    page.click("#theme")
    assert paper() == light
    page.run("localStorage.clear(); delete document.documentElement.dataset.theme;")
    page.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": "dark"}]})
    assert paper() == dark, "what the system asks for is followed"


def test_ink_stands_out_from_paper_in_both_themes(page: Page) -> None:
    """Contrast of 4.5 and more (WCAG 2.2, level AA) for the colours that text is set in."""
    for _ in range(2):
        style = "getComputedStyle(document.documentElement)"
        read = f"['--paper','--ink','--soft','--accent','--vermillion','--green','--orange','--warn'].map(n => {style}.getPropertyValue(n).trim())"
        paper, *inks = (_luminance(colour) for colour in page.run(read))
        assert min((max(ink, paper) + 0.05) / (min(ink, paper) + 0.05) for ink in inks) >= 4.5 - 1e-9
        page.click("#theme")


def _luminance(colour: str) -> float:
    parts = [int(colour[n : n + 2], 16) / 255 for n in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_controls_have_names_and_nothing_overflows_a_narrow_window(page: Page) -> None:
    unnamed = page.run("""
        return [...document.querySelectorAll('button, select, input')].filter(e => {
          const label = e.labels && e.labels.length ? e.labels[0].textContent : '';
          return !(e.textContent.trim() || label.trim() || e.getAttribute('aria-label'));
        }).map(e => e.outerHTML);""")
    assert unnamed == []
    page.run("document.querySelector('.compare').click()")
    page.browser.set_window_size(520, 900)
    assert page.run("document.documentElement.scrollWidth <= window.innerWidth + 1")
    assert page.run("document.documentElement.scrollWidth") <= 540


def test_texts_are_never_markup(page: Page, corpus: Corpus) -> None:
    for question in range(len(corpus.questions)):
        page.run("document.getElementById('v-item-' + arguments[0]).click()", question)
        assert page.run("document.querySelectorAll('#v img, #v script, #v b, #v strong').length") == 0
        assert page.asked() == corpus.questions[question].text


def test_it_prints(page: Page) -> None:
    printed = page.browser.execute_cdp_cmd("Page.printToPDF", {})
    assert len(printed["data"]) > 20_000


def test_a_sweep_of_24_cells_and_600_questions_opens_in_two_seconds(browser: Any, tmp_path: Path) -> None:
    dice = random.Random(3)
    words = [f"{a}{b}{c}" for a in "bdfgklmnprst" for b in "aeiou" for c in ("n", "r", "lt", "sk")]
    texts, asked = [], []
    for doc in range(60):
        sentences = [" ".join(dice.choices(words, k=12)).capitalize() + f" {doc}x{n}." for n in range(110)]
        texts.append(f"# Document {doc}\n\n" + " ".join(sentences))
        for n in dice.sample(range(109), 10):
            asked.append((f"Which {' '.join(sentences[n].split()[2:7])}?", [[(doc, sentences[n], "claim"), (doc, sentences[n + 1], "exception")]]))
    sizes = [(size, overlap) for size in (150, 200, 300, 400, 600, 800, 1200, 1600) for overlap in (0, size // 10, size // 5)]
    summary, material = swept(corpus_of(texts, asked), sizes)
    path = tmp_path / "report.html"
    path.write_text(render(summary, None, material, About("large")), encoding="utf-8", newline="")
    assert path.stat().st_size < 20_000_000
    shown = Page(browser, path)
    times = []
    for _ in range(3):
        browser.refresh()
        times.append(shown.run("performance.getEntriesByType('navigation')[0].loadEventEnd"))
    assert len(shown.texts("#v-a option")) == 24
    assert shown.texts("#v-count") == ["1 of 600"] or shown.texts("#v-count")[0].endswith("of 600")
    assert min(times) < 2000, f"milliseconds: {times}, {path.stat().st_size:,} bytes"
