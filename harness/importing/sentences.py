"""The sentences of a paragraph, as spans: what encloses an answer that is a word or two.

A sentence ends at a full stop, a question or exclamation mark (Latin, Arabic or full width) with the closing quotation marks and brackets behind it,
before white space that a capital, a digit, an opening mark or a letter of a script without case follows; or at the end of a line. In Latin script
initials and common abbreviations end none. Japanese and Chinese stops need no space behind them, but end no sentence inside brackets.
"""

from __future__ import annotations

import re

_CLOSERS = "\"”’)\\]»'"
_END = re.compile(rf"([.!?؟。][{_CLOSERS}]*)\s+(?=[\"“‘(\[A-Z0-9]|[^\x00-\u024f])|\n|([。！？][{_CLOSERS}」』）]*)")
_INITIAL = re.compile(r"(?<![^\W_])[A-Z]$")
_WORD = re.compile(r"[^\s(\"“‘\[]*$")
_ABBREVIATION = re.compile(r"(?:Mr|Mrs|Ms|Dr|Prof|St|Jr|Sr|Gen|Col|Lt|Sgt|Capt|Sen|vs|etc|e\.g|i\.e|No|Fig|Vol|Inc|Ltd|Co|Corp|al|approx|ca|c)")
_OPEN, _CLOSED = "（(「『【［", "）)」』】］"


def sentences(text: str) -> list[tuple[int, int]]:
    """Start and end of every sentence, ascending; together they cover all but white space between them. Linear time."""
    latin = sum("a" <= character <= "z" for character in text.lower()) * 2 > sum(map(str.isalpha, text))
    found, start, depth, looked = [], 0, 0, 0
    for match in _END.finditer(text):
        if match.group(2):
            for character in text[looked : match.start()]:
                depth += (character in _OPEN) - (character in _CLOSED and depth > 0)
            looked = match.start()
            if depth:
                continue
        if match.group(1) and latin and text[match.start()] == "." and _is_short(text, match.start()):
            continue
        end = match.end(1) if match.group(1) else match.end() if match.group(2) else match.start()
        found.append((start, end))
        start = match.end()
    found.append((start, len(text)))
    return [it for it in found if text[it[0] : it[1]].strip()]


def _is_short(text: str, stop: int) -> bool:
    """Whether the word before a full stop is an initial or an abbreviation."""
    word = _WORD.search(text, max(stop - 20, 0), stop)
    return bool(_INITIAL.search(text, max(stop - 2, 0), stop)) or (word is not None and _ABBREVIATION.fullmatch(word.group()) is not None)


def enclosing(spans: list[tuple[int, int]], start: int, end: int) -> tuple[int, int]:
    """From the beginning of the first to the end of the last sentence that `start` to `end` overlaps; that span itself where it overlaps none."""
    touched = [span for span in spans if span[0] < end and start < span[1]]
    return (touched[0][0], touched[-1][1]) if touched else (start, end)
