"""Whether the way of searching moves which chunks are best: the best cell of each, and what the winner's chunks lose under the others."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from harness.curves import column
from harness.statistics.paired import Paired, paired
from harness.statistics.resampling import Resampler
from harness.summary import Standing, Way
from harness.types import Cell


@dataclass(frozen=True, slots=True)
class _Searched:
    """The cells of one way of searching, best first."""

    name: str
    items: list[Standing]


def ways(standings: Sequence[Standing], metric: str, resampler: Resampler) -> tuple[Way, ...]:
    """Every way of searching that was tried on several sets of chunks, in the order of its best cell; none where there is only one.

    `gap`: its best cell less the one that searches the winner's chunks in this way, paired. It is not corrected for the best having been picked,
    which makes it larger than it is.
    """
    found = [way for way in _searched(standings) if len({item.result.chunk_digest for item in way.items}) > 1]
    if len(found) < 2:
        return ()
    chunks = found[0].items[0].result.chunk_digest
    return tuple(Way(way.name, way.items[0], _gap(way.items, chunks, metric, resampler)) for way in found)


def _searched(standings: Sequence[Standing]) -> list[_Searched]:
    """The standings that keep the limits by how they search, embedder apart: it is an axis of its own that moves the size of a token."""
    groups: dict[str, list[Standing]] = defaultdict(list)
    for item in standings:
        if not item.broken:
            groups[item.result.cell.retrieval].append(item)
    return [_Searched(_name(items[0].result.cell), items) for items in groups.values()]


def _name(cell: Cell) -> str:
    """The retriever with what was typed of it, and the embedder."""
    typed = [word for word in cell.label.split() if word.startswith(("retriever", "embedder.", "scope=", "filter="))]
    return " ".join([cell.retriever, *typed, "on", cell.embedder])


def _gap(items: Sequence[Standing], chunks: str, metric: str, resampler: Resampler) -> Paired | None:
    """None where the winner's chunks were not searched in this way, or are the best in it."""
    same = next((item for item in items if item.result.chunk_digest == chunks), None)
    if same is None or same is items[0]:
        return None
    return paired(column(items[0].result, metric), column(same.result, metric), resampler)
