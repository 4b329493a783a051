"""HTML as Markdown: headings, lists, tables and code kept; scripts, styles, navigation and everything that is not shown left out.

Nothing is fetched: links keep their words and lose their address, images keep the words that stand for them.
"""

from __future__ import annotations

import re
import warnings
from typing import Any

from bs4 import BeautifulSoup, Tag, XMLParsedAsHTMLWarning
from markdownify import MarkdownConverter

from harness.importing.extract.base import Extracted, Source
from harness.importing.extract.encoding import decode
from harness.importing.extract.html_tables import rows_of, unwrap_layout
from harness.importing.extract.pipes import pipe_table
from harness.importing.extract.plainly import plain

_DECLARED = re.compile(rb"""<(?:meta[^>]{0,200}?charset|\?xml[^>]{0,100}?encoding)\s*=\s*["']?\s*([\w.:-]{2,40})""", re.IGNORECASE)
_UNSEEN = [
    *("script", "style", "template", "noscript", "head", "iframe", "object", "embed", "applet", "svg", "canvas", "audio", "video"),
    *("button", "select", "option", "input", "textarea", "dialog", "nav"),
]
_HIDDEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_ANCHORS = {"", "¶", "§", "#", "🔗", "\uf0c1", "Link to this heading"}
_DATES = (
    "date",
    "dcterms.date",
    "dc.date",
    "article:published_time",
    "article:modified_time",
    "last-modified",
    "last_updated",
    "datemodified",
    "datepublished",
)
_LEAST_MAIN = 0.25
_DEEPEST = 200
_BLANKS = re.compile(r"\n[ \t\u00a0]*(?:\n[ \t\u00a0]*)+\n")


def extract(source: Source) -> Extracted:
    """The text of a page; its title, language and dates where it names them."""
    found = _DECLARED.search(source.raw[:4096])
    text, notes = decode(source.raw, found.group(1).decode("ascii", "replace") if found else None)
    soup = _soup(text)
    metadata = _metadata(soup)
    title = _title(soup)
    markdown, more = convert(soup)
    return Extracted(markdown, title, metadata, (*notes, *more))


def convert_text(text: str) -> tuple[str, tuple[str, ...]]:
    """HTML to Markdown, with notes on what was lost."""
    return convert(_soup(text))


def convert(soup: BeautifulSoup) -> tuple[str, tuple[str, ...]]:
    """A parsed page to Markdown (it is used up), with notes on what was lost."""
    try:
        if _deep(soup):
            raise RecursionError
        _prune(soup)
        unwrap_layout(soup)
        body = _main(soup)
        markdown = _Converter(
            heading_style="ATX", bullets="-", escape_asterisks=False, escape_underscores=False, strip=["a"], code_language_callback=_language_of
        ).convert_soup(body)
        notes: tuple[str, ...] = ()
    except RecursionError:
        # A page nested deeper than any that people write: its words are kept, its structure is not.
        markdown = "\n".join(_soup_strings(soup))
        notes = ("is nested too deeply for its headings and tables to be kept; only its words are",)
    markdown = _BLANKS.sub("\n\n", markdown.replace("\f", " ")).strip("\n \t")
    return (f"{markdown}\n" if markdown else ""), notes


def _soup(text: str) -> BeautifulSoup:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", XMLParsedAsHTMLWarning)
        return BeautifulSoup(text, "lxml")


def _soup_strings(soup: BeautifulSoup) -> list[str]:
    return [string for string in soup.stripped_strings if string]


def _deep(soup: BeautifulSoup) -> bool:
    """Whether tags stand inside one another more than 200 deep, which no page that people write does; converting takes time for each level."""
    depth: dict[int, int] = {id(soup): 0}
    for tag in soup.find_all(True):
        depth[id(tag)] = below = depth[id(tag.parent)] + 1
        if below > _DEEPEST:
            return True
    return False


def _prune(soup: BeautifulSoup) -> None:
    for tag in soup(_UNSEEN):
        tag.decompose()
    for tag in soup.find_all(_not_shown):
        tag.decompose()
    for tag in soup("a"):
        if tag.get_text(strip=True) in _ANCHORS and not tag.find("img"):
            tag.decompose()


def _not_shown(tag: Tag) -> bool:
    return (
        tag.has_attr("hidden")
        or tag.get("aria-hidden") == "true"
        or tag.get("role") in ("navigation", "search", "menu", "menubar")
        or bool(_HIDDEN.search(str(tag.get("style", ""))))
    )


def _main(soup: BeautifulSoup) -> Any:
    """The one part that says it is the page's content, unless it holds less than a quarter of the text; otherwise everything."""
    mains = soup.find_all(lambda tag: tag.name == "main" or tag.get("role") == "main")
    if len(mains) == 1 and len(mains[0].get_text()) >= _LEAST_MAIN * len(soup.get_text()):
        return mains[0]
    return soup


def _title(soup: BeautifulSoup) -> str:
    named = soup.title or soup.find("h1")
    return " ".join(named.get_text().split()) if named else ""


def _metadata(soup: BeautifulSoup) -> dict[str, Any]:
    found: dict[str, Any] = {}
    language = soup.html.get("lang") if soup.html else None
    if isinstance(language, str) and language.strip():
        found["language"] = plain(language.strip().split("-")[0].lower())
    for meta in soup.find_all("meta"):
        name, content = str(meta.get("name") or meta.get("property") or "").lower(), meta.get("content")
        if name in _DATES and isinstance(content, str) and content.strip():
            found.setdefault("date", plain(content.strip()))
    return found


def _language_of(tag: Tag) -> str:
    """The language that a block of code names in its class, as highlighters want it."""
    inner = tag.find("code")
    classes = [*(tag.get("class") or []), *((inner.get("class") or []) if isinstance(inner, Tag) else [])]
    return next((name.split("-", 1)[1] for name in map(str, classes) if re.fullmatch(r"(?:language|lang|highlight)-[\w+#]+", name)), "")


class _Converter(MarkdownConverter):
    """Tables with their spans filled in, images as their words, code with its language."""

    def convert_table(self, tag: Tag, text: str, parent_tags: set[str]) -> str:
        table = pipe_table(rows_of(tag))
        return f"\n\n{table}\n\n" if table else ""

    def convert_img(self, tag: Tag, text: str, parent_tags: set[str]) -> str:
        return " ".join(str(tag.get("alt") or "").split())

    def convert_title(self, tag: Tag, text: str, parent_tags: set[str]) -> str:
        return ""
