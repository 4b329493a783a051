"""The report of an import: what came in, what was dropped or repaired and why, and how each quote became a place."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict
from typing import Any

from harness.corpus.problems import excerpt
from harness.importing.base import PLACED, STATUSES, Imported, Placement
from harness.types import Corpus

_SHOWN = 10


def counts(imported: Imported) -> dict[str, Any]:
    """How many of what, ready for JSON. `labels` counts quotes by status; it is empty for formats that give offsets."""
    evidence = [it for label in imported.questions for answer in label.answers for it in answer]
    statuses = Counter(placement.status for placement in imported.placements)
    return {
        "documents": len(imported.documents),
        "characters": sum(len(document.text) for document in imported.documents),
        "questions": len(imported.questions),
        "unanswerable": sum(not label.answers for label in imported.questions),
        "evidence": len(evidence),
        "unplaced": len(imported.unplaced),
        "notes": dict(Counter(f"{note.fate} {note.what}" for note in imported.notes)),
        "labels": {status: statuses[status] for status in STATUSES if statuses[status]},
    }


def report_json(imported: Imported, corpus: Corpus) -> bytes:
    """The whole report. `labels` has an entry a quote that is not exact; exact ones are only counted."""
    values = {
        "name": imported.name,
        "counts": counts(imported),
        "digest": corpus.digest,
        "questions_digest": corpus.questions_digest,
        "notes": [asdict(note) for note in imported.notes],
        "labels": [asdict(placement) for placement in imported.placements if placement.status != "exact"],
        "warnings": list(corpus.warnings),
    }
    return json.dumps(values, ensure_ascii=False, indent=1).encode("utf-8", "replace") + b"\n"


def summary(imported: Imported, corpus: Corpus) -> list[str]:
    """The result in plain words, a line each, for a console."""
    found = counts(imported)
    lines = [
        f"{found['documents']:,} documents ({found['characters']:,} characters), {found['questions']:,} questions"
        f" ({found['unanswerable']:,} without an answer), {found['evidence']:,} pieces of evidence, each checked against its document"
    ]
    if found["labels"]:
        lines.append("quotes: " + ", ".join(f"{count:,} {status}" for status, count in found["labels"].items()))
    for (fate, what), number in Counter((note.fate, note.what) for note in imported.notes).items():
        some = [note for note in imported.notes if (note.fate, note.what) == (fate, what)]
        shown = "; ".join(f"{excerpt(note.id)}: {note.why}" for note in some[:2])
        lines.append(f"{fate} {number:,} x {what}: {shown}{'; …' if number > 2 else ''}")
    return [*lines, *(f"warning: {warning}" for warning in corpus.warnings)]


def report_markdown(imported: Imported, corpus: Corpus) -> str:
    """The report for people. Text of documents and questions stands in code, so nothing in it is taken for markup."""
    lines = [f"# Import of {_plain(imported.name)}", "", *(f"- {_plain(line)}" for line in summary(imported, corpus))]
    open_ones = [placement for placement in imported.placements if placement.status not in PLACED]
    if open_ones:
        lines += ["", "## Quotes without a place", "", "Their questions are in unplaced.jsonl; mend them there or in the source.", ""]
        lines += [line for placement in open_ones for line in _open(placement)]
    bent = [placement for placement in imported.placements if placement.status == "fuzzy"]
    if bent:
        lines += ["", "## Quotes that only nearly match (look at these)", ""]
        lines += [
            f"- {_code(placement.question)}: {placement.score:.0f} of 100, {_where(placement)}\n  {_code(placement.diff)}" for placement in bent
        ]
    if imported.notes:
        lines += ["", "## Dropped, repaired, noted", "", *(f"- {_plain(note.line())}" for note in imported.notes)]
    return "\n".join(lines) + "\n"


def _open(placement: Placement) -> list[str]:
    lines = [f"- {_code(placement.question)} {placement.status}: {_plain(placement.why)} {_code(placement.quote)}"]
    if placement.places:
        shown = ", ".join(f"{place.doc} {place.start}-{place.end}" for place in placement.places[:_SHOWN])
        lines.append(f"  at {_plain(shown)}")
    if placement.nearest:
        near = placement.nearest
        lines.append(f"  nearest ({placement.score:.0f} of 100) {_plain(f'{near.doc} {near.start}-{near.end}')}: {_code(placement.diff)}")
    return lines


def _where(placement: Placement) -> str:
    place = placement.place
    return "" if place is None else _plain(f"{place.doc} {place.start}-{place.end}")


def _plain(text: str) -> str:
    """One line with nothing that Markdown or HTML would act on."""
    flat = " ".join(text.split())
    return "".join(f"\\{character}" if character in "\\`*_[]<>|#" else character for character in flat)


def _code(text: str) -> str:
    """`text` as a code span on one line, whatever backticks it holds."""
    flat = " ".join(text.split())
    fence = "`"
    while fence in flat:
        fence += "`"
    return f"{fence} {flat} {fence}"
