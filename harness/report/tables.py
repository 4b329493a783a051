"""The leaderboard as a frame, and any frame as Markdown."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from harness.sweep import Standing, Summary


@dataclass(frozen=True, slots=True)
class Column:
    """How a metric stands in the table: its heading, digits after the point, whether its interval is shown. `weight`: where there is
    room for few columns, the heaviest stay."""

    metric: str
    heading: str
    digits: int
    interval: bool = False
    weight: int = 0


COLUMNS = (
    Column("answer_existence", "exists", 3, weight=7),
    Column("complete_at_5", "complete@5", 3, interval=True, weight=3),
    Column("complete_within_2048", "within 2048", 3, interval=True, weight=8),
    Column("half_answer_rate_at_5", "half@5", 3, weight=5),
    Column("discrimination", "discrim.", 2, weight=1),
    Column("chunk_tokens_mean", "tokens", 0, weight=6),
    Column("storage_ratio", "storage", 2, weight=4),
    Column("truncated_token_share", "cut off", 3, weight=2),
)


def number(value: float | None, digits: int) -> str:
    """A number for people: shares without their leading zero, "-" for null."""
    if value is None or not math.isfinite(value):
        return "-"
    text = f"{value:.{digits}f}"
    return text[1:] if text.startswith("0.") and digits else text


def p_value(p: float) -> str:
    """p for people: never 0."""
    return "p<0.001" if p < 0.001 else f"p={p:.3f}"


def with_interval(metrics: Mapping[str, float | None], column: Column) -> str:
    """The value, with its interval where the column shows one."""
    value = number(metrics.get(column.metric), column.digits)
    low, high = metrics.get(f"{column.metric}_low"), metrics.get(f"{column.metric}_high")
    if not column.interval or low is None or high is None:
        return value
    return f"{value} [{number(low, column.digits)}, {number(high, column.digits)}]"


def mark(item: Standing, summary: Summary) -> str:
    """1: the best; =: can't be told from it; *: the cheapest of these; x: breaks a limit."""
    best = summary.winner is item
    cheapest = summary.cheapest is item
    if item.broken:
        return "x"
    return ("1" if best else "=" if item.tied else "") + ("*" if cheapest and summary.decided else "")


def leaderboard(summary: Summary) -> list[list[str]]:
    """Rows of text, best first: the mark, the cell, then COLUMNS."""
    return [
        [mark(item, summary), item.result.cell.label, *(with_interval(item.result.metrics, column) for column in COLUMNS)]
        for item in summary.standings
    ]


def headings() -> list[str]:
    """The headings of `leaderboard`."""
    return ["", "cell", *(column.heading for column in COLUMNS)]


def markdown(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table; bars inside cells are escaped."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(text.replace("|", "\\|") for text in line) + " |" for line in lines)


def full_leaderboard(summary: Summary) -> pd.DataFrame:
    """Every number of every cell, one row a cell, best first: what leaderboard.csv holds."""
    rows = []
    for rank, item in enumerate(summary.standings, 1):
        cell = item.result.cell
        axes = {
            "strategy": cell.strategy,
            "size": cell.size,
            "overlap": cell.overlap,
            "unit": cell.unit,
            "embedder": cell.embedder,
            "retriever": cell.retriever,
            **cell.around,
        }
        standing = {"behind": item.behind, "behind_low": item.behind_low, "behind_high": item.behind_high, "p_adjusted": item.p, "tied": item.tied}
        rows.append(
            {
                "rank": rank,
                "cell": cell.label,
                **axes,
                **standing,
                "key": item.result.key,
                "chunk_digest": item.result.chunk_digest,
                **item.result.metrics,
            }
        )
    return pd.DataFrame(rows)
