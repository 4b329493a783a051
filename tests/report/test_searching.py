"""What a sweep over ways of searching says: whether each wants other chunks than the best cell's."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from test_sweep import hits, made_up, summed

from harness.report.searching import searching
from harness.summary import Summary
from harness.types import CellResult


def by(retriever: str, result: CellResult, **settings: object) -> CellResult:
    typed = "".join(f" retriever.{name}={value}" for name, value in settings.items())
    cell = result.cell
    held = replace(
        cell, retriever=retriever, label=f"{cell.label} {retriever}{typed}", config={**cell.config, "retriever": {"of": retriever, **settings}}
    )
    return replace(result, cell=held, key=held.label)


def grid(**found: tuple[int, int]) -> Summary:
    """For each retriever, how many questions size 64 and size 256 complete."""
    made = []
    for name, (small, large) in found.items():
        made += [by(name, made_up(hits(small), size=64, chunks="small")), by(name, made_up(hits(large), size=256, chunks="large"))]
    return summed(*made)


def test_a_way_that_wants_the_same_chunks_is_said_to() -> None:
    told = searching(grid(dense=(40, 70), bm25=(30, 60)))
    assert told == [
        "dense on minilm: .875 with recursive size=256 overlap=0",
        "bm25 on minilm: .750 with recursive size=256 overlap=0",
        "None of them wants other chunks than the best cell's by more than chance explains.",
    ]


def test_a_way_that_wants_other_chunks_is_named_with_the_difference() -> None:
    summary = grid(dense=(40, 70), bm25=(60, 30))
    told = searching(summary)
    way = summary.ways[1]
    assert way.gap is not None
    assert way.gap.difference == 30 / 80
    assert "the best cell's chunks are .375 behind that (95% " in told[1]
    assert told[-1] == "Other chunks than the best cell's are better with bm25 on minilm: choose chunks and search together."
    assert searching(grid(dense=(40, 70), bm25=(31, 30)))[1].endswith("the best cell's chunks are .013 behind that, which chance could explain")


def test_one_way_or_one_set_of_chunks_says_nothing() -> None:
    assert searching(grid(dense=(40, 70))) == []
    assert searching(summed(by("dense", made_up(hits(40), chunks="a")), by("bm25", made_up(hits(50), chunks="a")))) == []
    assert searching(summed(made_up(np.zeros(80), size=64), by("bm25", made_up(np.zeros(80), size=128)))) == []


def test_settings_of_one_retriever_are_ways_of_their_own() -> None:
    made = []
    for weight in (0.1, 0.9):
        made += [by("hybrid", made_up(hits(count), size=count, chunks=f"{count}"), weight=weight) for count in (40, 60)]
    assert [line.split(":")[0] for line in searching(summed(*made))[:2]] == [
        "hybrid retriever.weight=0.1 on minilm",
        "hybrid retriever.weight=0.9 on minilm",
    ]
