"""Whether what a command accepted is right, by other means than the harness has."""

from __future__ import annotations

import json
import math
from itertools import pairwise
from pathlib import Path

import pandas as pd
from fault_cases import Case

_SHARES = ("answer_existence", "answer_coverage", "complete_", "hit_rate", "recall_", "ndcg_", "mrr_", "precision", "iou")


def wrong_results(room: Path, one: Case) -> str:
    """Results whose shares leave 0 to 1, fall as k grows, hold what is not finite, or are of other questions than the file has."""
    for path in room.glob("outputs/cells/*/result.json"):
        record = json.loads(path.read_text(encoding="utf-8"), parse_constant=_refuse)
        metrics = {name: value for name, value in record["metrics"].items() if value is not None}
        for name, value in metrics.items():
            if not math.isfinite(value) or (name.startswith(_SHARES) and "median" not in name and not -1e-9 <= value <= 1 + 1e-9):
                return f"{name} = {value}"
        complete = sorted((int(name.rsplit("_", 1)[1]), value) for name, value in metrics.items() if _at_k(name))
        if any(later[1] < earlier[1] - 1e-12 for earlier, later in pairwise(complete)):
            return f"complete_at_k falls as k grows: {complete}"
        rows = len(pd.read_parquet(path.parent / "questions.parquet"))
        if rows != record["corpus"]["questions"]:
            return f"{rows} rows for {record['corpus']['questions']} questions"
    return wrong_labels(room, one)


def _at_k(name: str) -> bool:
    return name.startswith("complete_at_") and name.rsplit("_", 1)[1].isdigit()


def _refuse(name: str) -> float:
    raise ValueError(name)


def wrong_labels(room: Path, one: Case) -> str:
    """Labels that were placed somewhere else than their quote stands, read from the files by plain Python."""
    if not one.reads or not (room / "harbour" / "questions.jsonl").is_file():
        return ""
    from harness.corpus.folder import load_folder
    from harness.errors import HarnessError

    try:
        corpus = load_folder(room / "harbour", on_label_problem="warn")
    except HarnessError:
        return ""
    raw = {
        path.relative_to(room / "harbour" / "documents").as_posix(): path for path in (room / "harbour" / "documents").rglob("*") if path.is_file()
    }
    for document in corpus.documents:
        if document.id in raw and document.text != raw[document.id].read_bytes().decode("utf-8").removeprefix("\ufeff"):
            return f"the text of {document.id} is not that of its file"
    quotes = {}
    for line in (room / "harbour" / "questions.jsonl").read_bytes().decode("utf-8-sig").split("\n"):
        if line.strip():
            entry = json.loads(line)
            quotes[entry["id"]] = {(item["doc"], item.get("quote")) for answer in entry.get("answers") or [] for item in answer["evidence"]}
    for question in corpus.questions:
        spans = [item.span for answer in question.answers for item in answer.evidence]
        found = [(corpus.documents[span.doc].id, corpus.documents[span.doc].text[span.start : span.end]) for span in spans]
        for doc, quote in quotes[question.id] if found else ():
            if quote is not None and not any(quote in text for name, text in found if name == doc):
                return f"{question.id}: {quote[:60]!r} is in none of the passages that were placed"
    return ""
