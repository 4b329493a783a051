"""Ways to change one label, of each of which it is known whether it must be refused."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from typing import Any


def _set(**values: Any) -> Callable[[Any, Any, Any], None]:
    return lambda row, evidence, rows: evidence.update(values)


def _row(**values: Any) -> Callable[[Any, Any, Any], None]:
    return lambda row, evidence, rows: row.update(values)


def _quote(change: Callable[[str], Any]) -> Callable[[Any, Any, Any], None]:
    return lambda row, evidence, rows: evidence.update(quote=change(evidence["quote"]))


LABELS: list[tuple[Callable[[Any, Any, Any], None], str, str]] = [
    (_quote(lambda text: text + "!"), "the quote is nowhere", ""),
    (_quote(lambda text: text.replace("ferry", "f\u00e9rry")), "the quote is nowhere", ""),
    (_quote(lambda text: ""), "the quote is empty", ""),
    (_quote(lambda text: " "), "the quote is blank", ""),
    (_quote(lambda text: 5), "the quote is a number", ""),
    (_quote(lambda text: text[4:-1]), "", "it is a part of the passage"),
    (_quote(lambda text: "\ud800"), "the quote is half a character", ""),
    (_set(doc="notice-9.md"), "there is no such document", ""),
    (_set(doc=None), "no document is named", ""),
    (_set(doc=""), "no document is named", ""),
    (_set(doc="../harbour/documents/notice-0.md"), "that is no id", ""),
    (_set(start=0, end=5), "offsets and quote do not agree", ""),
    (_set(start=-1, end=5, quote=None), "a negative offset", ""),
    (_set(start=5, end=5, quote=None), "an empty span", ""),
    (_set(start=9, end=5, quote=None), "a span that ends before it begins", ""),
    (_set(start=0, end=10**9, quote=None), "a span past the end", ""),
    (_set(start=0, end=10**30, quote=None), "a span past the end", ""),
    (_set(start=True, end=5, quote=None), "an offset that is no number", ""),
    (_set(start=0.5, end=5, quote=None), "an offset that is no whole number", ""),
    (_set(start=0, quote=None), "a span without an end", ""),
    (_set(start=0, end=8, quote=None), "", "offsets alone will do"),
    (_set(quote=None), "neither quote nor offsets", ""),
    (_set(colour="red"), "an unknown key", ""),
    (_set(note="see there", role="claim"), "", "a note and a role are allowed"),
    (_row(id=""), "an empty id", ""),
    (_row(id=5), "an id that is a number", ""),
    (_row(question=" "), "a blank question", ""),
    (_row(question=None), "no question", ""),
    (_row(answers=[]), "", "it is unanswerable"),
    (_row(answers=None), "", "it is unanswerable"),
    (_row(answers={}), "answers are no list", ""),
    (_row(answers=[{}]), "an answer without evidence", ""),
    (_row(answers=[{"evidence": []}]), "an answer without evidence", ""),
    (_row(answers=[[]]), "an answer that is a list", ""),
    (_row(filter={"year": {"above": 3}}), "a comparison that means nothing", ""),
    (_row(filter=[]), "a filter that is a list", ""),
    (_row(kind=3), "a kind that is a number", ""),
    (_row(question=unicodedata.normalize("NFD", "Où part le bac ?")), "", "any text is a question"),
    (_row(question="\ud83d"), "half a character", ""),
    (lambda row, evidence, rows: rows.append(dict(row)), "an id stands twice", ""),
    (lambda row, evidence, rows: row["answers"].append(row["answers"][0]), "", "an alternative may stand twice"),
    (lambda row, evidence, rows: row["answers"][0]["evidence"].append(dict(evidence)), "", "evidence may stand twice"),
    (lambda row, evidence, rows: rows.insert(0, []), "a line that is a list", ""),
    (lambda row, evidence, rows: rows.insert(0, None), "a line that is null", ""),
    (lambda row, evidence, rows: row.pop("id"), "no id", ""),
]
