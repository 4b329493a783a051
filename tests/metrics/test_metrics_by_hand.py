"""Values small enough to check with a pencil, and the places where tools of this kind go wrong."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from metric_toys import characters, chunks_of, corpus_of, in_order, random_case, ranked

from harness.metrics.attribution import attribution
from harness.metrics.controls import random_ranking
from harness.metrics.cost import cost, near_duplicates
from harness.metrics.existence import existence
from harness.metrics.held import relevant
from harness.metrics.refusal import floor_curve
from harness.metrics.scoring import families, score
from harness.types import Document, Embedded, Evidence, Span

# Four blocks of 50 characters, without white space.
TEXT = "".join(f"Shelf_{letter}:_" + "jar_of_plums,_" * 2 + "end_of_shelf." for letter in "ABCD")
QUARTERS = [(0, place, place + 50) for place in range(0, 200, 50)]


def scored(corpus, chunks, order, texts, depth=None, copies="any", **limits):
    candidates, relevance, ranking = in_order(corpus, chunks, order, depth, copies)
    return score(corpus, chunks, candidates, relevance, ranking, [characters(text) for text in texts], **limits)


def test_precision_and_iou_of_four_blocks():
    assert len(TEXT) == 200
    across, block, apart = [[(0, 40, 60)]], [[(0, 50, 100)]], [[(0, 0, 5), (0, 155, 160)]]
    either = [[(0, 110, 120)], [(0, 155, 175)]]
    corpus = corpus_of([TEXT], [across, block, apart, either])
    table = scored(corpus, chunks_of(QUARTERS), [range(4)] * 4, [TEXT]).questions
    assert table["char_recall_at_5"].tolist() == [1, 1, 1, 1]
    assert table["char_precision_at_5"].tolist() == pytest.approx([0.1, 0.25, 0.05, 0.1])
    assert table["char_iou_at_5"].tolist() == pytest.approx([0.1, 0.25, 0.05, 0.1])
    # The block's neighbours border on it, and Chroma's omega counts them.
    assert table["precision_omega"].tolist() == pytest.approx([0.2, 1 / 3, 0.1, 0.4])


def test_repeated_text_counts_once_but_not_in_chromas_precision():
    corpus = corpus_of([TEXT], [[[(0, 40, 60)]]])
    halves = [(0, place, place + 50) for place in range(0, 151, 25)]
    row = scored(corpus, chunks_of(halves), [range(7)], [TEXT]).questions.iloc[0]
    assert row["char_precision_at_10"] == pytest.approx(20 / 200)
    assert row["chroma_precision_at_10"] == pytest.approx(20 / 350)
    assert row["chroma_recall_at_10"] == 1


def test_a_rule_and_its_exception():
    """The claim is first, its exception second and third is a chunk that holds both."""
    corpus = corpus_of([TEXT], [[[(0, 0, 20, "claim"), (0, 60, 80, "exception")]]])
    chunks = chunks_of([(0, 0, 50), (0, 0, 100), (0, 50, 100), (0, 100, 150)])
    row = scored(corpus, chunks, [[0, 2, 1, 3]], [TEXT]).questions.iloc[0]
    assert (row["complete_at_1"], row["complete_at_3"], row["hit_rate_at_1"], row["hit_rate_at_3"]) == (0, 1, 0, 1)
    assert (row["recall_at_1"], row["half_answer_rate_at_1"], row["half_answer_rate_at_3"]) == (0.5, 1, 0)
    assert row["mrr_at_20"] == pytest.approx(1 / 3)
    assert row["ndcg_at_3"] == pytest.approx(1 / 2)
    assert row["claim_above_exception_rate"] == 1
    # 50 characters of the claim's chunk, then 30 of the next until the exception has been read.
    assert row["tokens_to_answer"] == 80
    assert row["selectivity_bits"] == pytest.approx(np.log2(200 / 80))
    assert row["attribution"] == "in one chunk"


@pytest.mark.parametrize(("order", "above"), [([0, 2], 1), ([2, 0], 0), ([1], 0), ([0], 1), ([2], 0), ([3], 0)])
def test_claim_above_exception(order, above):
    corpus = corpus_of([TEXT], [[[(0, 0, 20, "claim"), (0, 60, 80, "exception")]], [[(0, 0, 20)]]])
    chunks = chunks_of([(0, 0, 50), (0, 0, 100), (0, 50, 100), (0, 100, 150)])
    found = scored(corpus, chunks, [order, order], [TEXT], depth=len(order))
    assert found.questions["claim_above_exception_rate"].tolist() == [above, pytest.approx(np.nan, nan_ok=True)]
    assert (found.summary["claim_above_exception_rate"], found.counts["claim_above_exception_rate"]) == (above, 1)


def test_the_four_fates():
    one, apart, cut, lost = [[(0, 0, 20)]], [[(0, 0, 20), (0, 60, 80)]], [[(0, 40, 60)]], [[(0, 160, 180)]]
    corpus = corpus_of([TEXT], [one, apart, cut, lost, []])
    found = scored(corpus, chunks_of(QUARTERS), [[0, 1]] * 5, [TEXT], depth=2)
    assert found.questions["attribution"].tolist() == ["in one chunk", "assembled", "chunking miss", "ranking miss", "unanswerable"]
    rates = [found.summary[f"{name}_at_5"] for name in ("hit_rate", "assembled_rate", "chunking_miss_rate", "ranking_miss_rate")]
    assert rates == [0.25] * 4


def test_a_question_that_no_chunk_can_answer_is_a_zero_and_stays_in_the_mean():
    corpus = corpus_of([TEXT], [[[(0, 40, 60)]], [[(0, 0, 20)]]])
    found = scored(corpus, chunks_of(QUARTERS), [range(4)] * 2, [TEXT])
    for name in ("answer_existence", "complete_at_20", "hit_rate_at_20", "mrr_at_20", "ndcg_at_20", "recall_at_20", "complete_within_4096"):
        assert (found.summary[name], found.counts[name]) == (0.5, 2), name
    assert found.summary["answer_coverage"] == pytest.approx((0.5 + 1) / 2)
    assert found.summary["unreached_share"] == 0.5
    assert (found.summary["tokens_to_answer_median"], found.summary["tokens_to_answer_p90"]) == (None, None)


def test_unanswerable_questions_are_in_no_mean():
    corpus = corpus_of([TEXT], [[[(0, 0, 20)]], [], []])
    found = scored(corpus, chunks_of(QUARTERS), [range(4)] * 3, [TEXT])
    assert (found.summary["recall_at_20"], found.counts["recall_at_20"]) == (1.0, 1)
    assert (found.summary["questions"], found.summary["questions_unanswerable"]) == (3, 2)
    assert found.counts["context_tokens_at_5"] == 3
    nothing = corpus_of([TEXT], [[], [[]]])
    found = scored(nothing, chunks_of(QUARTERS), [range(4)] * 2, [TEXT])
    assert found.summary["questions_unanswerable"] == 2
    assert (found.summary["complete_at_5"], found.counts["complete_at_5"], found.summary["discrimination"]) == (None, 0, None)


def test_an_answer_over_two_documents():
    texts = ["The fee is nine pounds. ", "Members pay half the fee."]
    corpus = corpus_of(texts, [[[(0, 0, 23), (1, 0, 25)]], [[(0, 0, 23)]]])
    found = scored(corpus, chunks_of([(0, 0, 24), (1, 0, 25)]), [[0, 1], [0, 1]], texts)
    row = found.questions.iloc[0]
    assert row["multi_document"]
    assert np.isnan([row[name] for name in ("answer_existence", "hit_rate_at_5", "mrr_at_20", "ndcg_at_5", "ranking_miss_rate_at_5")]).all()
    assert (row["complete_at_1"], row["complete_at_3"], row["recall_at_1"], row["char_recall_at_3"]) == (0, 1, 0.5, 1)
    assert (found.counts["hit_rate_at_5"], found.counts["complete_at_5"], found.summary["questions_multi_document"]) == (1, 2, 1)
    assert row["attribution"] == "multi-document"


def test_an_answer_labelled_in_two_documents_has_no_relevant_chunk_even_by_a_copy():
    texts = ["The fee is nine pounds. Members pay half the fee.", "Members pay half the fee."]
    pieces = [Evidence(Span(0, 0, 23)), Evidence(Span(1, 0, 25), None, (Span(0, 24, 49),))]
    corpus = corpus_of(texts, [[pieces]])
    chunks = chunks_of([(0, 0, 49), (1, 0, 25)])
    candidates, relevance, ranking = in_order(corpus, chunks, [[0]])
    found = score(corpus, chunks, candidates, relevance, ranking, [characters(text) for text in texts])
    assert len(relevance.probes.chunk) == 0
    assert (found.summary["complete_at_1"], found.summary["answer_existence"], found.counts["discrimination"]) == (1, None, 0)


def test_selectivity_is_nothing_where_more_is_read_than_there_is():
    corpus = corpus_of([TEXT], [[[(0, 180, 190)]], [[(0, 0, 25)]], [[(0, 40, 60)]]])
    chunks = chunks_of([(0, 0, 140), (0, 10, 140), (0, 150, 200)])
    found = scored(corpus, chunks, [[0, 1, 2]] * 3, [TEXT])
    assert found.questions["tokens_to_answer"].tolist() == [140 + 130 + 40, 25, 60]
    assert found.questions["selectivity_bits"].tolist() == pytest.approx([0, 3, np.log2(200 / 60)])


def test_only_candidates_are_credited_and_k_may_exceed_them():
    texts = ["Bread rises overnight.", "Bread is sold at dawn."]
    right, wrong = ([[(1, 0, 22)]], {"doc": "d1"}), ([[(1, 0, 22)]], {"doc": "d0"})
    corpus = corpus_of(texts, [[[(1, 0, 22)]], right, wrong])
    table = scored(corpus, chunks_of([(0, 0, 22), (1, 0, 22)]), [[0, 1]] * 3, texts).questions
    assert table["candidates"].tolist() == [2, 1, 1]
    assert table["char_recall_at_10"].tolist() == [1, 1, 0]
    assert table["char_precision_at_10"].tolist() == [0.5, 1, 0]
    assert table["attribution"].tolist() == ["in one chunk", "in one chunk", "chunking miss"]


def test_white_space_at_the_ends_is_ignored_and_touching_is_not_holding():
    text = "One. \u3000Two.\r\n Three."
    corpus = corpus_of([text], [[[(0, 4, 13)]], [[(0, 3, 10)]]])
    chunks = chunks_of([(0, 0, 4), (0, 6, 10), (0, 13, 19)])
    assert text[6:10] == "Two."
    relevance = relevant(corpus, chunks, in_order(corpus, chunks, [[], []])[0])
    assert list(zip(relevance.question.tolist(), relevance.span.tolist(), strict=True)) == [(0, 1)]


@pytest.mark.parametrize(("copies", "seen"), [("any", 1), ("labelled", 0)])
def test_copies_of_a_passage(copies, seen):
    texts = ["A long clause stands here.", "A long clause stands here."]
    evidence = Evidence(Span(0, 0, 26), None, (Span(1, 0, 26),))
    corpus = corpus_of(texts, [[[evidence]], ([[evidence]], {"doc": "d0"})])
    table = scored(corpus, chunks_of([(0, 0, 10), (0, 10, 26), (1, 0, 26)]), [[2], [0]], texts, depth=1, copies=copies).questions
    assert table["complete_at_1"].tolist() == [seen, 0]
    assert table["answer_existence"].tolist() == [seen, 0]
    assert table["char_recall_at_1"].tolist() == [0, 10 / 26]


def test_children_of_one_parent_are_one_span():
    corpus = corpus_of([TEXT], [[[(0, 60, 140)]]])
    chunks = chunks_of([(0, 0, 25), (0, 25, 50), (0, 50, 100), (0, 100, 150)], [(0, 50), (0, 50), (50, 150), (50, 150)])
    found = scored(corpus, chunks, [[0, 1, 3, 2]], [TEXT])
    row = found.questions.iloc[0]
    assert (row["complete_at_1"], row["complete_at_3"], row["mrr_at_20"], row["ndcg_at_3"]) == (0, 1, 0.5, pytest.approx(1 / np.log2(3)))
    assert row["tokens_to_answer"] == 50 + 90
    assert row["context_tokens_at_20"] == 150
    assert (row["discrimination"], row["auc"]) == (pytest.approx(np.nan, nan_ok=True), pytest.approx(np.nan, nan_ok=True))
    candidates, relevance, _ = in_order(corpus, chunks, [[0]])
    assert relevance.probes.chunk.tolist() == [2, 3]
    assert len(candidates.group) == 1


def test_one_chunk_for_the_whole_text_discriminates_nothing():
    corpus = corpus_of([TEXT], [[[(0, 0, 20)]], [[(0, 60, 80)]]])
    found = scored(corpus, chunks_of([(0, 0, 200)]), [[0], [0]], [TEXT])
    assert (found.summary["answer_existence"], found.summary["discrimination"], found.summary["auc"]) == (1, 0, 0)
    assert found.summary["questions_unscored"] == 0


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([0, 1, 5]))
def test_discrimination_equals_the_full_table_of_scores(seed, decimals):
    random = np.random.default_rng(seed)
    text = "x" * 400
    chunks = chunks_of([(0, place, place + 20) for place in range(0, 400 - 19, 5)])
    corpus = corpus_of([text], [[[(0, place, place + 8)]] for place in random.integers(0, 390, 4).tolist()])
    scores = random.normal(size=(4, len(chunks))).round(decimals)
    candidates, relevance, ranking = ranked(corpus, chunks, scores, depth=3)
    table = score(corpus, chunks, candidates, relevance, ranking, [characters(text)]).questions
    for number, row in table.iterrows():
        inside = relevance.probes.chunk[relevance.probes.question == number]
        if not len(inside):
            assert np.isnan(row["discrimination"])
            continue
        yes, no = scores[number, inside], np.delete(scores[number], inside)
        assert row["discrimination"] == pytest.approx((yes.mean() - no.mean()) / no.std())
        assert row["auc"] == pytest.approx(((yes[:, None] > no).mean() + (yes[:, None] >= no).mean()) / 2)


@pytest.mark.parametrize(("chunks", "scores", "unscored"), [(20, "spread", 1), (21, "spread", 0), (40, "flat", 1)])
def test_too_few_or_too_equal_scores_are_unscored_and_counted(chunks, scores, unscored):
    text = "x" * 10 * chunks
    corpus = corpus_of([text], [[[(0, 0, 10)]]])
    line = np.full(chunks, 0.9) if scores == "flat" else np.linspace(1, 0, chunks)
    cells = chunks_of([(0, place, place + 10) for place in range(0, 10 * chunks, 10)])
    found = score(corpus, cells, *ranked(corpus, cells, [line]), [characters(text)])
    assert found.summary["questions_unscored"] == unscored
    assert (found.summary["discrimination"] is None) == bool(unscored)


def test_the_floor_on_the_best_score():
    text = "x" * 60
    corpus = corpus_of([text], [[[(0, 0, 10)]]] * 4 + [[]] * 4)
    chunks = chunks_of([(0, place, place + 10) for place in range(0, 60, 10)])
    scores = np.zeros((8, 6))
    scores[:, 0] = [0.9, 0.8, 0.7, 0.4, 0.6, 0.5, 0.4, 0.3]
    found = score(corpus, chunks, *ranked(corpus, chunks, scores), [characters(text)])
    # Of 16 pairs: the three best beat all four, the last beats one and ties one.
    assert found.summary["floor_area"] == pytest.approx((12 + 1.5) / 16)
    assert (found.summary["floor_at_95"], found.summary["refused_at_95"]) == (0.4, 0.25)
    curve = floor_curve(scores[:, 0], np.arange(8) < 4, np.arange(8) < 4)
    assert curve["complete_kept"].is_monotonic_decreasing
    assert curve.set_index("floor").loc[0.7].tolist() == [0.75, 1.0]
    assert floor_curve(scores[:4, 0], np.ones(4, bool), np.ones(4, bool)).empty


def test_the_oracle_reads_the_smallest_spans():
    corpus = corpus_of([TEXT], [[[(0, 0, 20), (0, 150, 170)]], [[(0, 60, 70)]]])
    chunks = chunks_of([(0, 0, 50), (0, 0, 200), (0, 50, 100), (0, 100, 150), (0, 150, 200)])
    found = scored(corpus, chunks, [[3]] * 2, [TEXT], depth=1, ks=(1, 2), budgets=(20, 69, 70, 170))
    table = found.questions
    # One span holds it all; but two small ones are 50 + 20 tokens, the large one 170.
    assert table["oracle_complete_at_1"].tolist() == [1, 1]
    assert table["oracle_complete_within_20"].tolist() == [0, 1]
    assert table["oracle_complete_within_69"].tolist() == [0, 1]
    assert table["oracle_complete_within_70"].tolist() == [1, 1]
    assert found.summary["complete_at_1"] == 0


def test_a_ranking_that_ends_too_early_is_said():
    corpus = corpus_of([TEXT], [[[(0, 0, 20)]]])
    shallow = scored(corpus, chunks_of(QUARTERS), [[1, 2]], [TEXT], depth=2, ks=(1, 3), budgets=(50, 60))
    assert shallow.warnings == ("1 of 1 rankings end before k=3 although candidates are left: search deeper",)
    assert scored(corpus, chunks_of(QUARTERS), [[1, 2]], [TEXT]).warnings == ()


def test_random_rankings_hold_candidates_once_and_repeat():
    corpus, chunks, rulers, _, _ = random_case(17)
    candidates = in_order(corpus, chunks, [[] for _ in corpus.questions])[0]
    one, other = (random_ranking(chunks, candidates, 5, seed=4) for _ in range(2))
    assert np.array_equal(one.chunk, other.chunk)
    for question in range(len(one)):
        row = one.chunk[one.indptr[question] : one.indptr[question + 1]]
        assert len(set(row.tolist())) == len(row) == min(5, one.candidates[question])
        assert candidates.documents[candidates.group[question]][chunks.doc[row]].all()
    found = score(corpus, chunks, candidates, relevant(corpus, chunks, candidates), one, rulers)
    assert found.summary["discrimination"] is None


def test_no_chunks_and_no_questions():
    for questions in ([[[(0, 0, 20)]], []], []):
        corpus = corpus_of([TEXT, ""], questions)
        found = scored(corpus, chunks_of([]), [[] for _ in questions], [TEXT, ""])
        assert found.summary["complete_at_5"] == (0 if questions else None)
        assert found.summary["answer_existence"] == (0 if questions else None)


def test_cost_of_a_chunk_set():
    texts = ["".join(map(chr, range(200, 300))), "b" * 20, "b" * 20]
    chunks = chunks_of([(0, 0, 60), (0, 40, 100), (0, 45, 100), (1, 0, 20), (2, 0, 20)])
    documents = [Document(str(number), text) for number, text in enumerate(texts)]
    embedded = Embedded(np.zeros((5, 2), np.float32), np.array([60, 60, 55, 20, 20]), np.array([10, 10, 0, 0, 0]), np.array([1, 0, 0, 0, 1], bool))
    found = cost(chunks, documents, [characters(text) for text in texts], embedded=embedded, size=60, overlap=20)
    assert found.figures["chunks"] == 5
    assert found.figures["stored_chars"] == 215
    assert found.figures["storage_ratio"] == pytest.approx(215 / 140)
    assert found.figures["storage_ratio_theory"] == 1.5
    assert found.figures["chunk_tokens_mean"] == 43
    assert found.figures["chunk_tokens_median"] == 55
    assert found.figures["short_chunk_share"] == 0.4
    assert found.figures["truncated_token_share"] == pytest.approx(20 / 215)
    assert found.figures["truncated_chunk_share"] == 0.4
    assert (found.figures["embedded_tokens"], found.figures["cached_tokens"]) == (135, 80)
    # The third lies almost wholly in the second; the last two are word for word the same.
    assert near_duplicates(chunks, documents).tolist() == [False, False, True, True, True]
    assert found.counts.sum() == 5
    assert cost(chunks_of([]), documents, [characters(text) for text in texts]).figures["chunk_tokens_mean"] is None


def test_existence_needs_no_ranking_and_families_are_found_by_their_files():
    corpus = corpus_of([TEXT], [[[(0, 0, 20), (0, 40, 60)]]])
    chunks = chunks_of(QUARTERS)
    found = existence(relevant(corpus, chunks, in_order(corpus, chunks, [[]])[0]))
    assert found.means["evidence_existence"].tolist() == [0.5]
    assert found.weights["evidence_existence"].tolist() == [2]
    assert {"existence", "completeness", "whole", "budget", "discrimination", "chroma"} <= set(families())
    assert callable(attribution)
