"""Fusion of two rankings against the formulas written out, and what every retriever around others passes on."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hydra import compose, initialize_config_dir
from hydra.utils import instantiate
from retrieval_toys import NO_PROBES, Written, everything, lists, numbered, pool_of, ranked, shelf_of, some, written

from harness.errors import ConfigError
from harness.retrieval.base import Remembers, Retriever
from harness.retrieval.collapse import CollapseRetriever
from harness.retrieval.hybrid import HybridRetriever
from harness.retrieval.mmr import MmrRetriever
from harness.retrieval.recency import RecencyRetriever
from harness.retrieval.related import RelatedRetriever

CONF = Path(__file__).resolve().parents[2] / "conf"


def order_of(scores: tuple[float, ...], pool: list[int]) -> list[int]:
    return sorted(pool, key=lambda chunk: (-scores[chunk], chunk))


def fused(orders: list[list[int]], scores: list[tuple[float, ...]], method: str, weights: tuple[float, float], rrf_k: float, depth: int) -> list[int]:
    """The ranking of all candidates, as the docstring of the retriever says it."""
    total: dict[int, float] = {}
    for order, score, weight in zip(orders, scores, weights, strict=True):
        head = order[:depth]
        high, low = (score[head[0]], score[head[-1]]) if head else (0.0, 0.0)
        for place, chunk in enumerate(head, start=1):
            gain = 1 / (rrf_k + place) if method == "rrf" else weight * ((score[chunk] - low) / (high - low) if high > low else 0.0)
            total[chunk] = total.get(chunk, 0.0) + gain
    rest = sorted((min(order.index(chunk) for order in orders), chunk) for chunk in orders[0] if chunk not in total)
    return sorted(total, key=lambda chunk: (-total[chunk], chunk)) + [chunk for _, chunk in rest]


@pytest.mark.parametrize("method", ["rrf", "weighted"])
@pytest.mark.parametrize("weight", [0.2, 0.5, 0.9])
@pytest.mark.parametrize("depth", [1, 8, 25, 1000])
def test_fusion_is_its_formula(method: Any, weight: float, depth: int) -> None:
    random = np.random.default_rng(depth)
    shelf, candidates = shelf_of([""] * 60), some(random, 15, 60)
    first, second = written(random, 15, 60), written(random, 15, 60, levels=9)
    made = HybridRetriever(first, second, method, rrf_k=7, weight=weight if method == "weighted" else None, depth=depth)
    found, astray = ranked(made, shelf, numbered(15), candidates), 0
    for question in range(15):
        pool = pool_of(shelf, candidates, question)
        scores = [first.scores[question], second.scores[question]]
        orders = [order_of(score, pool) for score in scores]
        assert found[question] == fused(orders, scores, method, (weight, 1 - weight), 7, depth)
        astray += found[question] != fused(orders[::-1], scores[::-1], method, (weight, 0.7 - weight), 60, depth + 5)
    assert astray > 5, "the comparison would notice other parameters"
    assert ranked(made, shelf, numbered(15), candidates, 20) == [order[:20] for order in found]


def test_a_score_is_the_sum_of_reciprocal_places() -> None:
    retriever = HybridRetriever(Written(((3.0, 2.0, 1.0),)), Written(((1.0, 2.0, 3.0),)))
    ranking = retriever.build(shelf_of([""] * 3)).search(numbered(1), everything(1, 3), 3, NO_PROBES)
    assert lists(ranking) == [[0, 2, 1]]
    assert ranking.score.tolist() == pytest.approx([1 / 61 + 1 / 63, 1 / 61 + 1 / 63, 2 / 62])


def test_all_the_weight_on_one_is_that_one() -> None:
    random = np.random.default_rng(4)
    first, second = written(random, 10, 50), written(random, 10, 50)
    shelf, candidates = shelf_of([""] * 50), some(random, 10, 50)
    for depth in (5, 100):
        for weight, alone in ((1.0, first), (0.0, second)):
            made = HybridRetriever(first, second, "weighted", weight=weight, depth=depth)
            assert ranked(made, shelf, numbered(10), candidates) == ranked(alone, shelf, numbered(10), candidates)
            assert made.build(shelf).nbytes == 1000
        both = HybridRetriever(first, second, "weighted", weight=0.5)
        assert ranked(both, shelf, numbered(10), candidates) != ranked(first, shelf, numbered(10), candidates)


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"weight": 1.2}, r"retriever\.weight=1\.2: a number from 0 to 1 would do"),
        ({"weight": math.nan}, r"retriever\.weight=nan"),
        ({"weight": True}, r"retriever\.weight=true"),
        ({"weight": 0.3}, r"retriever\.weight=0\.3: counts with retriever\.method=weighted only"),
        ({"method": "sum"}, r"retriever\.method=sum: rrf or weighted"),
        ({"rrf_k": -1}, r"retriever\.rrf_k=-1: a number from 0 to 1,000,000 would do"),
        ({"depth": 0}, r"retriever\.depth=0: a whole number from 1 up would do"),
        ({"depth": 2.5}, r"retriever\.depth=2\.5"),
        ({"first": "hnsw"}, r"retriever\.first=hnsw: must be a retriever; retriever@retriever\.first=hnsw would do"),
        ({"second": None}, r"retriever\.second=null: must be a retriever; retriever@retriever\.second=dense would do"),
    ],
)
def test_values_that_mean_nothing_are_refused(settings: dict[str, Any], problem: str) -> None:
    toy = Written(())
    with pytest.raises(ConfigError, match=problem):
        HybridRetriever(**{"first": toy, "second": toy, **settings})


@pytest.mark.parametrize("around", [MmrRetriever, CollapseRetriever, RecencyRetriever, RelatedRetriever])
def test_whoever_holds_one_that_remembers_passes_it_on(around: Any) -> None:
    made: Retriever = HybridRetriever(around(around(Written(()))), Written(()), "weighted", weight=0.25)
    assert isinstance(made, Remembers)
    told: Any = made.remembering(lambda identity, width: pytest.fail("nothing is stored yet"))
    assert told.first.first.first.remembers
    assert told.second.remembers
    assert told.weight == 0.25
    assert not told.first.first.first.build(shelf_of([])).doc.size


@pytest.mark.parametrize("around", [MmrRetriever, CollapseRetriever, RecencyRetriever, RelatedRetriever])
def test_any_holds_any_and_what_several_hold_is_built_once(around: Any) -> None:
    random = np.random.default_rng(2)
    toy = written(random, 6, 40)
    shelf = shelf_of([f"text {number}" for number in range(40)])
    made = around(HybridRetriever(around(toy), toy))
    index = shelf.index(made)
    assert shelf.index(around(HybridRetriever(around(toy), toy))) is index
    assert len(shelf._built) == 4, "the toy, what is around it, their fusion, and what is around that"
    for order in ranked(made, shelf, numbered(6), everything(6, 40)):
        assert sorted(order) == list(range(40))


@pytest.mark.parametrize(
    ("overrides", "names"),
    [
        (["+retriever=hybrid", "retriever@retriever.first=bm25"], ["HybridRetriever", "Bm25Retriever", "Bm25Retriever"]),
        (["+retriever=hybrid", "retriever.method=weighted", "retriever.weight=0.3"], ["HybridRetriever", "DenseRetriever", "Bm25Retriever"]),
        (["+retriever=mmr", "retriever@retriever.first=hybrid"], ["MmrRetriever", "HybridRetriever"]),
        (["+retriever=recency", "retriever@retriever.first=collapse_duplicates"], ["RecencyRetriever", "CollapseRetriever"]),
    ],
)
def test_parts_are_named_on_the_command_line(overrides: list[str], names: list[str]) -> None:
    with initialize_config_dir(str(CONF), version_base="1.3"):
        made = instantiate(compose(None, overrides=overrides).retriever)
    held = [made, made.first, getattr(made, "second", None)]
    assert [type(part).__name__ for part in held][: len(names)] == names
