"""Every metric against plain loops on random small cases, and rank measures against pytrec_eval."""

from __future__ import annotations

import numpy as np
import pytest
import pytrec_eval
from hypothesis import given, settings
from hypothesis import strategies as st
from metric_toys import Plain, characters, chunks_of, corpus_of, random_case, ranked

from harness.metrics.scoring import score

KS, BUDGETS = (1, 2, 3, 20), (1, 3, 7, 12, 60)
BOUNDED = settings(max_examples=80, deadline=None)
SEEDS = st.integers(0, 10**9)


def scored(seed, copies="any"):
    corpus, chunks, rulers, scores, depth = random_case(seed)
    candidates, relevance, ranking = ranked(corpus, chunks, scores, depth, copies)
    found = score(corpus, chunks, candidates, relevance, ranking, rulers, ks=KS, budgets=BUDGETS)
    plain = [Plain(corpus, chunks, candidates, ranking, rulers, question, copies) for question in range(len(corpus.questions))]
    return found, list(zip(found.questions.to_dict("records"), plain, strict=True)), relevance


@BOUNDED
@given(SEEDS, st.sampled_from(["any", "labelled"]))
def test_what_the_reader_has_at_every_k(seed, copies):
    for row, plain in scored(seed, copies)[1]:
        for k in KS:
            top = plain.order[:k]
            assert row["attribution"] == plain.fate(plain.order[:5])
            if not plain.answers:
                assert np.isnan(row[f"complete_at_{k}"])
                assert np.isnan(row[f"char_iou_at_{k}"])
                continue
            assert row[f"complete_at_{k}"] == plain.complete(top)
            assert row[f"recall_at_{k}"] == pytest.approx(plain.recall(top))
            assert [row[f"char_{name}_at_{k}"] for name in ("recall", "precision", "iou")] == pytest.approx(plain.characters(top))
            assert [row[f"chroma_{name}_at_{k}"] for name in ("recall", "precision", "iou")] == pytest.approx(plain.chroma(plain.raw[:k]))
            assert row[f"context_tokens_at_{k}"] == sum(map(plain.size, top))
            if all(len(answer) > 1 for answer in plain.answers):
                assert row[f"half_answer_rate_at_{k}"] == plain.half(top)
            else:
                assert np.isnan(row[f"half_answer_rate_at_{k}"])
            if plain.multi:
                assert np.isnan(row[f"hit_rate_at_{k}"])
                assert np.isnan(row[f"chunking_miss_rate_at_{k}"])
            else:
                assert row[f"hit_rate_at_{k}"] == any(map(plain.whole, top))
                fates = [row[f"{name}_at_{k}"] for name in ("hit_rate", "assembled_rate", "chunking_miss_rate", "ranking_miss_rate")]
                assert fates == [plain.fate(top) == fate for fate in ("in one chunk", "assembled", "chunking miss", "ranking miss")]


@BOUNDED
@given(SEEDS)
def test_what_the_chunking_allows(seed):
    for row, plain in scored(seed)[1]:
        if plain.answers:
            assert row["answer_coverage"] == pytest.approx(plain.coverage())
            assert row["precision_omega"] == pytest.approx(plain.omega())
            pieces = [any(plain.holds(span, piece) for span in plain.chunks) for answer in plain.answers for piece in answer]
            assert row["evidence_existence"] == pytest.approx(np.mean(pieces))
            if not plain.multi:
                assert row["answer_existence"] == any(map(plain.whole, plain.chunks))
                assert row["answer_existence"] <= row["answer_coverage"] + 1e-12


@BOUNDED
@given(SEEDS)
def test_budgets_cut_the_span_that_would_pass_them(seed):
    for row, plain in scored(seed)[1]:
        if not plain.answers:
            continue
        needed = plain.tokens_to_answer()
        assert row["tokens_to_answer"] == (needed if needed <= max(BUDGETS) else np.inf)
        for budget in BUDGETS:
            assert row[f"complete_within_{budget}"] == plain.complete(plain.within(budget))
            assert row[f"recall_within_{budget}"] == pytest.approx(plain.recall(plain.within(budget)))


@settings(max_examples=40, deadline=None)
@given(SEEDS)
def test_the_oracle_lies_between_the_ranking_and_the_best_possible(seed):
    for row, plain in scored(seed)[1]:
        if not plain.answers or len(set(plain.chunks)) > 6:
            continue
        single = any(len(answer) == 1 for answer in plain.answers)
        spans, tokens = plain.best_possible(plain.tokens_to_answer)
        for k in KS:
            assert row[f"complete_at_{k}"] <= row[f"oracle_complete_at_{k}"] <= (spans <= k)
            assert not single or row[f"oracle_complete_at_{k}"] >= (spans <= k and spans == 1)
        for budget in BUDGETS:
            assert row[f"complete_within_{budget}"] <= row[f"oracle_complete_within_{budget}"] <= (tokens <= budget)
            if all(len(answer) == 1 for answer in plain.answers):
                assert row[f"oracle_complete_within_{budget}"] == (tokens <= budget)


@BOUNDED
@given(SEEDS)
def test_nothing_falls_as_k_or_the_budget_grows_and_shares_stay_in_range(seed):
    found, rows, _ = scored(seed)
    for row, _ in rows:
        for name in ("complete_at", "recall_at", "hit_rate_at", "char_recall_at", "chroma_recall_at", "oracle_complete_at"):
            values = [row[f"{name}_{k}"] for k in KS]
            assert np.isnan(values).all() or (np.diff(values) >= 0).all()
        for name in ("complete_within", "recall_within", "oracle_complete_within"):
            values = [row[f"{name}_{budget}"] for budget in BUDGETS]
            assert np.isnan(values).all() or (np.diff(values) >= 0).all()
    for name, value in found.summary.items():
        if value is not None and not name.startswith(("questions", "context", "tokens", "selectivity", "discrimination")):
            assert 0 <= value <= 1 + 1e-12, name


@BOUNDED
@given(SEEDS)
def test_rank_measures_agree_with_trec_eval(seed):
    found, rows, relevance = scored(seed)
    qrel, run = {}, {}
    for number, (row, plain) in enumerate(rows):
        if plain.answers and not plain.multi and plain.order:
            spans = {span: str(place) for place, span in enumerate(dict.fromkeys(plain.chunks))}
            qrel[row["id"]] = {name: int(plain.whole(span)) for span, name in spans.items()}
            run[row["id"]] = {spans[span]: 1.0 - place / 100 for place, span in enumerate(plain.order)}
            assert (relevance.question == number).sum() == sum(qrel[row["id"]].values())
    if not qrel:
        return
    measures = {"success.1,3", "ndcg_cut.1,2,3,20", "recip_rank", "success.2"}
    truth = pytrec_eval.RelevanceEvaluator(qrel, measures).evaluate(run)
    table = found.questions.set_index("id")
    for name, values in truth.items():
        assert table.loc[name, "mrr_at_20"] == pytest.approx(values["recip_rank"])
        for k in KS:
            assert table.loc[name, f"ndcg_at_{k}"] == pytest.approx(values[f"ndcg_cut_{k}"])
        for k in (1, 2, 3):
            assert table.loc[name, f"hit_rate_at_{k}"] == values[f"success_{k}"]


def test_recall_agrees_with_trec_eval_where_every_span_is_one_piece_of_evidence():
    """One answer of many pieces, each in a chunk of its own: recall_at_k is then the field's recall."""
    random = np.random.default_rng(11)
    text = "sentence. " * 30
    chunks = chunks_of([(0, place, place + 10) for place in range(0, 300, 10)])
    pieces = [sorted(random.choice(30, random.integers(1, 8), replace=False).tolist()) for _ in range(25)]
    corpus = corpus_of([text], [[[(0, 10 * piece, 10 * piece + 9) for piece in row]] for row in pieces])
    scores = random.permuted(np.tile(np.arange(30.0), (25, 1)), axis=1)
    candidates, relevance, ranking = ranked(corpus, chunks, scores)
    table = score(corpus, chunks, candidates, relevance, ranking, [characters(text)]).questions.set_index("id")
    qrel = {f"q{number}": {str(piece): 1 for piece in row} for number, row in enumerate(pieces)}
    run = {f"q{number}": {str(chunk): float(value) for chunk, value in enumerate(row)} for number, row in enumerate(scores)}
    truth = pytrec_eval.RelevanceEvaluator(qrel, {"recall.1,3,5,10,20"}).evaluate(run)
    for name, values in truth.items():
        for k in (1, 3, 5, 10, 20):
            assert table.loc[name, f"recall_at_{k}"] == pytest.approx(values[f"recall_{k}"])
