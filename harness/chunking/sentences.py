"""Starts of sentences, by the segmenter sentencex.

Only positions are taken from it, and they serve as places to cut the original text, so offsets are exact whatever it does. Its time grows with the
square of the length for some scripts, so it is given a few thousand characters at a time, always from the start of a sentence.
"""

from __future__ import annotations

import numpy as np
from sentencex import get_sentence_boundaries

from harness.types import Ints
from harness.units.codepoints import well_formed

_WINDOW = 4_000
_MARGIN = 400  # a boundary this near to the end of a window could be another one if the text went on


def sentence_starts(text: str, language: str) -> Ints:
    """Where sentences (and paragraphs) begin, the first left out; strictly increasing. `language` is an ISO 639-1 code such as "en"; one that
    sentencex doesn't know is treated as English."""
    clean = well_formed(text)
    found: list[int] = []
    place = 0
    while place < len(clean):
        window = clean[place : place + _WINDOW]
        starts = [place + int(boundary["start_index"]) for boundary in get_sentence_boundaries(language, window)]
        sure_up_to = len(clean) if place + _WINDOW >= len(clean) else place + _WINDOW - _MARGIN
        sure = [start for start in starts if place < start <= sure_up_to]
        found.extend(sure)
        place = len(clean) if sure_up_to == len(clean) else sure[-1] if sure else sure_up_to
    return np.array(found, dtype=np.int64)
