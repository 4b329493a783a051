"""How tables.py lays out what sweeps over retrieval found."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from harness.curves import column
from harness.evaluation import Scoring, resampler_for
from harness.report.tables import markdown, number
from harness.statistics.paired import paired
from harness.sweep import Select, Standing, summarise
from harness.types import Bools, CellResult

METRIC = "complete_within_2048"


def by_retriever(results: Sequence[CellResult], _: object) -> str:
    """One row a retriever: the chunks that it does best with, and the others that can't be told from them."""
    groups: dict[str, list[CellResult]] = defaultdict(list)
    for result in results:
        groups[result.cell.retriever].append(result)
    rows = []
    for name, cells in groups.items():
        summary = summarise(cells, Select(), Scoring())
        best = summary.standings[0]
        tied = [_chunks(item) for item in summary.tied if item is not best]
        metrics = best.result.metrics
        rows.append(
            [
                name,
                _chunks(best),
                _with_bounds(best),
                *(number(metrics.get(at), 3) for at in ("complete_at_5", "floor_area")),
                ", ".join(tied) or "none",
            ]
        )
    rows.sort(key=lambda row: row[2], reverse=True)
    return markdown(["retriever", "best chunks", "complete within 2,048", "complete@5", "floor area", "tied with them"], rows)


def _chunks(item: Standing) -> str:
    return f"{item.result.cell.strategy} {item.result.cell.size}"


def _with_bounds(item: Standing) -> str:
    return f"{number(item.value, 3)} [{number(item.low, 3)}, {number(item.high, 3)}]"


def worth_of_filters(results: Sequence[CellResult], filtered: set[str]) -> str:
    """One row a chunking and retriever: the questions that have a filter, with it and without; the difference is paired."""
    cells = {(result.cell.size, result.cell.retriever, result.cell.config["scope"]): result for result in results}
    rows = []
    for size, retriever in sorted({key[:2] for key in cells}, key=str):
        own, none = cells[size, retriever, "question"], cells[size, retriever, "corpus"]
        asked: Bools = own.questions["answerable"].to_numpy(bool) & own.questions["id"].isin(filtered).to_numpy()
        one, other = column(own, METRIC)[asked], column(none, METRIC)[asked]
        gap = paired(one, other, resampler_for(own.questions[asked].reset_index(drop=True), Scoring()))
        change = f"{number(gap.difference, 3)} [{number(gap.low, 3)}, {number(gap.high, 3)}]"
        rows.append(
            [f"recursive {size}", retriever, str(int(asked.sum())), number(np.mean(one), 3), number(np.mean(other), 3), change, number(gap.p, 3)]
        )
    return markdown(["chunks", "retriever", "n", "own filter", "no filter", "worth of the filter [95%]", "p"], rows)
