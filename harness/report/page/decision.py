"""What a reader comes for: which cell to ship, what half its size would cost, and why the others lost."""

from __future__ import annotations

import json
from dataclasses import dataclass

from harness.curves import column
from harness.metrics.attribution import CHUNKING_MISS
from harness.report.comparison import compare
from harness.report.figures.words import spoken
from harness.report.tables import number, p_value
from harness.statistics.paired import Paired
from harness.sweep import Standing, Summary
from harness.types import Cell, CellResult


@dataclass(frozen=True, slots=True)
class Card:
    """A question, its answer in a few words, and lines that say more. `pair`: keys of two cells that the viewer can show side by side."""

    asks: str
    answer: str
    lines: tuple[str, ...]
    pair: tuple[str, str] | None = None


def cards(summary: Summary) -> list[Card]:
    """What to ship, half its size, the rival by points, the first that is really behind. Empty where there was nothing to choose between."""
    chosen = summary.cheapest
    if chosen is None or not summary.decided:
        return []
    others = [item for item in summary.standings if item is not chosen and not item.broken]
    rival, behind = next(iter(others), None), next((item for item in others if not item.tied), None)
    found = [_ship(chosen, summary), _half(chosen, summary)]
    if rival is not None and rival is not behind:
        asks = "Why not the best by points" if rival is summary.winner else "The runner-up"
        found.append(_against(asks, rival, chosen, summary))
    if behind is not None:
        asks = "Why the runner-up lost" if behind is rival else "First that is really behind"
        found.append(_against(asks, behind, chosen, summary))
    return [card for card in found if card is not None]


def _ship(chosen: Standing, summary: Summary) -> Card:
    metrics, best = chosen.result.metrics, summary.winner
    lines = [
        f"{spoken(summary.select.metric)}: {_share(chosen)}",
        f"{number(metrics.get('context_tokens_at_5'), 0)} context tokens for 5 chunks; "
        f"stores {number(metrics.get('storage_ratio'), 2)} times the corpus",
    ]
    if best is not None and best is not chosen:
        label, tied = best.result.cell.label, len(summary.tied)
        lines.insert(1, f"the best, {label}, has {_share(best)}: this can't be told from it, and is the cheapest of {tied}")
    elif len(summary.tied) > 1:
        others = len(summary.tied) - 1
        lines.insert(1, f"the best, and cheaper than the {others} other{'s' if others > 1 else ''} that can't be told from it")
    return Card("What to ship", chosen.result.cell.label, tuple(lines))


def _of_size(wanted: int, chosen: Standing, summary: Summary) -> Standing | None:
    """The cell that differs in size alone and comes nearest to `wanted`, within an eighth of it: 128 is the half of 250."""
    others = [item for item in summary.standings if item.result.cell.size and _alike(item.result.cell, chosen.result.cell)]
    near = [(abs(item.result.cell.size - wanted), place, item) for place, item in enumerate(others) if item.result.cell.size]
    gap, _, found = min(near, default=(wanted, 0, None))
    return found if gap <= wanted / 8 else None


def _half(chosen: Standing, summary: Summary) -> Card | None:
    size = chosen.result.cell.size
    if size is None:
        return None
    half = _of_size(size // 2, chosen, summary)
    asks = f"At half its size ({size // 2 if half is None else half.result.cell.size})"
    if half is None:
        return Card(asks, "not measured", (f"size={size // 2} would have to be measured to know what it would cost",))
    found = compare(half.result, chosen.result, summary.select.metric)
    gap = found.paired
    real = "a real difference" if gap.p < summary.select.alpha else "chance could explain it"
    lines = [
        f"{spoken(summary.select.metric)}: {number(found.second, 3)} → {number(found.first, 3)} "
        f"(95% of the change {gap.low:+.3f} to {gap.high:+.3f}, {p_value(gap.p)}: {real})",
        f"{len(found.lost)} questions lost, {len(found.gained)} gained",
        _costs(chosen.result, half.result),
    ]
    return Card(asks, f"{gap.difference:+.3f}", tuple(lines), (chosen.result.key, half.result.key))


def _alike(one: Cell, other: Cell) -> bool:
    """Whether two cells differ in nothing but their size (and in what an overlap that is a share of it comes to)."""
    return _without_size(one) == _without_size(other)


def _without_size(cell: Cell) -> str:
    config = {name: value for name, value in cell.config.items() if name not in ("size", "strategy")}
    strategy = cell.config.get("strategy")
    inner = {name: value for name, value in strategy.items() if name != "size"} if isinstance(strategy, dict) else strategy
    overlap = None if "overlap" in cell.config else cell.overlap
    return json.dumps([cell.strategy, cell.embedder, cell.retriever, cell.unit, config, inner, overlap], sort_keys=True, default=str)


def _costs(before: CellResult, after: CellResult) -> str:
    parts = []
    for metric, words, digits in (("context_tokens_at_5", "context tokens for 5 chunks", 0), ("storage_ratio", "times the corpus stored", 2)):
        parts.append(f"{number(before.metrics.get(metric), digits)} → {number(after.metrics.get(metric), digits)} {words}")
    return "; ".join(parts)


def _against(asks: str, other: Standing, chosen: Standing, summary: Summary) -> Card:
    """Another cell held against the named one: by how much, at which cost, and what it loses its questions by."""
    metric = summary.select.metric
    found = compare(other.result, chosen.result, metric)
    ours, theirs = column(chosen.result, metric), column(other.result, metric)
    cut = (other.result.questions["attribution"] == CHUNKING_MISS).to_numpy()
    chunking, worse, better = int(((ours > theirs) & cut).sum()), int((ours > theirs).sum()), int((theirs > ours).sum())
    lines = (
        _gap(other, chosen, found.paired, summary),
        f"against the named cell it loses {worse} questions{_because(chunking, worse - chunking)} and wins {better}",
        _costs(chosen.result, other.result),
    )
    return Card(asks, other.result.cell.label, lines, (chosen.result.key, other.result.key))


def _gap(other: Standing, chosen: Standing, gap: Paired, summary: Summary) -> str:
    """How far off it is: from the named cell where chance explains that, otherwise from the best, by which ties are told."""
    if other.tied or chosen is summary.winner:
        side = "ahead of" if gap.difference > 0 else "behind"
        chance = "chance could explain that" if other.tied else "more than chance explains"
        return f"{number(abs(gap.difference), 3)} {side} the named cell (95% of the gap {gap.low:+.3f} to {gap.high:+.3f}): {chance}"
    low, high = number(other.behind_low, 3), number(other.behind_high, 3)
    return f"{number(other.behind, 3)} behind the best (95% {low} to {high}): more than chance explains"


def _because(chunking: int, ranking: int) -> str:
    """Why a cell does worse on questions: no chunk holds the answer, or its chunk came too late."""
    parts = []
    if chunking:
        parts.append(f"{chunking} cut by its chunks")
    if ranking:
        parts.append(f"{ranking} whole in its chunks, but ranked too low")
    return f" ({', '.join(parts)})" if parts else ""


def _share(item: Standing) -> str:
    return f"{number(item.value, 3)} (95% {number(item.low, 3)} to {number(item.high, 3)})"
