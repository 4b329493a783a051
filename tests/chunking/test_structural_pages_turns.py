"""page and turns: chunks written out, and what holds for any text."""

from __future__ import annotations

import pytest
from contracts.chunking_cases import check_contract, unit
from hypothesis import given, settings
from hypothesis import strategies as st
from structural_cases import chunks_of, pieces_of, shown

from harness.chunking.page import PageChunker
from harness.chunking.recursive import RecursiveChunker
from harness.chunking.turns import TurnsChunker
from harness.errors import ConfigError

BOOK = "Page one runs\fon here. Then it ends.\f\n \f  Three.\f"


def test_pages_end_at_form_feeds() -> None:
    assert chunks_of(PageChunker(40), BOOK) == ["Page one runs", "on here. Then it ends.", "Three."]
    assert chunks_of(PageChunker(40, merge=True), BOOK) == ["Page one runs\fon here. Then it ends.", "Three."]
    assert chunks_of(PageChunker(500, merge=True), BOOK) == [BOOK.strip()]
    assert chunks_of(PageChunker(15), BOOK) == ["Page one runs", "on here.", "Then it ends.", "Three."]


def test_pages_overlap_for_sentences_that_run_on() -> None:
    assert chunks_of(PageChunker(40, 14), BOOK) == ["Page one runs", "one runs\fon here. Then it ends.", "Then it ends.\f\n \f  Three."]
    assert chunks_of(PageChunker(30, 8), BOOK) == ["Page one runs", "runs\fon here. Then it ends.", "it ends.\f\n \f  Three."]


MARKED = "Title\n<!-- page 1 -->\nOne.\r\n<!-- page 2 -->\nTwo.\n\n-- 2 --\nThree."


def test_pages_by_a_mark() -> None:
    assert chunks_of(PageChunker(80, mark=r"<!-- page \d+ -->"), MARKED) == [
        "Title",
        "<!-- page 1 -->\nOne.",
        "<!-- page 2 -->\nTwo.\n\n-- 2 --\nThree.",
    ]
    assert chunks_of(PageChunker(80, mark=r"(?<=^-- \d --)"), MARKED)[1:] == ["Three."]
    assert chunks_of(PageChunker(80, mark=r"nowhere"), MARKED) == [MARKED]
    assert chunks_of(PageChunker(80, mark=r"^"), "a\nb") == ["a", "b"]


def test_a_page_too_large_is_divided_as_recursive_divides_it() -> None:
    text = "# Head\n\nThe tide turns at noon. Boats leave then.\n\nNobody waits for long. " * 4
    assert chunks_of(PageChunker(50), text) == chunks_of(RecursiveChunker(50), text)
    assert chunks_of(PageChunker(50, 20), text) == chunks_of(RecursiveChunker(50, 20), text)


CALL = (
    "Call of 3 May\n\nAda: Hello there.\n[12:03] Bob: Hi. I waited long.\n**Dr. Ada Lovelace**: So did I: for hours.\nAnd more.\n\n"
    "Speaker 2 (12:05): https://x.example is it.\nnot this: a turn\nuser:\nOk.\n"
)


def test_turns_begin_at_speakers() -> None:
    wanted = [
        "Call of 3 May",
        "Ada: Hello there.",
        "[12:03] Bob: Hi. I waited long.",
        "**Dr. Ada Lovelace**: So did I: for hours.\nAnd more.",
        "Speaker 2 (12:05): https://x.example is it.\nnot this: a turn",
        "user:\nOk.",
    ]
    assert chunks_of(TurnsChunker(62), CALL) == ["Call of 3 May\n\nAda: Hello there.", *wanted[2:5], wanted[5]]
    for line_end in ("\r\n", "\r", "\u2028"):
        other = chunks_of(TurnsChunker(62), CALL.replace("\n", line_end))
        assert [chunk.replace(line_end, "\n") for chunk in other] == chunks_of(TurnsChunker(62), CALL)


@pytest.mark.parametrize(
    "line",
    [
        *(
            "Ada: x",
            "  Ada: x",
            "[12:03] Ada: x",
            "12:03:11 Ada: x",
            "(12:03) - Ada: x",
            "**Ada**: x",
            "**Ada:** x",
            "__Ada__ (CFO): x",
            "Ada (12:03): x",
        ),
        *(
            "Ada [00:12]: x",
            "ADA BYRON: x",
            "Ada von Stein: x",
            "O'Neil: x",
            "user: x",
            "Speaker 1: x",
            "Ada:\nx",
            "田中：はい",
            "مريم: نعم",
            "Zoë: x",
        ),
    ],
)
def test_lines_that_begin_a_turn(line: str) -> None:
    text = "Before it. " * 3 + "\n" + line
    assert chunks_of(TurnsChunker(34), text)[-1] == line.strip()


@pytest.mark.parametrize(
    "line", ["https://x", "and then: x", "Remember this: x", "12:03", "- Ada: x", "Ada says x", "x" * 50 + ": x", "a:b", "**Ada: x", ": x"]
)
def test_lines_that_begin_none(line: str) -> None:
    text = "Ada: Before it. It goes on for long.\n" + line
    context, chunk = shown(TurnsChunker(len(line) + 22), text)[-1]
    assert context == "Ada:"
    assert chunk.endswith(line)


def test_a_turn_too_large_is_divided_and_its_later_parts_name_the_speaker() -> None:
    text = "Ada (12:03): One is here. Two is here. Three is here.\nBob: Ok.\nAda: Yes."
    assert shown(TurnsChunker(30), text) == [
        ("", "Ada (12:03): One is here."),
        ("Ada (12:03):", "Two is here. Three is here."),
        ("", "Bob: Ok.\nAda: Yes."),
    ]
    assert pieces_of(TurnsChunker(60), text).context is None


def test_overlap_repeats_whole_turns_or_the_end_of_one() -> None:
    text = "Ada: One.\nBob: Two.\nAda: Three.\nBob: A longer turn. Four."
    assert shown(TurnsChunker(40, 12), text) == [
        ("", "Ada: One.\nBob: Two."),
        ("", "Bob: Two.\nAda: Three."),
        ("", "Ada: Three.\nBob: A longer turn. Four."),
    ]
    assert shown(TurnsChunker(40, 8), text) == [
        ("", "Ada: One.\nBob: Two.\nAda: Three."),
        ("Ada:", "Three.\nBob: A longer turn. Four."),
    ]
    assert shown(TurnsChunker(30, 8), text)[-1] == ("Ada:", "ree.\nBob: A longer turn. Four."), "no further than its own size allows"


def test_a_speaker_of_ones_own() -> None:
    text = "<v Ada>Hello.\n<v Bob>Hi there, how are you? I am well, as you see.\n"
    assert shown(TurnsChunker(36, speaker=r"<v [^>]+>"), text) == [
        ("", "<v Ada>Hello."),
        ("", "<v Bob>Hi there, how are you?"),
        ("<v Bob>", "I am well, as you see."),
    ]


@pytest.mark.parametrize("value", ["(", "", 7, ["a"]])
def test_patterns_that_mean_nothing_are_refused(value: object) -> None:
    with pytest.raises(ConfigError, match=r"strategy\.mark"):
        PageChunker(10, mark=value)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match=r"strategy\.speaker"):
        TurnsChunker(10, speaker=value)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match=r"strategy\.merge"):
        PageChunker(10, merge=value)  # type: ignore[arg-type]


_piece = st.sampled_from(
    [
        "Ada: ",
        "\nBob (1:02): ",
        "\n",
        "\r\n",
        "\f",
        "<!-- page 3 -->",
        "Some words. ",
        "And? ",
        "鍵は。",
        "👍🏽",
        "x" * 20,
        "\u2028",
        " ",
        "\ufeff",
        "\ud800",
    ]
)


@pytest.mark.parametrize("unit_name", ["tokens", "words", "chars"])
@settings(max_examples=60, deadline=None)
@given(text=st.lists(_piece, max_size=40).map("".join), size=st.integers(1, 40), share=st.floats(0, 0.95), merge=st.booleans())
def test_contract_on_any_text(unit_name: str, text: str, size: int, share: float, merge: bool) -> None:
    overlap = int(size * share)
    check_contract(text, TurnsChunker(size, overlap), unit(unit_name), overlap, size)
    check_contract(text, PageChunker(size, overlap, mark=r"<!-- page \d -->", merge=merge), unit(unit_name), overlap, size)
