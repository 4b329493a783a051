"""Explanations: what they hold, how the console shows them, and that their sentences say what is so."""

from __future__ import annotations

import random
import re
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from report_toys import chunks_of, corpus_of, explained, ranked

from harness.errors import StoreError
from harness.report.explain import Explainer, Explanation, explain, explain_text
from harness.report.explain.sections import Outlines
from harness.report.explain.words import telling, words
from harness.report.material import CellMaterial, Material
from harness.types import Corpus, Document

PARKING = """# Parking

## Bicycles

Bicycles may be left in the north yard overnight.

## Towing

Trailers are towed after ten o'clock. Nobody is told.
"""
RULE, EXCEPTION = "Bicycles may be left in the north yard overnight.", "Trailers are towed after ten o'clock."
CUT = PARKING.index("## Towing")
BOTH = [[(0, RULE, "claim"), (0, EXCEPTION, "exception")]]
CORPUS = corpus_of([PARKING], [("May my bicycle and its trailers stay overnight?", BOTH)], ["parking.md"])


def parking() -> tuple[Corpus, CellMaterial]:
    return CORPUS, ranked(CORPUS, chunks_of([(0, 0, CUT - 2), (0, CUT, len(PARKING) - 1)]), [[1, 0]])


def test_what_an_explanation_holds() -> None:
    found = explained(*parking())
    assert (found.attribution, found.cell) == ("assembled", "toy cell")
    ((claim, exception),) = found.answers
    assert (claim.role, claim.text, claim.chunks, claim.rank, claim.document) == ("claim", RULE, (0,), 2, "parking.md")
    assert (exception.chunks, exception.rank) == ((1,), 1)
    assert [(hit.rank, hit.chunk, hit.section, hit.holds) for hit in found.hits] == [
        (1, 1, ("Parking", "Towing"), ("the exception",)),
        (2, 0, ("Parking",), ("the claim",)),
    ]
    assert found.words == ("may", "bicycle", "trailers", "stay", "overnight")
    assert claim.shared == ("may", "overnight")
    assert found.hits[0].shared == ("trailers",)
    assert (found.lexical.what, found.lexical.rank, found.lexical.found) == ("the claim", 1, True)


def test_search_by_words_ranks_among_the_candidates() -> None:
    texts = ["Otters sleep on their backs.", "Otters otters otters.", "Herons stand."]
    corpus = corpus_of(texts, [("Do otters sleep?", [[(0, texts[0], None)]]), ("Do otters sleep?", [[(2, texts[2], None)]])])
    chunks = chunks_of([(n, 0, len(text)) for n, text in enumerate(texts)])
    cell = ranked(corpus, chunks, [[0], [0]])
    assert [explained(corpus, cell, n).lexical.rank for n in (0, 1)] == [1, 3]
    filtered = replace(corpus, questions=(corpus.questions[0], replace(corpus.questions[1], filter={"doc": "c.md"})))
    assert explained(filtered, ranked(filtered, chunks, [[0], [2]]), 1).lexical.rank == 1


def test_the_console_shows_boundaries_and_evidence() -> None:
    text = explain_text(explained(*parking()))
    assert "⟦0⟧# Parking" in text
    assert "«claim: Bicycles may be left in the north yard overnight.»" in text
    assert "⟦1⟧## Towing" in text
    assert "⟦/0⟧" not in text, "the next chunk begins where the first ends"
    assert "parking.md › Parking › Towing" in text
    plain = explain_text(explained(*parking()), plain=True)
    assert "[[1]]## Towing" in plain
    assert "<<exception: Trailers" in plain
    assert plain.isascii()


def test_overlaps_show_where_both_chunks_begin_and_end() -> None:
    cell = ranked(CORPUS, chunks_of([(0, 0, CUT + 20), (0, CUT, len(PARKING))]), [[1, 0]])
    text = explain_text(explained(CORPUS, cell))
    assert "⟦1⟧## Towing" in text
    assert "«exception: Trailers ⟦/0⟧are towed" in text


def test_a_document_commands_no_terminal() -> None:
    hostile = "Keys are \x1b[31mred\x07 and \u202edelbat\u202c, \x9bgone."
    corpus = corpus_of([hostile], [("Which keys?", [[(0, hostile, None)]])])
    text = explain_text(explained(corpus, ranked(corpus, chunks_of([(0, 0, len(hostile))]), [[0]])))
    assert not set(text) & {"\x1b", "\x07", "\u202e", "\u202c", "\x9b"}
    assert "�[31mred�" in text


def test_headings_above_a_place() -> None:
    text = "front\n\n# One #\n\na\n\nTwo\n---\n\nb\n\n### Three\nc\n\n# Four\nd\n```\n# not\n```\n"
    found = Outlines([Document("doc.md", text)]).of(0)
    assert found.path_at(0) == ()
    assert found.path_at(text.index("# One")) == ("One",)
    assert found.path_at(text.index("b\n")) == ("One", "Two")
    assert found.path_at(text.index("c\n")) == ("One", "Two", "Three")
    assert found.path_at(len(text)) == ("Four",)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Don't park at No. 7_b!", ["don", "t", "park", "at", "no", "7", "b"]),
        ("Straße ÉCOLE", ["strasse", "école"]),
        ("駐車場です a", ["駐車", "車場", "場で", "です", "a"]),
        ("猫", ["猫"]),
        ("مَوْقِف السيارات", ["مَوْقِف", "السيارات"]),
        ("🚲🚲", []),
    ],
)
def test_words(text: str, expected: list[str]) -> None:
    found = words(text)
    assert [word for _, _, word in found] == expected
    assert all(text[start:end].casefold() == word for start, end, word in found)


def test_common_words_tell_nothing_unless_there_are_no_others() -> None:
    assert telling("What is the toll of the bridge?") == ("toll", "bridge")
    assert telling("Who is it?") == ("who", "is", "it")


def test_a_question_or_text_that_is_not_there() -> None:
    corpus, cell = parking()
    with pytest.raises(StoreError, match=r"'q9'.*for example q0"):
        explain(Material(corpus, (cell,)), cell, "q9")
    with pytest.raises(StoreError, match="text is not at hand"):
        explain(Material(None, (cell,)), cell, "q0")
    assert explain(Material(corpus, (cell,)), cell, "q0").question.id == "q0"


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 10**9))
def test_sentences_say_what_is_so(seed: int) -> None:
    """Every number of every sentence, counted again from the text."""
    corpus, cell = _random_case(random.Random(seed))
    explainer = Explainer(Material(corpus, (cell,)))
    for number in range(len(corpus.questions)):
        _check(corpus, cell, explainer.explain(cell, number))


def _random_case(dice: random.Random) -> tuple[Corpus, CellMaterial]:
    texts = ["".join(f"{dice.choice('abcdefgh')}{n}\U0001f6b2 " for n in range(dice.randint(20, 60))) for _ in range(2)]
    spans = []
    for doc, text in enumerate(texts):
        step = dice.randint(5, 40)
        spans += [(doc, at, min(len(text), at + step + dice.choice([0, 3, step]))) for at in range(0, len(text), step)]
    asked = []
    for n in range(4):
        pieces = []
        for role in dice.choice([("claim",), ("claim", "exception"), ("claim", "exception"), ("", "")]):
            doc = dice.choice([0, 0, 0, 1])
            start = dice.randrange(len(texts[doc]) - 12)
            pieces.append((doc, texts[doc][start : start + dice.randint(4, 12)].strip(), role or None))
        unique = len({piece[:2] for piece in pieces}) == len(pieces) and all(texts[doc].count(quote) == 1 for doc, quote, _ in pieces)
        asked.append((f"question {n} a1", [pieces] if unique else []))
    corpus = corpus_of(texts, asked)
    return corpus, ranked(corpus, chunks_of(spans), [dice.sample(range(len(spans)), len(spans)) for _ in asked], depth=dice.choice([None, 8]))


def _check(corpus: Corpus, cell: CellMaterial, found: Explanation) -> None:
    told, chunks = found.sentence, cell.chunks
    if not found.answers:
        assert told.startswith("Unanswerable")
        return
    pieces = {piece.name: piece for piece in found.answers[0]}
    for piece in pieces.values():
        holding = [n for n in range(len(chunks)) if chunks.doc[n] == piece.doc and chunks.start[n] <= piece.start and piece.end <= chunks.end[n]]
        assert sorted(piece.chunks) == holding
    expected = {"in one chunk": " holds ", "assembled": "Assembled from", "chunking miss": "No chunk holds"}
    assert expected.get(found.attribution, "") in told
    if found.attribution == "ranking miss":
        assert "ranked" in told or "retrieved" in told
    ranks = {hit.chunk: hit.rank for hit in found.hits}
    named = r"chunk (\d+)(?: of [ab]\.md)?(?:, which holds [^,;]+,)? (?:is ranked|\(\w[\w ]*, ranked) (\d+)"
    for chunk, rank in re.findall(named, told, re.IGNORECASE):
        assert ranks.get(int(chunk), int(rank)) == int(rank)
    if match := re.search(r"boundary between chunks (\d+) and (\d+) cuts (?:it|the [\w ]+?) after ([\d,]+) of ([\d,]+)", told):
        one, two, after, length = (int(digits.replace(",", "")) for digits in match.groups())
        lacking = next(piece for piece in pieces.values() if not piece.chunks)
        assert (two, after, length) == (one + 1, int(chunks.end[one]) - lacking.start, lacking.end - lacking.start)
    if match := re.search(r"Chunk (\d+), which .*?; (the [\w ]+) starts ([\d,]+) characters? after it ends, in chunk (\d+)", told):
        late = pieces[match[2]]
        assert int(match[3].replace(",", "")) == late.start - int(chunks.end[int(match[1])])
        assert int(match[4]) in late.chunks
    if match := re.search(r"Chunk (\d+), which .*?; (the [\w ]+) ends ([\d,]+) characters? before it begins", told):
        assert int(match[3].replace(",", "")) == int(chunks.start[int(match[1])]) - pieces[match[2]].end
