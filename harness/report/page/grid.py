"""Tables of a page: headings, and cells with what they are sorted by."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from harness.report.figures.words import short_labels
from harness.report.tables import COLUMNS, Column, number
from harness.sweep import Standing, Summary

WIDTH = 80
"""Of an interval bar, in pixels."""


@dataclass(frozen=True, slots=True)
class Bar:
    """An interval drawn on the scale of its column: ends and value in pixels from the left."""

    low: float
    high: float
    value: float


@dataclass(frozen=True, slots=True)
class Field:
    """What stands in a table: its text, the number it is sorted by (None: by its text), and its interval."""

    text: str
    sort: float | None = None
    bar: Bar | None = None


@dataclass(frozen=True, slots=True)
class Grid:
    """`numeric` tells the columns of numbers, which stand at the right."""

    head: tuple[str, ...]
    rows: tuple[tuple[Field, ...], ...]
    numeric: tuple[bool, ...]


def grid(frame: pd.DataFrame) -> Grid:
    """A frame as it is; floats with three digits, whole numbers whole, null as "-"."""
    columns = [[_field(value) for value in frame[name].tolist()] for name in frame.columns]
    numeric = tuple(any(field.sort is not None for field in column) for column in columns)
    return Grid(tuple(str(name).replace("_", " ") for name in frame.columns), tuple(zip(*columns, strict=True)), numeric)


def _field(value: object) -> Field:
    if value is None or value is pd.NA or (isinstance(value, float) and not math.isfinite(value)):
        return Field("-")
    if isinstance(value, bool):
        return Field("yes" if value else "no")
    if isinstance(value, int | float):
        whole = float(value).is_integer()
        return Field(f"{int(value):,}" if whole else number(float(value), 3), float(value))
    return Field(str(value))


@dataclass(frozen=True, slots=True)
class BoardRow:
    """A cell of the leaderboard: what it is to the choice, its label (without the words that all cells share) and its figures."""

    badges: tuple[str, ...]
    label: str
    fields: tuple[Field, ...]
    key: str


SHOWN = (*COLUMNS[:-2], Column("context_tokens_at_5", "context", 0), *COLUMNS[-2:])
MEANINGS = {
    "answer_existence": "Share of questions that some single chunk can answer whole, whatever retrieval does",
    "complete_at_5": "Share of questions whose answer is complete in the first 5 chunks, with its 95% interval",
    "complete_within_2048": "Share of questions whose answer is complete within 2,048 tokens of context, with its 95% interval",
    "half_answer_rate_at_5": "Share of questions with only part of the answer in the first 5: the rule without its exception. Lower is better",
    "discrimination": "By how many standard deviations the answer's chunks outscore the others (d-prime)",
    "chunk_tokens_mean": "Mean tokens of a chunk",
    "context_tokens_at_5": "Mean tokens of the first 5 chunks, which the reader pays for",
    "storage_ratio": "Stored characters / characters of the corpus",
    "truncated_token_share": "Share of tokens that the embedder never read",
}


def board(summary: Summary) -> list[BoardRow]:
    """The leaderboard, best first."""
    scales = {column.metric: _scale(summary, column.metric) for column in SHOWN if column.interval}
    labels = short_labels([item.result.cell.label for item in summary.standings])
    return [
        BoardRow(
            badges(item, summary),
            label,
            tuple(_figure(item, column, scales.get(column.metric)) for column in SHOWN),
            item.result.key,
        )
        for item, label in zip(summary.standings, labels, strict=True)
    ]


def badges(item: Standing, summary: Summary) -> tuple[str, ...]:
    """What a cell is to the choice, in words."""
    if not summary.decided:
        return ()
    marks = (
        ("named", item is summary.cheapest),
        ("best", item is summary.winner),
        ("tied", item.tied and item is not summary.winner),
        ("default", item is summary.baseline),
        ("knee", item.result.key == summary.knee),
        ("Pareto", item.result.key in summary.front),
        ("over a limit", bool(item.broken)),
    )
    return tuple(word for word, holds in marks if holds)


def _figure(item: Standing, column: Column, scale: tuple[float, float] | None) -> Field:
    metrics = item.result.metrics
    value, low, high = (metrics.get(f"{column.metric}{end}") for end in ("", "_low", "_high"))
    text = number(value, column.digits)
    if scale is None or value is None or low is None or high is None:
        return Field(text, value)
    return Field(text, value, Bar(*(_at(edge, scale) for edge in (low, high, value))))


def _scale(summary: Summary, metric: str) -> tuple[float, float]:
    """The least and the most that any interval of the column reaches."""
    edges = [item.result.metrics.get(f"{metric}{end}") for item in summary.standings for end in ("_low", "_high", "")]
    known = [edge for edge in edges if edge is not None]
    return (min(known), max(known)) if known else (0.0, 1.0)


def _at(value: float, scale: Sequence[float]) -> float:
    low, high = scale
    share = (value - low) / (high - low) if high > low else 0.5
    return round(4 + share * (WIDTH - 8), 1)
