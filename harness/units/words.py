"""Words: runs of characters that are not white space.

Scripts that put no spaces between words (Japanese, Thai) come out as very long words; count those in tokens or characters.
"""

from __future__ import annotations

from dataclasses import dataclass

from harness.units.base import Ruler, ruler_from_tokens
from harness.units.codepoints import code_points, white_mask, word_spans


@dataclass(frozen=True, slots=True)
class WordUnit:
    """Every run of non-space counts one."""

    name: str = "words"
    identity: str = "words"

    def measure(self, text: str) -> Ruler:
        """The ruler with a cut at the start of every word but the first."""
        return ruler_from_tokens(len(text), *word_spans(white_mask(code_points(text))))
