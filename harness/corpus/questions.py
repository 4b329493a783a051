"""Questions as a person labelled them, before their quotes and offsets are held against the documents.

One question a line: {"id", "question", "answers": [{"evidence": [{"doc", "quote" and/or "start" with "end", "role"?}, …]}, …], "filter"?, "kind"?}.
Answers are alternatives; the evidence inside one answer is needed together. No answers, or none given: unanswerable. `note` and `metadata` may
stand anywhere and are not read. `null` counts as left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.corpus.jsonl import read_records
from harness.corpus.problems import Problems, excerpt
from harness.corpus.shapes import Shape, id_faults, value

_IGNORED = ("note", "metadata")
_QUESTION = Shape("the question", {"id": str, "question": str}, {"answers": list, "filter": dict, "kind": str}, _IGNORED)
_ANSWER = Shape("an answer", {"evidence": list}, {}, _IGNORED)
_EVIDENCE = Shape("evidence", {"doc": str}, {"quote": str, "start": int, "end": int, "role": str}, _IGNORED)


@dataclass(frozen=True, slots=True)
class EvidenceLabel:
    """A passage as labelled: by its words, by half-open character offsets, or by both, which must then agree."""

    doc: str
    quote: str | None = None
    start: int | None = None
    end: int | None = None
    role: str | None = None


@dataclass(frozen=True, slots=True)
class QuestionLabel:
    """A question as labelled. `line` is where it stands in its file, counted from 1."""

    line: int
    id: str
    text: str
    answers: tuple[tuple[EvidenceLabel, ...], ...] = ()
    filter: Mapping[str, Any] = field(default_factory=dict)
    kind: str | None = None


def read_questions(path: Path) -> list[QuestionLabel]:
    """The questions of a file, in order. Raises DataError naming every line (ten at most) whose shape is wrong or whose id stands twice."""
    problems = Problems(path)
    first: dict[str, int] = {}
    labels: list[QuestionLabel] = []
    for record in read_records(path):
        faults = _faults(record.values)
        if not faults:
            label = _label(record.line, record.values)
            labels.append(label)
            if first.setdefault(label.id, label.line) != label.line:
                faults = [f"the id {excerpt(label.id)} stands already in line {first[label.id]}; ids of questions must differ"]
        for fault in faults:
            problems.add(record.line, fault)
    problems.refuse()
    return labels


def _faults(found: dict[str, Any]) -> list[str]:
    faults = _QUESTION.faults(found)
    if faults:
        return faults
    faults = id_faults(found["id"])
    if not found["question"].strip():
        faults.append(f"'question' of {excerpt(found['id'])} is blank")
    return faults + [fault for answer in value(found, "answers", []) for fault in _answer_faults(answer)]


def _answer_faults(answer: object) -> list[str]:
    faults = _ANSWER.faults(answer)
    if faults or not isinstance(answer, dict):
        return faults
    if not answer["evidence"]:
        return ['an answer has no evidence; name a passage, or write "answers": [] for a question without an answer']
    return [fault for evidence in answer["evidence"] for fault in _evidence_faults(evidence)]


def _evidence_faults(evidence: object) -> list[str]:
    faults = _EVIDENCE.faults(evidence)
    if faults or not isinstance(evidence, dict):
        return faults
    given = [name for name in ("quote", "start", "end") if evidence.get(name) is not None]
    if given in (["quote"], ["start", "end"], ["quote", "start", "end"]):
        return []
    return [f"evidence in {excerpt(evidence['doc'])} gives {' and '.join(given) or 'no place'}; it needs quote, or start with end, or all three"]


def _label(line: int, found: dict[str, Any]) -> QuestionLabel:
    answers = tuple(tuple(_evidence(evidence) for evidence in answer["evidence"]) for answer in value(found, "answers", []))
    return QuestionLabel(line, found["id"], found["question"], answers, value(found, "filter", {}), found.get("kind"))


def _evidence(found: dict[str, Any]) -> EvidenceLabel:
    return EvidenceLabel(found["doc"], found.get("quote"), found.get("start"), found.get("end"), found.get("role"))
