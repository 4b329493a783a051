"""A question and its evidence in context, for people: marked so that it reads without colour, and styled where there is some."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.text import Text

from harness.corpus.problems import excerpt
from harness.errors import DataError
from harness.types import Answer, Corpus, Evidence, Question
from harness.visible import on_one_line, visible

CONTEXT = 300
STYLES = {"claim": "bold green", "exception": "bold red", "condition": "bold yellow"}
"""How evidence is shown, by its role; any other in OTHER."""
OTHER = "bold cyan"
_SNAP = 40


@dataclass(frozen=True, slots=True)
class _Mark:
    """A piece of evidence to be marked: what it is called, and its style."""

    start: int
    end: int
    name: str
    style: str


def question_of(corpus: Corpus, name: str) -> Question:
    """The question with that id, or the only one whose id begins so. Raises DataError with near ids where there is none."""
    by_id = {question.id: question for question in corpus.questions}
    if name in by_id:
        return by_id[name]
    begins = [id for id in by_id if id.startswith(name)] if name else []
    if len(begins) == 1:
        return by_id[begins[0]]
    near = begins[:3] or difflib.get_close_matches(name, list(by_id)[:10_000], n=3) or list(by_id)[:3]
    told = f"{len(begins)} ids begin so" if begins else "there is no such question"
    left_out = "; its labels may not agree with the documents (chunk-sweep data check says)" if corpus.warnings and not begins else ""
    raise DataError(corpus.name, f"question {excerpt(name)}: {told}; for example {', '.join(map(excerpt, near))}{left_out}")


def show(corpus: Corpus, question: Question, *, context: int = CONTEXT) -> Text:
    """The question, then each answer with the text around its evidence, `context` characters on either side.

    Evidence stands between « and », its role in front. Of what lies between two pieces of one document only the characters are counted where it is
    longer than twice the context. No character of the corpus reaches the terminal as a command (see harness.visible).
    """
    out = Text()
    out.append(f"{on_one_line(question.id)}: ", style="bold")
    out.append(f"{on_one_line(question.text)}\n", style="bold")
    if question.kind:
        out.append(f"kind: {on_one_line(question.kind)}\n")
    if question.filter:
        out.append(f"searched in documents with {on_one_line(str(dict(question.filter)))}\n")
    if not question.answers:
        out.append("\nThe documents do not answer it.\n")
    for number, answer in enumerate(question.answers, start=1):
        for part in _answer(corpus, answer, number, len(question.answers), context):
            out.append_text(part)
    return out


def _answer(corpus: Corpus, answer: Answer, number: int, total: int, context: int) -> Iterator[Text]:
    pieces = len(answer.evidence)
    needed = f"{pieces} pieces of evidence, needed together" if pieces > 1 else "1 piece of evidence"
    either = f"Answer {number} of {total} (any will do)" if total > 1 else "Answer"
    yield Text(f"\n{either}: {needed}\n", style="bold")
    by_document: dict[int, list[Evidence]] = {}
    for evidence in answer.evidence:
        by_document.setdefault(evidence.span.doc, []).append(evidence)
    for doc, found in by_document.items():
        document = corpus.documents[doc]
        title = f" ({on_one_line(document.title)})" if document.title else ""
        yield Text(f"\n{on_one_line(document.id)}{title}\n", style="underline")
        yield _excerpts(document.text, sorted(map(_mark, found), key=lambda it: (it.start, it.end)), context)
        copies = sum(len(it.copies) for it in found)
        if copies:
            yield Text(f"  (word for word at {copies} other place{'s' if copies > 1 else ''} too)\n", style="dim")


def _mark(evidence: Evidence) -> _Mark:
    name = on_one_line(evidence.role or "evidence")
    return _Mark(evidence.span.start, evidence.span.end, name, STYLES.get(evidence.role or "", OTHER))


def _excerpts(text: str, marks: Sequence[_Mark], context: int) -> Text:
    out, at = Text(), 0
    for place, group in enumerate(_together(marks, context)):
        start, end = _snapped(text, group[0].start - context, max(it.end for it in group) + context)
        if place:
            out.append(f"    … {start - at:,} characters …\n", style="dim")
        out.append(f"  characters {start:,} to {end:,}\n", style="dim")
        out.append_text(_indented(_marked(text, start, end, group), "…" if start else "", "…" if end < len(text) else ""))
        at = end
    return out


def _together(marks: Sequence[_Mark], context: int) -> list[list[_Mark]]:
    """Groups of pieces whose excerpts meet."""
    groups: list[list[_Mark]] = []
    reached = 0
    for mark in marks:
        if groups and mark.start - reached <= 2 * context + 2 * _SNAP:
            groups[-1].append(mark)
        else:
            groups.append([mark])
        reached = max(reached, mark.end)
    return groups


def _snapped(text: str, start: int, end: int) -> tuple[int, int]:
    """The excerpt's ends, moved outward by at most 40 characters to where a word begins or ends."""
    start, end = max(start, 0), min(end, len(text))
    before = next((place for place in range(start, max(start - _SNAP, 0), -1) if text[place - 1].isspace()), start)
    after = next((place for place in range(end, min(end + _SNAP, len(text))) if text[place].isspace()), end)
    return before, after


def _marked(text: str, start: int, end: int, marks: Sequence[_Mark]) -> Text:
    """text[start:end] with its marks. At one place what ends comes before what begins; evidence may overlap."""
    signs = sorted([(it.end, 0, "»", it.style) for it in marks] + [(it.start, 1, f"«{it.name}: ", it.style) for it in marks], key=lambda it: it[:2])
    out, at, open_styles = Text(), start, list[str]()
    for place, kind, sign, style in signs:
        out.append(visible(text[at:place]), style=open_styles[-1] if open_styles else "")
        out.append(sign, style=style)
        if kind:
            open_styles.append(style)
        else:
            open_styles.remove(style)
        at = place
    out.append(visible(text[at:end]))
    return out


def _indented(body: Text, before: str, after: str) -> Text:
    out = Text()
    body.rstrip()
    lines = (Text(before) + body + Text(after)).split("\n", allow_blank=True)
    for line in lines:
        out.append_text(Text("    ") + line if line.plain.strip() else Text())
        out.append("\n")
    return out
