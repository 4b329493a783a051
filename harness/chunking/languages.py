"""Which languages the segmenter knows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from harness.chunking.base import Pieces
from harness.errors import ConfigError

_OWN = "am ar bg bn ca da de el en es fi fr gu hi hy it ja kk kn ml mr my nl pa pl pt ru sk ta te uk"
OWN_RULES = tuple(_OWN.split())
"""Languages for which sentencex has rules of its own (abbreviations, ends of sentences). For others it takes those of a related language, if it knows
of one, or of English. Source: src/languages/mod.rs of github.com/wikimedia/sentencex."""

_CODE = re.compile(r"[a-z]{2,3}(?:-[a-z0-9]{2,12})*")


def check_language(language: object) -> None:
    """Raise ConfigError unless `language` is written as a code: two or three small letters, perhaps with a region or script (de-at)."""
    if not isinstance(language, str) or not _CODE.fullmatch(language):
        told = f"a language code in small letters such as {', '.join(OWN_RULES)}, for which there are rules, or another one, which gets general rules"
        raise ConfigError("strategy.language", language, told)


def with_language(found: Sequence[Pieces], language: str) -> Sequence[Pieces]:
    """`found`, each document that has chunks counted in the note "general_language" where there are no rules for its language."""
    if language.partition("-")[0] in OWN_RULES:
        return found
    return [replace(pieces, notes={**pieces.notes, "general_language": 1}) if len(pieces.start) else pieces for pieces in found]
