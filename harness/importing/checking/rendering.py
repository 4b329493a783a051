"""The page of `data check` as text, Markdown or JSON. No text of documents stands in it but ids and short excerpts, and nothing in those acts."""

from __future__ import annotations

import json

from harness.importing.checking.page import Bars, Page, Section
from harness.visible import on_one_line

FORMATS = ("text", "markdown", "json")
_WIDTH = 30
_ESCAPED = "\\`*_[]<>|#"


def render(page: Page, form: str) -> str:
    """The page in one of FORMATS, with a line feed at its end."""
    return {"text": as_text, "markdown": as_markdown, "json": as_json}[form](page)


def as_text(page: Page) -> str:
    """For a console: names and values in two columns, bars of blocks."""
    parts = [f"# {on_one_line(page.name)}", *(_text_section(section) for section in page.sections), "\n".join(["## Findings", "", *_found(page)])]
    return "\n\n".join(parts) + "\n"


def _text_section(section: Section) -> str:
    wide = max((len(name) for name, _ in section.rows), default=0)
    lines = [f"## {section.title}", "", *(f"  {name:<{wide}}  {on_one_line(value)}" for name, value in section.rows)]
    for bars in section.bars:
        lines += ["", *_text_bars(bars)] if bars.counts else []
    return "\n".join(lines)


def _text_bars(bars: Bars) -> list[str]:
    wide, most = max(map(len, bars.labels)), max(bars.counts)
    rows = zip(bars.labels, bars.counts, strict=True)
    return [f"  {bars.title}", *(f"    {label:>{wide}} {_bar(count, most):<{_WIDTH}} {count:,}".rstrip() for label, count in rows)]


def _bar(count: int, most: int) -> str:
    """A bar of at most 30 blocks; the least there is shows."""
    return "█" * max(round(_WIDTH * count / most), 1 if count else 0)


def _found(page: Page) -> list[str]:
    if not page.findings:
        return ["nothing is wrong"]
    return [f"{finding.severity}: {on_one_line(finding.text)}" for finding in page.findings]


def as_markdown(page: Page) -> str:
    """Tables; everything that comes from the corpus is escaped."""
    parts = [f"# {_plain(page.name)}"]
    for section in page.sections:
        rows = "\n".join(["| | |", "|---|---|", *(f"| {_plain(name)} | {_plain(value)} |" for name, value in section.rows)])
        parts += [f"## {section.title}", rows, *(_fenced(bars) for bars in section.bars if bars.counts)]
    found = [f"- **{finding.severity}**: {_plain(finding.text)}" for finding in page.findings] or ["Nothing is wrong."]
    digests = [f"Digest of the {what}: `{page.values[name]}`" for what, name in (("documents", "digest"), ("questions", "questions_digest"))]
    return "\n\n".join([*parts, "## Findings", "\n".join(found), "  \n".join(digests)]) + "\n"


def _fenced(bars: Bars) -> str:
    return "\n".join(["```text", *_text_bars(bars), "```"])


def _plain(text: str) -> str:
    return "".join(f"\\{character}" if character in _ESCAPED else character for character in on_one_line(text))


def as_json(page: Page) -> str:
    """`values` with the findings, in ASCII, so that no character of the corpus acts on a terminal."""
    found = [{"severity": finding.severity, "text": finding.text} for finding in page.findings]
    bars = {item.title: dict(zip(item.labels, item.counts, strict=True)) for section in page.sections for item in section.bars}
    return json.dumps({**page.values, "histograms": bars, "findings": found}, indent=1) + "\n"
