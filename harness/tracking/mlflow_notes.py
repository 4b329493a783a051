"""What stands in words on MLflow's pages: an experiment's description, and the note of a cell, which suffices to run the cell again."""

from __future__ import annotations

import platform
import re
import shlex
from collections.abc import Sequence
from functools import cache
from importlib import metadata

from harness.tracking.base import SweepInfo
from harness.types import Cell, CellResult, Corpus

NOTE_LIMIT = 7_500
"""MLflow refuses tags of more than 8,000 characters."""
_LIBRARIES = ("chunk-sweep", "faiss-cpu", "torch", "sentence-transformers", "transformers", "tokenizers", "numpy")
_MULTIRUN = ("--multirun", "-m")
_AXES = ("strategy", "size", "overlap", "embedder", "unit", "retriever", "dataset")
_WIDE = 90


def description_of(corpus: Corpus) -> str:
    """The experiment's description: what a newcomer should click, in order."""
    return (
        f"Chunking sweeps on **{corpus.name}** ({len(corpus.documents)} documents, {len(corpus.questions)} questions). "
        "**Click the newest run: its note says which configuration won.**\n\n"
        "A run in the list is a sweep; the plus sign opens its cells, one configuration each. "
        "If no runs show, choose *Model training* at the top left.\n\n"
        "1. **Click a sweep.** Its note says which cell won, which others can't be told from it, and what that costs. Its model metrics are curves "
        "over size (the step); its artifacts are the leaderboard and the figures.\n"
        "2. **Back here, type `tags.tied_with_winner = 'true'` into the search field.** What is left are the cells worth having, of all sweeps: "
        "sort by `complete_within_2048`, and add columns for what they cost. `tags.winner`, `tags.cheapest_of_tied` and `tags.pareto` work alike.\n"
        "3. **Click a cell.** Its note has the command that runs it again; `complete_at_k` and `recall_at_k` are curves over k; `questions.parquet` "
        "among its artifacts has one row a question.\n\n"
        "Every metric is defined in docs/metrics.md of the program; docs/mlflow.md walks through this page with pictures."
    )


def cell_command(cell: Cell, command: str) -> str:
    """The command that runs this cell alone: the sweep's own, with one value for each axis that was swept."""
    program, verb, *words = shlex.split(command) or ["chunk-sweep", "run"]
    known = {"unit": cell.unit, **cell.config.get("choices", {}), **{name: cell.config[name] for name in ("size", "overlap") if name in cell.config}}
    axes = {name: str(known[name]) for name in _AXES if name in known} | dict(word.split("=", 1) for word in _extras(cell))
    kept = [word for word in words if word not in _MULTIRUN and word.partition("=")[0].lstrip("+") not in axes]
    if any(word.startswith("experiment=") for word in kept):
        kept.append("hydra.mode=RUN")  # the experiment would run its whole grid again
    return shlex.join([program, verb, *kept, *(f"{name}={value}" for name, value in axes.items())])


def _extras(cell: Cell) -> list[str]:
    """What else differed in the grid, as the label says it."""
    tail = cell.label.partition(f" {cell.embedder}")[2].strip()
    return [word for word in re.split(r" (?=[\w./@+-]+=)", tail) if "=" in word]


def cell_note(result: CellResult, info: SweepInfo) -> str:
    """How to run the cell again, what it was measured with, and what it warns of."""
    facts = [
        ("corpus", f"{info.corpus.name}, digest `{info.corpus.digest}`"),
        ("questions", f"digest `{info.corpus.questions_digest}`"),
        ("chunks", f"digest `{result.chunk_digest}` (equal for cells that made the very same chunks)"),
        ("cell key", f"`{result.key}` (equal keys: the stored result is used again)"),
        ("versions", versions()),
    ]
    return _fitting(
        [
            _again(result.cell, info),
            "\n".join(["| | |", "|---|---|", *(f"| {name} | {value} |" for name, value in facts)]),
            "Among the artifacts: `config.json` is the whole resolved configuration, `result.json` has every metric, `questions.parquet` one row a "
            "question.",
        ],
        result.warnings,
    )


def failure_note(cell: Cell, info: SweepInfo, problem: str) -> str:
    """How to run a cell that failed again, and what it said."""
    return _fitting([f"**FAILED**: {problem}", _again(cell, info)], ())


def _again(cell: Cell, info: SweepInfo) -> str:
    """The command in a block, folded as a shell reads it: the page does not fold it."""
    lines = [""]
    for word in map(shlex.quote, shlex.split(cell_command(cell, info.command))):
        if len(lines[-1]) + len(word) > _WIDE:
            lines.append(" ")
        lines[-1] += f" {word}" if lines[-1] else word
    return "This cell again:\n\n```\n" + " \\\n".join(lines) + "\n```"


@cache
def versions() -> str:
    """The program, Python, and the libraries that numbers come from, as installed."""
    found = [f"Python {platform.python_version()}"]
    for name in _LIBRARIES:
        try:
            found.append(f"{name} {metadata.version(name)}")
        except metadata.PackageNotFoundError:
            continue
    return ", ".join(found)


def _fitting(parts: Sequence[str], warnings: Sequence[str]) -> str:
    """As much as MLflow takes. The head is short unless the command is very long."""
    lines = ["Warnings:", "", *(f"- {line}" for line in warnings)] if warnings else []
    return "\n\n".join([*parts, *(["\n".join(lines)] if lines else [])])[:NOTE_LIMIT]
