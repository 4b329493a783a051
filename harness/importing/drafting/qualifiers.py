"""Words that bend a rule, in six languages: where a sentence says "unless", the rule is a claim and the rest its exception."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Role = Literal["exception", "condition"]

# Inside a sentence the words begin the qualifier, which reaches to the sentence's end. Each line is a language; parts of regular expressions.
_INSIDE: Mapping[Role, tuple[str, ...]] = {
    "exception": (
        r"except|unless|excluding|with the exception of|apart from|other than|but not|save (?:for|that|where)|do(?:es)? not apply|notwithstanding",
        r"außer|es sei denn|ausgenommen|mit Ausnahme|jedoch nicht|aber nicht|gilt nicht|abgesehen von",
        r"sauf|à moins que|à l['’]exception|excepté|hormis|mais pas",
        r"salvo|excepto|a menos que|con excepción|a excepción|pero no|no se aplica",
        r"إلا|باستثناء|ما لم|ما عدا|غير أن",
    ),
    "condition": (
        r"(?:if and )?only (?:if|when|where|after)|provided(?: that)?(?=\W)|on condition that|(?<!for )as long as|so long as|subject to",
        r"nur wenn|nur dann|sofern|vorausgesetzt|soweit",
        r"seulement si|à condition que|à condition de|pourvu que|sous réserve",
        r"solo si|sólo si|siempre que|a condición de|con la condición",
        r"بشرط|شريطة|فقط إذا|على أن",
    ),
}
# A sentence that begins so qualifies the one before it.
_OPENING: Mapping[Role, tuple[str, ...]] = {
    "exception": (
        r"(?:however|except|exceptions?|but|nevertheless|conversely)\b|(?:this|these|it|this rule) do(?:es)? not apply",
        r"(?:dies|das) gilt nicht|(?:ausgenommen|jedoch|allerdings|ausnahmen?)\b|eine ausnahme",
        r"(?:toutefois|cependant|sauf|exception)\b|par exception|cette règle ne s['’]applique pas",
        r"sin embargo|no obstante|salvo\b|esto no se aplica|excepción",
        r"ただし|但し|しかし|例外",
        r"لكن|غير أن|ومع ذلك|يستثنى",
    ),
    "condition": (
        r"provided\b|this (?:only applies|applies only)|only if",
        r"dies gilt nur|voraussetzung",
        r"à condition|cela ne vaut que",
        r"siempre que|esto solo se aplica",
        r"بشرط",
    ),
}
# In Japanese the qualifier comes first and ends with these.
_CLOSING: Mapping[Role, tuple[str, ...]] = {
    "exception": ("を除き", "を除いて", "でない限り", "ない限り"),
    "condition": ("場合に限り", "場合のみ", "に限り"),
}
# A sentence may begin with its qualifier, up to a comma.
_FRONT: Mapping[Role, tuple[str, ...]] = {
    "exception": ("unless", "except", "sauf", "außer", "salvo", "excepto", "es sei denn", "à moins que", "a menos que"),
    "condition": ("only if", "provided that", "as long as", "sofern", "nur wenn", "à condition", "siempre que"),
}


def _patterns(words: Mapping[Role, tuple[str, ...]], form: str) -> dict[Role, re.Pattern[str]]:
    return {role: re.compile(form.format("|".join(parts)), re.IGNORECASE) for role, parts in words.items()}


_INNER = _patterns(_INSIDE, r"(?<!\w)(?:{})")
_FIRST = _patterns(_OPENING, r"\W*(?:{})")
_LAST = _patterns(_CLOSING, r"(?:{})、?")
_BEFORE = _patterns(_FRONT, r"(?:{})\b[^,;.]{{5,200}},\s*")
_LEAST = 20
"""Bytes of a claim or qualifier: some four words, or seven Japanese characters."""


@dataclass(frozen=True, slots=True)
class Split:
    """Where in a sentence the claim and what qualifies it stand, as (start, end)."""

    claim: tuple[int, int]
    qualifier: tuple[int, int]
    role: Role


def split(sentence: str) -> Split | None:
    """The claim and the qualifier inside one sentence; None where it has none, or where either part would be too short to ask about."""
    found = _in_front(sentence) or _behind(sentence)
    if found is None:
        return None
    parts = (sentence[slice(*found.claim)], sentence[slice(*found.qualifier)])
    return found if all(len(part.encode("utf-8", "replace")) >= _LEAST for part in parts) else None


def opens(sentence: str) -> Role | None:
    """What a sentence is to the one before it, where it begins with a qualifying word."""
    return next((role for role, pattern in _FIRST.items() if pattern.match(sentence)), None)


def _in_front(sentence: str) -> Split | None:
    for role in _BEFORE:
        found = _BEFORE[role].match(sentence) or _LAST[role].search(sentence)
        if found:
            return Split((found.end(), len(sentence)), (0, len(sentence[: found.end()].rstrip(" ,、"))), role)
    return None


def _behind(sentence: str) -> Split | None:
    found = [(match.start(), role) for role, pattern in _INNER.items() if (match := pattern.search(sentence, 1))]
    if not found:
        return None
    at, role = min(found)
    return Split((0, len(sentence[:at].rstrip(" \t\r\n,;:(–—-"))), (at, len(sentence)), role)
