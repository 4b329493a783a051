"""The one sentence: every form, exact to the character and the rank."""

from __future__ import annotations

import pytest
from report_toys import chunks_of, corpus_of, explained, ranked, said

RULE = "Bicycles may be left in the north yard overnight."
EXCEPTION = "Trailers are towed after ten o'clock."
FILLER = "The yard was paved again in spring. "
TEXT = f"{RULE} {FILLER}{EXCEPTION} {FILLER}"
ASKED = "Can my trailer stay in the yard tonight?"
BOTH = [[(0, RULE, "claim"), (0, EXCEPTION, "exception")]]
CORPUS = corpus_of([TEXT], [(ASKED, BOTH)])
AT = TEXT.index(EXCEPTION)
LAST = len(TEXT)


def test_in_one_chunk() -> None:
    chunks = chunks_of([(0, 0, AT), (0, 0, LAST)])
    assert said(CORPUS, chunks, [0, 1]) == "Chunk 1 holds both claim and exception and is ranked 2nd."
    single = corpus_of([TEXT], [(ASKED, [[(0, RULE, None)]])])
    assert said(single, chunks, [0, 1]) == "Chunk 0 holds the whole answer and is ranked 1st."


def test_assembled() -> None:
    chunks = chunks_of([(0, 0, AT), (0, AT, LAST)])
    assert said(CORPUS, chunks, [1, 0]) == (
        "Assembled from chunk 0 (claim, ranked 2nd) and chunk 1 (exception, ranked 1st); no single chunk holds both claim and exception."
    )
    spans = [(0, 0, AT - 5), (0, 0, LAST), (0, AT, LAST), *((0, 50 + n, 60 + n) for n in range(5))]
    assert said(CORPUS, chunks_of(spans), [0, 2, 3, 4, 5, 6, 7, 1]) == (
        "Assembled from chunk 0 (claim, ranked 1st) and chunk 2 (exception, ranked 2nd); "
        "chunk 1, which holds both claim and exception, is ranked 8th."
    )


def test_the_exception_starts_after_the_chunk_that_holds_the_claim() -> None:
    gap = 12
    spans = [(0, 0, AT - gap), (0, AT, LAST), *((0, 52 + n, 62 + n) for n in range(6))]
    spans.sort()
    late = next(n for n, span in enumerate(spans) if span[1] == AT)
    order = [0, *(n for n in range(1, len(spans)) if n != late), late]
    assert said(CORPUS, chunks_of(spans), order) == (
        f"Chunk 0, which holds the claim, is ranked 1st; the exception starts 12 characters after it ends, in chunk {late}, ranked 8th."
    )


def test_the_claim_ends_before_the_chunk_that_holds_the_exception() -> None:
    spans = [(0, 0, len(RULE)), *((0, 52 + n, 62 + n) for n in range(5)), (0, AT - 3, LAST)]
    assert said(CORPUS, chunks_of(spans), [6, 1, 2, 3, 4, 5, 0]) == (
        f"Chunk 6, which holds the exception, is ranked 1st; the claim ends {AT - 3 - len(RULE)} characters before it begins, in chunk 0, ranked 7th."
    )


def test_a_piece_that_the_best_chunk_cuts_runs_past_its_end() -> None:
    spans = [(0, 0, AT + 7), *((0, 52 + n, 62 + n) for n in range(5)), (0, AT, LAST)]
    assert said(CORPUS, chunks_of(spans), [0, 1, 2, 3, 4, 5, 6]) == (
        f"Chunk 0, which holds the claim, is ranked 1st; the exception runs {len(EXCEPTION) - 7} characters past its end, in chunk 6, ranked 7th."
    )


def test_nothing_of_the_answer_was_found() -> None:
    spans = [(0, 0, AT - 5), *((0, 52 + n, 62 + n) for n in range(6)), (0, AT, LAST)]
    assert said(CORPUS, chunks_of(spans), [1, 2, 3, 4, 5, 7, 6, 0]) == (
        "The claim is in chunk 0, ranked 8th; the exception is in chunk 7, ranked 6th: none of it is among the first 5."
    )


def test_whole_but_ranked_low() -> None:
    corpus = corpus_of([RULE, FILLER * 8], [(ASKED, [[(0, RULE, None)]])])
    chunks = chunks_of([(0, 0, len(RULE)), *((1, 36 * n, 36 * n + 30) for n in range(8))])
    assert said(corpus, chunks, [*range(1, 9), 0]) == "Chunk 0 holds the whole answer but is ranked 9th, behind 8 chunks of b.md."
    assert said(corpus, chunks, [*range(1, 9), 0], depth=5) == (
        "Chunk 0 holds the whole answer but is not among the 5 retrieved: 8 of 9 chunks score higher."
    )
    same = chunks_of([(0, 0, len(RULE)), *((0, n, n + 20) for n in range(1, 7))])
    assert said(corpus, same, [*range(1, 7), 0]).endswith("ranked 7th, behind 6 chunks of the same document.")
    mixed = chunks_of([(0, 0, len(RULE)), (0, 1, 9), (0, 2, 9), (0, 3, 9), *((1, 36 * n, 36 * n + 30) for n in range(4))])
    assert said(corpus, mixed, [1, 2, 3, 4, 5, 6, 7, 0]).endswith("ranked 8th, behind 7 chunks, 4 of them of b.md.")


@pytest.mark.parametrize("cut", [AT + 1, AT + 11, AT + len(EXCEPTION) - 1])
def test_a_boundary_cuts_the_exception(cut: int) -> None:
    chunks = chunks_of([(0, 0, cut), (0, cut, LAST)])
    assert said(CORPUS, chunks, [1, 0]) == (
        f"No chunk holds the exception whole: the boundary between chunks 0 and 1 cuts it after {cut - AT} of {len(EXCEPTION)} characters; "
        "chunk 0, which holds the claim, is ranked 2nd."
    )


def test_an_overlap_that_is_too_short() -> None:
    chunks = chunks_of([(0, 0, AT + 20), (0, AT + 9, LAST)])
    assert said(CORPUS, chunks, [0, 1]).startswith(
        f"No chunk holds the exception whole: chunk 0 ends after 20 of its {len(EXCEPTION)} characters, "
        "and chunk 1 begins 9 characters into it; chunk 0"
    )


def test_evidence_across_many_chunks_and_in_none() -> None:
    corpus = corpus_of([TEXT], [(ASKED, [[(0, RULE, None)]])])
    chunks = chunks_of([(0, 0, 10), (0, 10, 40), (0, 40, 60)])
    assert said(corpus, chunks, [0]) == (
        f"No chunk holds the answer whole: it lies across 3 chunks, 0 to 2; chunk 1 has the most, 30 of {len(RULE)} characters."
    )
    assert said(corpus, chunks_of([(0, 5, 40)]), [0]) == f"No chunk holds the answer whole: chunk 0 has 35 of its {len(RULE)} characters."
    assert said(corpus, chunks_of([(0, 60, 80)]), [0]) == "No chunk holds the answer whole: no chunk that may be returned has any of it."
    cut_both = chunks_of([(0, 0, 10), (0, 10, AT + 5), (0, AT + 5, LAST)])
    assert said(CORPUS, cut_both, [0]) == (
        f"No chunk holds the claim and the exception whole: the boundary between chunks 0 and 1 cuts the claim after 10 of {len(RULE)} characters."
    )


def test_white_space_at_the_ends_of_evidence_does_not_count() -> None:
    corpus = corpus_of([f"{RULE}  next"], [(ASKED, [[(0, f"{RULE}  ", None)]])])
    assert said(corpus, chunks_of([(0, 0, len(RULE))]), [0]) == "Chunk 0 holds the whole answer and is ranked 1st."
    assert f"cuts it after 4 of {len(RULE)} characters" in said(corpus, chunks_of([(0, 0, 4), (0, 4, 55)]), [0])


def test_several_documents() -> None:
    corpus = corpus_of([RULE, EXCEPTION + " Always."], [(ASKED, [[(0, RULE, "claim"), (1, EXCEPTION, "exception")]])])
    whole = chunks_of([(0, 0, len(RULE)), (1, 0, len(EXCEPTION)), *((1, n, n + 9) for n in range(1, 6))])
    assert said(corpus, whole, [1, 0]) == "Assembled from chunk 0 of a.md (claim, ranked 2nd) and chunk 1 of b.md (exception, ranked 1st)."
    assert said(corpus, whole, [0, 2, 3, 4, 5, 6, 1]) == (
        "Chunk 0, which holds the claim, is ranked 1st; the exception, in b.md, is in chunk 1, ranked 7th."
    )
    cut = chunks_of([(0, 0, len(RULE)), (1, 0, 8), (1, 8, 45)])
    assert said(corpus, cut, [0]).startswith("No chunk holds the exception whole: the boundary between chunks 1 and 2 cuts it after 8 of")


def test_unanswerable() -> None:
    corpus = corpus_of([TEXT], [("Where is the sauna?", []), (ASKED, BOTH)])
    cell = ranked(corpus, chunks_of([(0, 0, AT), (0, AT, LAST)]), [[1], [0]])
    found = explained(corpus, cell)
    assert found.sentence == "Unanswerable: the top score is .900 (chunk 1 of a.md), above the top score of 0% of the answerable questions."
    assert found.tokens_to_answer is None
    assert found.lexical.rank is None
    nothing = ranked(corpus, chunks_of([]), [[], []])
    assert explained(corpus, nothing).sentence == "Unanswerable, and nothing was retrieved."


def test_of_several_answers_the_nearest_is_told() -> None:
    corpus = corpus_of([TEXT], [(ASKED, [[(0, EXCEPTION, None)], [(0, RULE, None)]])])
    chunks = chunks_of([(0, 0, len(RULE)), (0, AT, AT + 5), (0, AT + 5, LAST)])
    assert said(corpus, chunks, [1, 0]) == "Chunk 0 holds the whole answer and is ranked 2nd."


def test_pieces_without_roles_are_counted() -> None:
    corpus = corpus_of([TEXT], [(ASKED, [[(0, RULE, None), (0, EXCEPTION, None)]])])
    told = said(corpus, chunks_of([(0, 0, AT), (0, AT, LAST)]), [0, 1])
    assert (
        told
        == "Assembled from chunk 0 (1st passage, ranked 1st) and chunk 1 (2nd passage, ranked 2nd); no single chunk holds both pieces of the answer."
    )


def test_children_of_one_parent_are_one_rank() -> None:
    parents = [(0, AT), (0, AT), (AT, LAST), (AT, LAST)]
    chunks = chunks_of([(0, 0, 20), (0, 20, AT), (0, AT, AT + 9), (0, AT + 9, LAST)], parents)
    assert said(CORPUS, chunks, [1, 0, 3, 2]) == (
        "Assembled from chunk 1 (claim, ranked 1st) and chunk 3 (exception, ranked 2nd); no single chunk holds both claim and exception."
    )
