"""Running heads, feet and page numbers: the same line, numbers aside, in the margin of page after page."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import partial

from harness.importing.extract.pdf_blocks import Block, body_size

_MARGIN = 0.11
_LEAST_PAGES = 4
_SHARE = 0.25
_OFTEN = 3
_LONGEST = 150
_NUMBER = re.compile(r"\d+|\b[ivxlc]+\b")


def drop_running(pages: Sequence[list[Block]]) -> int:
    """Take such lines out of the pages, and say how many there were.

    A line counts if it stands in the top or bottom 11% of its page, is at most 150 characters long and not larger than the text, and comes back,
    numbers aside, at the same end of three pages, or of a quarter of all pages where these are fewer, but of two at least. Files of up to three pages
    keep all their lines.
    """
    if len(pages) < _LEAST_PAGES:
        return 0
    body = body_size([block for page in pages for block in page])
    mark = partial(_mark, body=body)
    seen = Counter(found for page in pages for found in set(map(mark, page)) - {""})
    needed = max(2, min(_OFTEN, _SHARE * len(pages)))
    dropped = 0
    for page in pages:
        kept = [block for block in page if not (found := mark(block)) or seen[found] < needed]
        dropped += len(page) - len(kept)
        page[:] = kept
    return dropped


def _mark(block: Block, body: float) -> str:
    """What two such lines have in common, or "" for blocks that are none."""
    if len(block.lines) != 1 or not block.page_height:
        return ""
    line = block.lines[0]
    if line.size > body + 1:
        return ""
    at_top, at_bottom = line.box.bottom < _MARGIN * block.page_height, line.box.top > (1 - _MARGIN) * block.page_height
    if not (at_top or at_bottom) or len(line.text) > _LONGEST:
        return ""
    return f"{'top' if at_top else 'bottom'} {_NUMBER.sub('#', line.text.lower())}"
