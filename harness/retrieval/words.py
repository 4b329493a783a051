"""The words of a text, for search by words in any script.

In scripts that put spaces between words, a word is a run of letters and digits, in lower case; combining marks (the vowel signs of Hindi, the points
of Hebrew and Arabic) stay with their letters. Scripts without spaces (Han, Kana, Thai, Lao, Khmer, Myanmar) have no words that can be told without a
dictionary: every two neighbouring characters, each with its marks, count as one, and a character that stands alone counts by itself. An emoji is a
word, with its skin tone and all that is joined to it. Whatever else there is (punctuation, symbols, the underscore) only separates.

Compatibility forms are made equal first (Unicode NFKC): full-width letters, half-width kana, composed and decomposed accents.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from itertools import pairwise

_ASCII_WORD = re.compile("[a-z0-9]+")
_SPACELESS = (
    "\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3038-\u303c\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"  # Han
    "\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\U0001aff0-\U0001b16f"  # Kana
    "\u0e01-\u0e30\u0e32-\u0e33\u0e40-\u0e46\u0e81-\u0eb0\u0eb2-\u0eb3\u0ebd-\u0ec6\u0edc-\u0edf"  # Thai, Lao
    "\u1780-\u17b3\u17d7\u17dc\u1000-\u102a\u103f\u1050-\u1055\u105a-\u105d\u1061\u1065-\u1066\u106e-\u1070\u1075-\u1081\u108e"  # Khmer, Myanmar
    "\ua9e0-\ua9ef\ua9fa-\ua9fe\uaa60-\uaa76\uaa7a\uaa7e-\uaa7f"  # Myanmar, extended
)
_EMOJI = "\u2300-\u23ff\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff"
_JOINERS = "\u200c\u200d"
_HEBREW_MARKS = "\u05f3\u05f4"  # geresh and gershayim stand inside abbreviations
_DRAWN_AS = re.compile("[\ufe0e\ufe0f]")  # as text or as a picture: the same sign
_LAST_MARK = 0x1FFFF


@cache
def _marks() -> str:
    """Every combining mark, as the ranges of a character class."""
    codes = [code for code in range(0x300, _LAST_MARK + 1) if unicodedata.category(chr(code)).startswith("M")]
    ends = [place for place, code in enumerate(codes) if place + 1 == len(codes) or codes[place + 1] != code + 1]
    begins = [0, *(place + 1 for place in ends[:-1])]
    return "".join(f"{chr(codes[begin])}-{chr(codes[end])}" for begin, end in zip(begins, ends, strict=True))


@cache
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Runs of a text, and the characters of a run without spaces with their marks. Group 1 of a run: without spaces; 2: all others."""
    marks = _marks()
    character = f"[{_SPACELESS}][{marks}{_JOINERS}]*"
    letter = f"(?:[^\\W_{_SPACELESS}]|[{marks}{_HEBREW_MARKS}])"
    skin = "[\U0001f3fb-\U0001f3ff]?"
    emoji = f"[\U0001f1e6-\U0001f1ff]{{2}}|[{_EMOJI}]{skin}(?:\u200d[{_EMOJI}]{skin})*"
    return re.compile(f"((?:{character})+)|({emoji}|{letter}(?:{letter}|[{_JOINERS}](?={letter}))*)"), re.compile(character)


def words(text: str) -> list[str]:
    """The words of `text`, in order. Linear in its length."""
    if text.isascii():
        return _ASCII_WORD.findall(text.lower())
    runs, characters = _patterns()
    found: list[str] = []
    for spaceless, word in runs.findall(unicodedata.normalize("NFKC", _DRAWN_AS.sub("", text)).lower()):
        if word:
            found.append(word)
            continue
        single = characters.findall(spaceless)
        found += [one + other for one, other in pairwise(single)] or single
    return found
