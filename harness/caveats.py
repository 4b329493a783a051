"""What the cells of a sweep warn of, said once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from harness.evaluation import TRUNCATION
from harness.types import CellResult


def caveats(results: Sequence[CellResult]) -> list[str]:
    """Each warning once, with the cells it holds for; what embedders did not read in one line an embedder."""
    cells: dict[str, list[str]] = defaultdict(list)
    for result in results:
        for line in result.warnings:
            if not line.startswith(TRUNCATION):
                cells[line].append(result.cell.label)
    lines = []
    for line, labels in cells.items():
        everywhere = len(labels) == len(results) and len(labels) > 1
        lines.append(f"{line} ({'every cell' if everywhere else some(labels)})")
    return [*lines, *_unread(results)]


def _unread(results: Sequence[CellResult]) -> list[str]:
    shares: dict[tuple[str, float], list[tuple[float, str]]] = defaultdict(list)
    for result in results:
        share = result.metrics.get("truncated_token_share") or 0.0
        if share > 0:
            shares[(result.cell.embedder, result.metrics.get("embedder_limit") or 0.0)].append((share, result.cell.label))
    return [
        f"{embedder} reads {limit:.0f} tokens of a chunk; never read: "
        + some([f"{share:.1%} of all tokens in {label}" for share, label in sorted(found, reverse=True)])
        for (embedder, limit), found in shares.items()
    ]


def some(labels: Sequence[str], shown: int = 3) -> str:
    """The first few, and how many more."""
    return ", ".join(labels[:shown]) + (f" and {len(labels) - shown} more" if len(labels) > shown else "")
