"""Where a quote and the text that it was held against part, in one line."""

from __future__ import annotations

import re

from rapidfuzz.distance import Levenshtein

_WORD = re.compile(r"\w+|[^\w\s]|\s+")
_LONGEST = 2_000
_KEPT = 3


def inline_diff(quote: str, text: str) -> str:
    """`quote` turned into `text`: [-words only in the quote-] {+words only in the text+}; long stretches that agree are cut to three words a side."""
    ours, theirs = (_WORD.findall(" ".join(it[:_LONGEST].split())) for it in (quote, text))
    parts: list[str] = []
    for opcode in Levenshtein.opcodes(ours, theirs):
        old, new = "".join(ours[opcode.src_start : opcode.src_end]), "".join(theirs[opcode.dest_start : opcode.dest_end])
        if opcode.tag == "equal":
            parts.append(_shortened(ours[opcode.src_start : opcode.src_end]))
        else:
            parts.append((f"[-{old}-]" if old else "") + (f"{{+{new}+}}" if new else ""))
    return "".join(parts)


def _shortened(words: list[str]) -> str:
    if len(words) <= 4 * _KEPT:
        return "".join(words)
    return "".join(words[: 2 * _KEPT]) + " … " + "".join(words[-2 * _KEPT :])
