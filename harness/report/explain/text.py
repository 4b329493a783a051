"""An explanation for the console."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from harness.report.explain.reader import ordinal
from harness.report.explain.records import TOP, Excerpt, Explanation, Hit, Lexical
from harness.report.tables import number


@dataclass(frozen=True, slots=True)
class _Signs:
    """How a chunk's begin and end, and evidence, are marked."""

    begin: str
    end: str
    opens: str
    closes: str
    joint: str
    dots: str


_PRETTY = _Signs("⟦{}⟧", "⟦/{}⟧", "«{}: ", "»", " › ", "…")
_PLAIN = _Signs("[[{}]]", "[[/{}]]", "<<{}: ", ">>", " > ", "...")


def explain_text(explanation: Explanation, *, plain: bool = False) -> str:
    """The explanation in lines: the sentence, what was retrieved, and the text around the evidence with chunk boundaries.

    ⟦41⟧ stands where chunk 41 begins, ⟦/40⟧ where chunk 40 ends if the next begins elsewhere (so text between ⟦41⟧ and ⟦/40⟧ is their overlap);
    evidence stands between « and », its name in front. `plain`: all marks in ASCII. Control characters of documents are shown as "�".
    """
    signs = _PLAIN if plain else _PRETTY
    question = explanation.question
    lines = [
        f"{question.id}: {question.text}",
        f"{explanation.cell}: {explanation.attribution} at 5{_tokens(explanation.tokens_to_answer)}",
        "",
        f"  {explanation.sentence}",
        f"  {lexical_sentence(explanation.lexical)}",
        "",
        *_hit_lines(explanation.hits, signs),
        *(line for excerpt in explanation.excerpts for line in _excerpt_lines(excerpt, signs)),
    ]
    return "\n".join(_visible(line) for line in lines)


def lexical_sentence(found: Lexical) -> str:
    """Whether a search by words alone would have found the answer."""
    if found.rank is None:
        return (
            "Search by words (BM25): no chunk holds any piece of the answer whole."
            if found.what
            else "Search by words (BM25): there is no answer to find."
        )
    would = "among its first 5" if found.found else f"not among its first {TOP}"
    return f"Search by words (BM25) ranks chunk {found.chunk}, its best that holds {found.what}, {ordinal(found.rank)}: {would}."


def _tokens(tokens: float | None) -> str:
    if tokens is None:
        return ""
    return f", {tokens:,.0f} tokens to answer" if math.isfinite(tokens) else ", never complete within the largest budget"


def _hit_lines(hits: tuple[Hit, ...], signs: _Signs) -> list[str]:
    if not hits:
        return ["Nothing was retrieved.", ""]
    lines = ["Retrieved:"]
    for hit in hits:
        where = signs.joint.join([hit.document, *hit.section])
        holds = f"  [holds {', '.join(hit.holds)}]" if hit.holds else ""
        lines.append(f"  {hit.rank:>2}. {number(hit.score, 3):>6}  chunk {hit.chunk}  {where}  {hit.start}-{hit.end}{holds}")
        if hit.shared:
            lines.append(f"{'':13}shares: {', '.join(hit.shared)}")
    return [*lines, ""]


def _excerpt_lines(excerpt: Excerpt, signs: _Signs) -> list[str]:
    end = excerpt.start + len(excerpt.text)
    head = f"{excerpt.document}, characters {excerpt.start:,} to {end:,}:"
    body = "".join(_marked(excerpt, signs)).replace("\r\n", "\n").replace("\r", "\n")
    before, after = signs.dots if excerpt.start else "", signs.dots if excerpt.more else ""
    return [head, *(f"  {line}" for line in f"{before}{body}{after}".split("\n")), ""]


def _marked(excerpt: Excerpt, signs: _Signs) -> Iterator[str]:
    """The text with its marks: at one place ends come before begins, and evidence inside."""
    starts = {bound.start for bound in excerpt.chunks}
    marks: list[tuple[int, int, str]] = []
    for bound in excerpt.chunks:
        marks.append((bound.start, 2, signs.begin.format(bound.chunk)))
        if not _met(excerpt, bound.end, starts):
            marks.append((bound.end, 1, signs.end.format(bound.chunk)))
    for mark in excerpt.marks:
        marks += [(mark.start, 3, signs.opens.format(mark.label)), (mark.end, 0, signs.closes)]
    at, stop = excerpt.start, excerpt.start + len(excerpt.text)
    for place, _, sign in sorted(marks):
        if excerpt.start <= place <= stop:
            yield _visible(excerpt.text[at - excerpt.start : place - excerpt.start]) + sign
            at = place
    yield _visible(excerpt.text[at - excerpt.start :])


def _met(excerpt: Excerpt, end: int, starts: set[int]) -> bool:
    """Whether the next chunk begins where this one ends, white space apart."""
    rest = excerpt.text[max(end - excerpt.start, 0) :]
    return end in starts or end + len(rest) - len(rest.lstrip()) in starts


def _visible(text: str) -> str:
    """Text that can't command a terminal or turn its line around."""
    return "".join("�" if not (character.isprintable() or character in "\n\r\t  　 ") else character for character in text)
