"""Builds small labelled folders."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Rows = list[dict[str, Any]] | bytes | str


def _bytes(rows: Rows) -> bytes:
    if isinstance(rows, bytes):
        return rows
    if isinstance(rows, str):
        return rows.encode("utf-8")
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode("utf-8")


@pytest.fixture
def build(tmp_path: Path) -> Callable[..., Path]:
    """`build(questions=…, corpus=… or files={path: bytes or text}, metadata=…)` writes a corpus folder and returns it."""

    def _build(
        questions: Rows | None = None, corpus: Rows | None = None, files: dict[str, bytes | str] | None = None, metadata: Rows | None = None
    ) -> Path:
        root = tmp_path / "mill"
        root.mkdir(exist_ok=True)
        for name, rows in (("questions.jsonl", questions if questions is not None else []), ("corpus.jsonl", corpus), ("metadata.jsonl", metadata)):
            if rows is not None:
                (root / name).write_bytes(_bytes(rows))
        for name, content in (files or {}).items():
            path = root / "documents" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(_bytes(content))
        return root

    return _build


@pytest.fixture
def ask() -> Callable[..., dict[str, Any]]:
    """`ask("q1", [{"doc": …}, …], …)`: a question's row; each positional list is the evidence of one answer."""

    def _ask(identifier: str, *answers: list[dict[str, Any]], **extra: Any) -> dict[str, Any]:
        return {"id": identifier, "question": f"What about {identifier}?", "answers": [{"evidence": evidence} for evidence in answers], **extra}

    return _ask
