"""The canonical form of a passage: what two passages must share to be called the same but for white space, typography, Unicode form and markup.

Dropped: white space, invisible characters (soft hyphens, zero-width and direction marks), Markdown's marks, and dashes that stand before no digit (so
hyphenation at a line's end, bullets and long dashes count for nothing, but 3-5 and -5 keep theirs). Made one: quotation marks, dashes, the ellipsis
and its three dots, compatibility forms and composed or decomposed accents. Kept: letters, accents, digits, case and all other punctuation.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections import Counter
from dataclasses import dataclass

_QUOTES = "\"'`´‘’‚‛“”„‟′″‴«»‹›＂＇「」『』〝〞〟"
_DASHES = "-‐‑‒–—―−﹘﹣－"
_MARKS = "*_#>|~\\"
_QUOTE_RUN = '"'

# Every branch begins with a fixed character, so that the search jumps from one to the next; every repetition is bounded or ends where the branch
# could begin again, so that no text takes more than linear time.
_LINK = r"!\[(?=[^\[\]\n]*\]\()|\[(?=[^\[\]\n]*\]\()|\]\((?:[^()\n]|\([^()\n]*\)){0,2000}\)"
_TAG = r"<!--(?:(?!<!--).){0,2000}?-->|</?[A-Za-z][^<>\n]{0,500}>"
_ENTITY = r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});"
_MARKUP = re.compile(f"{_LINK}|{_TAG}|{_ENTITY}", re.DOTALL)


def without_markup(text: str) -> str:
    """`text` with the targets of links, tags, comments and entities blanked out. Nothing moves: it has the same length."""
    if "](" not in text and "<" not in text and "&" not in text:
        return text
    return _MARKUP.sub(lambda found: " " * (found.end() - found.start()), text)


@dataclass(frozen=True, slots=True)
class Canon:
    """A canonical form; `places[i]` is where its character i comes from."""

    text: str
    places: list[int]


@functools.lru_cache(maxsize=1 << 14)
def _plain(character: str) -> str:
    if character.isspace() or character in _MARKS:
        return ""
    if character in _QUOTES:
        return _QUOTE_RUN
    if character in _DASHES:
        return "-"
    if unicodedata.category(character) in ("Cf", "Cc", "Cs", "Cn", "Co"):
        return ""
    plain = unicodedata.normalize("NFKD", character)
    return "".join(it for it in plain if not it.isspace())


def canonical(text: str) -> Canon:
    """The canonical form of `text` with its way back. Linear time."""
    out: list[str] = []
    places: list[int] = []
    dash = -1
    for place, character in enumerate(text):
        plain = _plain(character)
        if not plain:
            continue
        if plain == "-":
            dash = place
            continue
        if dash >= 0:
            if plain[0].isdigit():
                out.append("-")
                places.append(dash)
            dash = -1
        if plain == _QUOTE_RUN and out and out[-1] == _QUOTE_RUN:
            continue
        out.extend(plain)
        places.extend([place] * len(plain))
    return Canon("".join(out), places)


def with_marks(text: str, edge: str, at: int, bound: int, step: int) -> int:
    """`at`, the end of a passage, moved on (`step` 1; -1: its beginning, moved back) over marks of the quote's own edge that the canonical form
    drops: the bars of a table's row, the stars of bold type. Not beyond `bound`."""
    left = Counter(character for character in edge if not character.isspace() and not canonical(character).text)
    for far in range(at, bound, step):
        character = text[far] if step > 0 else text[far - 1]
        if left[character]:
            left[character] -= 1
            at = far + step
        elif not character.isspace():
            break
    return at
