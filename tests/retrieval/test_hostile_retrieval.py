"""Values that mean nothing are refused by key, and odd texts, empty pools and retrievers around retrievers leave rankings whole."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from omegaconf import OmegaConf
from retrieval_toys import NO_PROBES, lists, pool_of

from harness.errors import ConfigError
from harness.filters import check_filter
from harness.hydra_front.workshop import build_part
from harness.retrieval.base import Queries, Retriever, Shelf
from harness.retrieval.bm25 import Bm25Retriever
from harness.retrieval.collapse import CollapseRetriever
from harness.retrieval.controls import RandomRetriever
from harness.retrieval.dense import DenseRetriever
from harness.retrieval.hnsw import HnswRetriever
from harness.retrieval.hybrid import HybridRetriever
from harness.retrieval.mmr import MmrRetriever
from harness.retrieval.recency import RecencyRetriever
from harness.retrieval.related import RelatedRetriever
from harness.types import Candidates, Document

TEXTS = ["", "   ", "\n", "👩‍👩‍👧 ok", "שלום עולם", "漢字かな", "a" * 5000, "\x00 ctrl", "foo bar baz", "foo foo bar", "ไทยภาษา", "été"] * 2
QUESTIONS = ("", "  ", "👩‍👩‍👧", "foo bar", "שלום", "漢字", "zzz", "\x00", "ÉTÉ")
DENSE, WORDS = DenseRetriever(), Bm25Retriever()
HUGE = 10**23


def shelf() -> Shelf:
    vectors = np.random.default_rng(3).normal(size=(len(TEXTS), 8)).astype(np.float32)
    vectors[7] = vectors[3]
    dates = ["2024", "2025-02", "2026-01-01T00:00:00+05:00", None]
    documents = tuple(Document(f"d{n}", "x", metadata={"date": dates[n % 4], "related": [f"d{(n + 1) % 12}", "gone"]}) for n in range(12))
    return Shelf(np.arange(len(TEXTS)) // 2, tuple(TEXTS), vectors, documents=documents)


@pytest.mark.parametrize(
    "retriever",
    [
        HybridRetriever(HnswRetriever(exact_below=0, ef_search=2**31 - 1, ef_construction=2**31 - 1), WORDS),
        MmrRetriever(MmrRetriever(MmrRetriever(WORDS, depth=4), depth=5), depth=2**31 - 1),
        CollapseRetriever(CollapseRetriever(CollapseRetriever(DENSE), share=1e-300, width=1), width=2**31 - 1),
        RecencyRetriever(RelatedRetriever(HybridRetriever(RandomRetriever(), CollapseRetriever(DENSE)))),
        RelatedRetriever(RelatedRetriever(RelatedRetriever(DENSE, backward=True), from_top=50, each=2**31 - 1), each=2),
        HybridRetriever(RandomRetriever(10**40), RecencyRetriever(DENSE, today="9999-12-31", half_life_days=1e-320), method="weighted"),
    ],
    ids=lambda retriever: type(retriever).__name__,
)
def test_retrievers_around_retrievers_rank_each_candidate_once_and_deeper_goes_on_from_shallower(retriever: Retriever) -> None:
    held, random = shelf(), np.random.default_rng(5)
    masks = np.stack([np.ones(12, dtype=bool), random.random(12) < 0.5, np.zeros(12, dtype=bool)])
    candidates = Candidates(np.arange(len(QUESTIONS)) % 3, masks)
    queries = Queries(QUESTIONS, random.normal(size=(len(QUESTIONS), 8)).astype(np.float32))
    index = held.index(retriever)
    whole = lists(index.search(queries, candidates, 1000, NO_PROBES))
    assert [sorted(found) for found in whole] == [pool_of(held, candidates, number) for number in range(len(QUESTIONS))]
    for depth in (0, 1, 3, 8):
        found = index.search(queries, candidates, depth, NO_PROBES)
        assert lists(found) == [chunks[:depth] for chunks in whole]
        assert all(np.isfinite(part).all() and (np.diff(part) <= 0).all() for part in np.split(found.score, found.indptr[1:-1]))


@pytest.mark.parametrize(
    ("target", "values", "key"),
    [
        ("bm25.Bm25Retriever", {"k1": 1e308}, "k1"),
        ("bm25.Bm25Retriever", {"delta": 1e308, "method": "bm25+"}, "delta"),
        ("bm25.Bm25Retriever", {"k1": 10**400}, "k1"),
        ("bm25.Bm25Retriever", {"stopwords": ["en"]}, "stopwords"),
        ("hybrid.HybridRetriever", {"depth": HUGE}, "depth"),
        ("hybrid.HybridRetriever", {"rrf_k": 1e308}, "rrf_k"),
        ("mmr.MmrRetriever", {"depth": HUGE}, "depth"),
        ("hnsw.HnswRetriever", {"m": 10**9}, "m"),
        ("hnsw.HnswRetriever", {"ef_search": 2**31}, "ef_search"),
        ("recency.RecencyRetriever", {"field": ["a"]}, "field"),
        ("recency.RecencyRetriever", {"field": None}, "field"),
        ("related.RelatedRetriever", {"field": {"a": 1}}, "field"),
        ("related.RelatedRetriever", {"from_top": HUGE}, "from_top"),
        ("rerank.RerankRetriever", {"model": None}, "model"),
        ("rerank.RerankRetriever", {"model": ""}, "model"),
        ("rerank.RerankRetriever", {"model": "m", "trust_remote_code": "no"}, "trust_remote_code"),
    ],
)
def test_a_value_that_cannot_work_is_refused_by_its_key(target: str, values: dict[str, Any], key: str) -> None:
    inner = {"_target_": "harness.retrieval.dense.DenseRetriever"}
    held = {} if target.startswith(("bm25", "hnsw")) else {"first": inner, "second": inner} if target.startswith("hybrid") else {"first": inner}
    node = OmegaConf.create({"_target_": f"harness.retrieval.{target}", **held, **values})
    with pytest.raises(ConfigError, match=rf"^retriever\.{key}="):
        build_part("retriever", node)
    around = OmegaConf.create({"_target_": "harness.retrieval.mmr.MmrRetriever", "first": node})
    with pytest.raises(ConfigError, match=rf"^retriever\.(first\.)?{key}="):
        build_part("retriever", around)


@pytest.mark.parametrize(
    ("target", "values", "key"),
    [
        ("hashed", {"dim": [1]}, "dim"),
        ("hashed", {"dim": HUGE}, "dim"),
        ("hashed", {"storage": ["int8"]}, "storage"),
        ("from_endpoint", {"base_url": "http://localhost/v1", "model": ["a"]}, "model"),
        ("from_static", {"model": None}, "model"),
        ("from_model", {"model": "m", "trust_remote_code": "no"}, "trust_remote_code"),
    ],
)
def test_embedders_refuse_by_key_too(target: str, values: dict[str, Any], key: str) -> None:
    with pytest.raises(ConfigError, match=rf"^embedder\.{key}="):
        build_part("embedder", OmegaConf.create({"_target_": f"harness.embedding.{target}", **values}))


def test_a_filter_for_the_run_that_shuts_everything_out_is_refused() -> None:
    documents = [Document("a", "x", metadata={"status": "current", "tags": [["nested"], {"of": 1}]})]
    for wanted, message in [
        ({"staus": "current"}, r"filter\.staus=current: no document has this field; one of doc, status, tags"),
        ({"status": "lost"}, "lets no document pass"),
        ({"status": []}, "lets no document pass"),
        ({"status": None}, "lets no document pass"),
    ]:
        with pytest.raises(ConfigError, match=message):
            check_filter(documents, wanted)
    check_filter(documents, {})
    check_filter(documents, {"tags": [["nested"]], "status": {"gte": "a"}})
