"""How large the chunks really are, beside what the embedder reads of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from harness.report.figures.style import BLUE, FAINT, INK, SMALL, canvas, headline, nothing, styled
from harness.report.figures.words import short_labels
from harness.report.tables import number
from harness.types import CellResult

MOST = 6
_UNLIMITED = 1e9


def chunk_sizes_table(results: Sequence[CellResult]) -> pd.DataFrame:
    """One row a cell and bin (tokens `from` included, `to` not; the last bin closed): chunks and their share. Only the first 6 cells with chunks."""
    parts = []
    for result in _drawn(results):
        edges, counts = np.asarray(result.histogram["edges"]), np.asarray(result.histogram["counts"])
        parts.append(pd.DataFrame({"cell": result.cell.label, "from": edges[:-1], "to": edges[1:], "chunks": counts, "share": counts / counts.sum()}))
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=["cell", "from", "to", "chunks", "share"])


@styled
def chunk_sizes(results: Sequence[CellResult]) -> Figure:
    """A histogram of chunk sizes in tokens for each cell (at most 6, the first ones), on one axis of tokens; each panel has its own height.

    The line is the median; what lies past the embedder's limit is shaded, and the share of tokens that it never read is said.
    """
    drawn = _drawn(results)
    if not drawn:
        return nothing("No cell has chunks, so there are no sizes to draw.")
    table = chunk_sizes_table(results)
    figure = canvas(1.5 + 0.95 * len(drawn))
    panels: list[Axes] = list(figure.subplots(len(drawn), 1, squeeze=False, sharex=True)[:, 0])
    right = 1.03 * max(float(table["to"].max()), 1.0)
    for panel, result, label in zip(panels, drawn, short_labels([result.cell.label for result in drawn]), strict=True):
        _panel(panel, table[table["cell"] == result.cell.label], result, right)
        panel.set_title(label, loc="left", pad=2)
    panels[-1].set_xlabel("content tokens of a chunk, by the embedder's tokenizer")
    figure.supylabel("share of chunks", fontsize=SMALL)
    left_out = len([result for result in results if _count(result)]) - len(drawn)
    note = "Upright line: the median. Shaded: past the embedder's limit, where nothing is read."
    headline(figure, _says(drawn), note + (f" Not drawn: {left_out} more cells." if left_out else ""))
    return figure


def _count(result: CellResult) -> float:
    return float(np.sum(result.histogram.get("counts", ())))


def _drawn(results: Sequence[CellResult]) -> list[CellResult]:
    return [result for result in results if _count(result)][:MOST]


def _panel(panel: Axes, bins: pd.DataFrame, result: CellResult, right: float) -> None:
    metrics = result.metrics
    panel.stairs(bins["share"], [*bins["from"], bins["to"].iloc[-1]], fill=True, color=BLUE, alpha=0.8)
    limit, median = metrics.get("embedder_limit"), metrics.get("chunk_tokens_median")
    if median is not None:
        panel.axvline(median, color=INK, linewidth=1.3)
    if limit is not None and limit < min(right, _UNLIMITED):
        panel.axvspan(limit, right, color=INK, alpha=FAINT, linewidth=0)
    reads = ""
    if limit is not None and limit < _UNLIMITED:
        reads = f"; {result.cell.embedder} reads {limit:.0f}: {number(metrics.get('truncated_token_share'), 3)} of all tokens never read"
    told = f"{_count(result):,.0f} chunks, median {number(median, 0)} tokens{reads}"
    panel.set_title(told, loc="right", fontsize=SMALL, pad=2)
    panel.set_xlim(0, right)
    panel.locator_params(axis="y", nbins=3)


def _says(results: Sequence[CellResult]) -> str:
    worst = max(results, key=lambda result: result.metrics.get("truncated_token_share") or 0.0)
    share = worst.metrics.get("truncated_token_share") or 0.0
    if not share:
        return "The embedder reads all of every chunk"
    told = number(share, 3) if share >= 0.0005 else "less than .001"
    return f"Of {worst.cell.label} the embedder never reads {told} of the tokens"
