"""The verdict in plain words: what won, whether that is real, what it costs, where to look next."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from harness.caveats import some
from harness.course import Course
from harness.report.refusing import refusing
from harness.report.searching import searching
from harness.report.tables import headings, leaderboard, markdown, number, p_value
from harness.report.unmeasured import unmeasured
from harness.summary import NO_CHUNK, no_winner
from harness.sweep import Standing, Summary

_NAMED = 6
_WORTH_NAMING = 0.05
_WHOLE = 1.1
"""Shares are estimates, corrected for chance one by one; where they come to more than this, cells are missing from the grid and nothing is said."""
_WORTH_TELLING = 0.05
"""How far behind the best a tied cell may be before that is said."""


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and its lines."""

    title: str
    lines: tuple[str, ...]


def course(run: Course) -> str:
    """How many cells ran, were reused, skipped or failed, in one line."""
    parts = [f"{len(run.ran)} ran"]
    if run.reused:
        parts.append(f"{len(run.reused)} reused")
    if run.twins:
        parts.append(f"{len(run.twins)} twins of others")
    if run.impossible:
        parts.append(f"{len(run.impossible)} impossible")
    if run.screened is not None:
        parts.append(f"{len(run.screened.cells)} screened out")
    if run.failures:
        parts.append(f"{len(run.failures)} FAILED")
    return f"{', '.join(parts)}, in {duration(run.seconds)}" + (" (stopped early)" if run.stopped else "")


def duration(seconds: float) -> str:
    """Seconds for people."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    minutes = seconds / 60
    return f"{minutes:.0f} min" if minutes < 100 else f"{minutes / 60:.1f} h"


def sections(summary: Summary, run: Course, next_steps: Sequence[str] = ()) -> list[Section]:
    """Everything that the end of a sweep says, in order."""
    cells = (course(run), *_spent(run), *_not_run(run), *unmeasured(run))
    steps = [*([] if run.screened else _edges(summary)), *next_steps]
    return _told(("Cells", cells), *_found(summary), ("Warnings", [*summary.warnings, *run.warnings]), ("Next", steps))


def result_sections(summary: Summary) -> list[Section]:
    """What can be said from stored results alone."""
    return _told(*_found(summary), ("Warnings", summary.warnings), ("Next", _edges(summary)))


def _found(summary: Summary) -> list[tuple[str, Sequence[str]]]:
    return [
        ("Winner", _winner(summary)),
        ("How sure", _how_sure(summary)),
        ("Ways of searching", searching(summary)),
        ("Refusing", refusing(summary)),
    ]


def _told(*parts: tuple[str, Sequence[str]]) -> list[Section]:
    return [Section(title, tuple(lines)) for title, lines in parts if lines]


def _spent(run: Course) -> list[str]:
    """What retrieval cost where chunks were searched in several ways: those were made and embedded once."""
    if len(run.searched) <= len(run.prepared):
        return []
    sets, tokens = len(run.prepared), _thousands(sum(run.prepared))
    made = f"{sets} set{'s' if sets > 1 else ''} of chunks made and embedded ({tokens} tokens through the model)"
    return [f"{made}, searched {len(run.searched)} times in {duration(sum(run.searched))}"]


def _not_run(run: Course) -> list[str]:
    lines = [f"impossible: {item.cell.label}: {item.reason}" for item in run.impossible]
    lines += [f"twin: {cell.label} makes the same cell as {label}" for cell, label in run.twins]
    return lines + [f"FAILED: {item.cell.label}: {item.problem}" for item in run.failures]


def _winner(summary: Summary) -> list[str]:
    best, metric = summary.winner, summary.select.metric
    if best is None:
        return [no_winner(summary)]
    lines = []
    if len(summary.standings) == 1:
        return [f"One cell: {_with_value(best, metric)}. Nothing to compare it with."]
    if not summary.decided:
        return ["Every cell made the very same chunks: there is nothing to choose between.", f"All of them: {_with_value(best, metric)}."]
    lines.append(f"Best by {metric}: {_with_value(best, metric)}.")
    others = [item for item in summary.tied if item is not best]
    if others:
        named = ", ".join(item.result.cell.label for item in others[:_NAMED]) + (f" and {len(others) - _NAMED} more" if len(others) > _NAMED else "")
        lines.append(f"Can't be told from it ({len(others)} of {len(summary.standings) - 1}): {named}.")
    elif any(not item.broken for item in summary.standings if item is not best):
        lines.append("Every other cell is behind it by more than chance explains.")
    if summary.cheapest is not None:
        lines += [_choice(summary.cheapest, best), *_at_a_price(summary.cheapest, best)]
    lines += _front(summary)
    if summary.select.metric != "complete_within_2048":
        lines.append(f"Chosen by {metric}, as asked; the default is complete_within_2048.")
    lines += [f"Same chunks, so no ranking among them: {', '.join(group)}." for group in summary.same_chunks]
    return lines


def _front(summary: Summary) -> list[str]:
    """What limits shut out, and where quality gets dear."""
    broken = [f"{item.result.cell.label} ({'; '.join(item.broken)})" for item in summary.standings if item.broken and NO_CHUNK not in item.broken]
    lines = [f"Left out by a limit ({len(broken)}): {some(broken)}."] if broken else []
    empty = [item.result.cell.label for item in summary.standings if NO_CHUNK in item.broken]
    lines += [f"Left out, for no chunk was made ({len(empty)}): {some(empty)}."] if empty else []
    bend = next((item for item in summary.standings if item.result.key == summary.knee), None)
    if bend is not None:
        lines.append(
            f"{len(summary.front)} cells are on the Pareto front (quality, context tokens, storage, tokens to embed); past "
            f"{bend.result.cell.label} more context buys little."
        )
    return lines


def _with_value(item: Standing, metric: str) -> str:
    n = item.result.counts.get(metric)
    return f"{item.result.cell.label}, {number(item.value, 3)} (95% {number(item.low, 3)} to {number(item.high, 3)}, n={n})"


def _choice(item: Standing, best: Standing) -> str:
    metrics = item.result.metrics
    which = "It" if item is best else f"The cheapest of these is {item.result.cell.label}: it"
    return (
        f"{which} reads {number(metrics.get('context_tokens_at_5'), 0)} context tokens for 5 chunks, "
        f"stores {number(metrics.get('storage_ratio'), 2)} times the corpus in {number(metrics.get('chunks'), 0)} chunks, "
        f"and embeds {_thousands(metrics.get('embedding_tokens'))} tokens."
    )


def _thousands(tokens: float | None) -> str:
    return f"{tokens:,.0f}" if tokens is not None and math.isfinite(tokens) else "-"


def _at_a_price(item: Standing, best: Standing) -> list[str]:
    """Being tied is no proof of being as good: with few questions a cell may be tied that is far behind."""
    behind = best.value - item.value
    if item is best or behind < _WORTH_TELLING:
        return []
    return [
        f"Mind that it scores {number(behind, 3)} less than the best: so few questions can't say whether that is chance. "
        "Label more, or take the best where quality counts for more than cost."
    ]


def _how_sure(summary: Summary) -> list[str]:
    if summary.winner is None:
        return []
    lines = [*_against_baseline(summary), *_corrected(summary)]
    if math.isfinite(summary.detectable) and len(summary.standings) > 1:
        lines.append(
            f"{summary.questions} questions ({summary.clusters}) {_shown(summary)} 4 times in 5"
            + (f"; for {number(0.05, 2)} about {summary.needed} questions are needed." if summary.needed and summary.detectable > 0.05 else ".")
        )
    runner_up = next((item for item in summary.standings if not item.tied and not item.broken), None)
    if runner_up is not None:
        lines.append(
            f"The first cell that is really behind: {runner_up.result.cell.label}, by {number(runner_up.behind, 3)} "
            f"(95% {number(runner_up.behind_low, 3)} to {number(runner_up.behind_high, 3)})."
        )
    return lines


def _shown(summary: Summary) -> str:
    """What this many questions can do: with two cells show a difference, with more single out a winner."""
    size = number(summary.detectable, 3)
    if len(summary.standings) == 2:
        return f"show a difference of {size} or more"
    return f"single out a winner that is {size} ahead of every other cell"


def _corrected(summary: Summary) -> list[str]:
    """What the winner is likely to score on other questions, and what the spread between the cells is due to."""
    lines, found = [], summary.corrected
    if found is not None and math.isfinite(found.value) and summary.decided and number(found.value, 3) != number(found.apparent, 3):
        low, high = number(found.low, 3), number(found.high, 3)
        rivals = sum(not item.broken for item in summary.standings)
        lines.append(
            f"The best of {rivals} looks better than it is: on other questions like these expect {number(found.value, 3)} "
            f"(95% {low} to {high}) of {summary.select.metric}, not {number(found.apparent, 3)}."
        )
    shares = [(term.share, term.name) for term in summary.effects.terms if term.share >= _WORTH_NAMING] if summary.effects else []
    if shares and sum(share for share, _ in shares) <= _WHOLE:
        told = ", ".join(f"{name} {min(share, 1.0):.0%}" for share, name in sorted(shares, reverse=True))
        over = " (estimated one by one, so they need not add up to 100%)" if sum(share for share, _ in shares) > 1 else ""
        lines.append(f"What the spread between the cells is due to: {told}{over}.")
    return lines


def _against_baseline(summary: Summary) -> list[str]:
    name = str(summary.select.baseline)
    if summary.baseline is None:
        return [f"{name[0].upper()}{name[1:]} is not among these cells, so nothing is said against it."]
    if summary.baseline_gap is None:
        return [f"The named cell is {name} itself."]
    gap = summary.baseline_gap
    real = "a real difference" if gap.p < summary.select.alpha else "chance could explain it"
    side = "ahead of" if gap.difference >= 0 else "behind"
    low, high = (gap.low, gap.high) if gap.difference >= 0 else (-gap.high, -gap.low)
    return [f"The named cell is {number(abs(gap.difference), 3)} {side} {name}: 95% {number(low, 3)} to {number(high, 3)}, {p_value(gap.p)}, {real}."]


def _edges(summary: Summary) -> list[str]:
    """Where the best size is the smallest or the largest that was tried, the optimum may lie outside."""
    best = summary.cheapest
    if best is None or best.result.cell.size is None or not summary.decided:
        return []
    sizes = sorted({item.result.cell.size for item in summary.standings if item.result.cell.size is not None})
    if len(sizes) < 2:
        return []
    if best.result.cell.size == sizes[0]:
        return [f"The named size is the smallest of the grid: try {max(sizes[0] // 2, 1)} as well."]
    if best.result.cell.size == sizes[-1]:
        return [f"The named size is the largest of the grid: try {sizes[-1] * 2} as well."]
    return []


def note(summary: Summary, run: Course) -> str:
    """The verdict and the leaderboard in Markdown, for MLflow's page and verdict.md.

    The winner comes first: MLflow's page shows a few lines of a note and folds the rest away.
    """
    told = {section.title: [f"### {section.title}", "", *(f"- {line}" for line in section.lines), ""] for section in sections(summary, run)}
    table = markdown(headings(), leaderboard(summary))
    board = ["### Leaderboard", "", table, "", "1: the best; =: can't be told from it; *: the cheapest of these.", ""]
    winner = told.pop("Winner", [])
    return "\n".join([*winner, *board, *(line for lines in told.values() for line in lines)])
