"""HTML: structure kept, what is not shown left out, nothing run or fetched."""

from __future__ import annotations

import pytest

from harness.importing.extract import html
from harness.importing.extract.base import Source

PAGE = """<!doctype html><html lang="en-GB"><head><title>Fees | Harbour</title><meta name="date" content="2026-02-03">
<style>p { color: red }</style><script>steal()</script></head><body><nav>Home Fees</nav><main>
<h1>Fees<a class="headerlink" href="#fees">¶</a></h1><p>Boats pay <b>twelve</b> crowns, see <a href="https://example.org/x">the list</a>.</p>
<table><caption>By length</caption><tr><th>Length</th><th colspan="2">Fee</th></tr><tr><td rowspan="2">short</td><td>day</td><td>a|b</td></tr>
<tr><td>week</td><td>30</td></tr></table>
<pre><code class="language-python">def fee():
    return 12
</code></pre><ul><li>one<ul><li>inner</li></ul></li></ul><img src="http://127.0.0.1:9/p.png" alt="a map"><p hidden>hidden words</p>
<p style="display: none">invisible words</p><iframe src="file:///etc/passwd"></iframe>
<p onclick="x()">Snake_case and 2*3*4 stay.</p></main><footer>Imprint</footer></body></html>"""


def extracted(text: str | bytes):
    return html.extract(Source(text if isinstance(text, bytes) else text.encode(), "page.html"))


def test_headings_tables_lists_and_code_are_kept():
    text = extracted(PAGE).text
    assert text.startswith("# Fees\n\nBoats pay **twelve** crowns, see the list.\n")
    assert "| Length | Fee |  |\n| --- | --- | --- |\n| short | day | a\\|b |\n|  | week | 30 |" in text
    assert "```python\ndef fee():\n    return 12\n```" in text
    assert "- one\n  - inner" in text
    assert "Snake_case and 2*3*4 stay." in text
    assert "a map" in text


@pytest.mark.parametrize("unseen", ["steal", "color", "Home", "hidden words", "invisible", "passwd", "example.org", "127.0.0.1", "<"])
def test_what_is_not_shown_or_would_act_is_left_out(unseen):
    assert unseen not in extracted(PAGE).text


def test_what_a_page_says_of_itself():
    found = extracted(PAGE)
    assert found.title == "Fees | Harbour"
    assert found.metadata == {"language": "en", "date": "2026-02-03"}


def test_the_declared_encoding_is_believed():
    page = '<html><head><meta charset="koi8-r"></head><body><p>Ключ в конторе</p></body></html>'
    assert extracted(page.encode("koi8-r")).text == "Ключ в конторе\n"


def test_tables_that_place_things_are_dissolved_and_those_inside_are_read():
    page = (
        "<table><tr><td><h1>Left</h1><p>words</p></td><td><table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table></td></tr></table>"
    )
    assert extracted(page).text == "# Left\n\nwords\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n"


@pytest.mark.parametrize("tag", ["div", "blockquote", "table><tr><td"])
def test_a_page_nested_without_end_keeps_its_words(tag):
    found = extracted("<html><body><h1>Top</h1>" + f"<{tag}>" * 20_000 + "deep words")
    assert "Top" in found.text
    assert "too deeply" in found.notes[0]


def test_entities_of_a_document_are_not_resolved(tmp_path):
    (tmp_path / "secret").write_text("secret words")
    page = f'<?xml version="1.0"?><!DOCTYPE html [<!ENTITY x SYSTEM "file://{tmp_path}/secret">]><html><body><p>&x; fine</p></body></html>'
    assert "secret" not in extracted(page).text


def test_an_empty_page_gives_an_empty_text():
    assert extracted("").text == ""
    assert extracted("<html><body><script>x</script></body></html>").text == ""
