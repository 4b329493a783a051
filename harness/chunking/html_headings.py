"""Headings of HTML: the elements h1 to h6, wherever they stand."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from harness.chunking.html_tags import BLOCKS, RAW, VOID, Tag, tags, words_of
from harness.types import Ints

LEVELS = {f"h{level}": level for level in range(1, 7)}


Found = tuple[Ints, Ints, Ints, tuple[str, ...]]


def html_headings(text: str) -> Found:
    """(start, end, level, titles) of every heading: from < of its start tag, or of the start tags that stand right before it (<section><h2>), to > of
    its end tag.

    As in the HTML standard, the end tag of a heading of any level closes it. One that is not closed ends before the next tag of a block (a paragraph,
    another heading, the end of what it stands in), so broken text costs one heading its end and nothing else.
    """
    return headings_among(tags(text), text)


def headings_among(found: Iterable[Tag], text: str) -> Found:
    """The same from the tags of `text`, where they are known."""
    rows: list[tuple[int, int, int]] = []
    titles: list[str] = []
    opened: Tag | None = None
    begin, lead, led_to = 0, 0, -1  # where the open heading begins; where a run of start tags begins and has come to
    for tag in (*found, Tag("html", True, len(text), len(text))):
        is_heading = tag.name in LEVELS
        if opened is not None and tag.name in BLOCKS:
            rows.append((begin, tag.end if tag.closing and is_heading else tag.start, LEVELS[opened.name]))
            titles.append(words_of(text[opened.end : tag.start]))
            opened = None
        if opened is not None or tag.closing or tag.name in RAW or tag.name in VOID:
            led_to = -1
            continue
        if led_to < 0 or text[led_to : tag.start].strip():
            lead = tag.start
        led_to = tag.end
        if is_heading:
            opened, begin, led_to = tag, lead, -1
    start, end, level = np.array(rows, dtype=np.int64).reshape(len(rows), 3).T.copy()
    return start, end, level, tuple(titles)
