"""Labels: what is scored is exactly what was labelled, or nothing is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.corpus.folder import load_folder
from harness.corpus.places import Library, Mismatch
from harness.corpus.questions import EvidenceLabel
from harness.errors import ConfigError, DataError, LabelError
from harness.types import Document, Span

Build = Callable[..., Path]
Ask = Callable[..., dict[str, Any]]
WHEEL = "The wheel turns at dawn. It rests on Sundays. The wheel is greased weekly."
RACE = "The race is cleared in spring. It rests on Sundays."
CORPUS = [
    {"id": "wheel", "text": WHEEL, "metadata": {"version": 1, "for": ["miller", "guest"]}},
    {"id": "race", "text": RACE, "metadata": {"version": 2}},
]


def _spans(root: Path, **options: Any) -> dict[str, list[list[Span]]]:
    return {it.id: [[evidence.span for evidence in answer.evidence] for answer in it.answers] for it in load_folder(root, **options).questions}


def test_quote_offsets_or_both_give_the_same_span(build: Build, ask: Ask) -> None:
    quote, span = "It rests on Sundays.", Span(1, 31, 51)
    rows = [
        ask("quote", [{"doc": "race", "quote": quote}]),
        ask("offsets", [{"doc": "race", "start": 31, "end": 51}]),
        ask("both", [{"doc": "race", "start": 31, "end": 51, "quote": quote}]),
        ask("spaces", [{"doc": "race", "start": 30, "end": 51}], [{"doc": "race", "quote": f"  {quote}\n"}]),
    ]
    assert _spans(build(rows, CORPUS)) == {name: [[span]] for name in ("quote", "offsets", "both", "spaces")}


@settings(max_examples=50, deadline=None)
@given(text=st.text(st.sampled_from("ab \n\r\u0301😀水ع\u2028"), min_size=1, max_size=40), data=st.data())
def test_a_located_span_is_the_quote_and_a_shifted_one_is_refused(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    library, quote = Library([Document("d", text)]), text[start:end]
    span = library.locate(EvidenceLabel("d", quote, start, end))
    if not quote.strip():
        assert isinstance(span, Mismatch)
        return
    assert isinstance(span, Span)
    assert text[span.start : span.end] == quote.strip()
    assert start <= span.start < span.end <= end
    alone = library.locate(EvidenceLabel("d", quote))
    places = [place for place in range(len(text)) if text.startswith(quote, place)]
    assert alone == span if len(places) == 1 else isinstance(alone, Mismatch)
    shifted = library.locate(EvidenceLabel("d", quote, start + 1, end + 1))
    assert isinstance(shifted, Mismatch) or text[shifted.start : shifted.end] == quote.strip()


@pytest.mark.parametrize(
    ("evidence", "told"),
    [
        ({"doc": "wheel", "quote": "The wheel"}, "stands in 'wheel' at 0, 46; give start and end"),
        ({"doc": "wheel", "quote": "It rests on\nSundays."}, "is not in 'wheel'; it stands at 25 to 45 with other white space"),
        ({"doc": "wheel", "quote": "it rests ON Sundays."}, "with other white space or case"),
        ({"doc": "wheel", "quote": "cleared in spring"}, "is not in 'wheel'; it is in 'race'"),
        ({"doc": "wheel", "quote": "x" * 90}, "the quote '" + "x" * 60 + "'… is not in"),
        ({"doc": "wheel", "quote": " "}, "is blank"),
        (
            {"doc": "wheel", "start": 26, "end": 46, "quote": "It rests on Sundays."},
            "has 't rests on Sundays. ', but the quote is 'It rests on Sundays.'",
        ),
        ({"doc": "wheel", "start": 0, "end": 3, "quote": "weekly"}, "the quote stands at 67 to 73"),
        ({"doc": "wheel", "start": 60, "end": 75}, "which has 74 characters: 0 <= start < end <= 74"),
        ({"doc": "wheel", "start": -3, "end": 5}, "are no passage"),
        ({"doc": "wheel", "start": 9, "end": 9}, "are no passage"),
        ({"doc": "wheel", "start": 9, "end": 10}, "only white space"),
        ({"doc": "wheels", "quote": "dawn"}, "there is no document 'wheels'; the nearest is 'wheel'"),
    ],
)
def test_a_label_that_does_not_agree_is_an_error_or_a_counted_warning(build: Build, ask: Ask, evidence: dict[str, Any], told: str) -> None:
    root = build([ask("good", [{"doc": "race", "quote": "spring"}]), ask("bad", [{"doc": "race", "quote": "The race"}, evidence])], CORPUS)
    with pytest.raises(LabelError) as caught:
        load_folder(root)
    assert caught.value.line == 2
    assert "questions.jsonl, line 2: question 'bad': " in str(caught.value)
    assert told in str(caught.value)
    corpus = load_folder(root, on_label_problem="warn")
    assert [question.id for question in corpus.questions] == ["good"]
    assert corpus.warnings[0] == "questions.jsonl: left out 1 of 2 questions, whose labels do not agree with the documents"
    assert told in corpus.warnings[1]
    assert len(corpus.warnings) == 2


def test_every_problem_of_a_file_is_counted(build: Build, ask: Ask) -> None:
    bad = [{"doc": "ghost", "quote": "x"}, {"doc": "wheel", "start": 70, "end": 99}, {"doc": "race", "start": 9, "end": 4, "quote": ""}]
    root = build(
        [ask(f"q{place}", [evidence]) for place, evidence in enumerate([*bad, {"doc": "race", "start": 0, "end": 3, "quote": "Any"}])], CORPUS
    )
    with pytest.raises(LabelError, match="4 problems") as caught:
        load_folder(root)
    assert [f"line {line}: question 'q{line - 1}'" in str(caught.value) for line in (1, 2, 3, 4)] == [True] * 4


def test_more_problems_than_are_shown_are_still_counted_when_warned(build: Build, ask: Ask) -> None:
    rows = [ask(f"q{place}", [{"doc": "race", "quote": "nowhere"}]) for place in range(14)]
    warnings = load_folder(build(rows, CORPUS), on_label_problem="warn").warnings
    assert warnings[0] == "questions.jsonl: left out 14 of 14 questions, whose labels do not agree with the documents"
    assert len(warnings) == 12
    assert warnings[-1] == "questions.jsonl: and 4 more problems"


def test_labels_that_name_no_document_at_all_are_refused_even_when_warned(build: Build, ask: Ask) -> None:
    root = build([ask("a", [{"doc": "docs/wheel", "quote": "dawn"}]), ask("b", [{"doc": "docs/race", "quote": "dawn"}])], CORPUS)
    with pytest.raises(
        LabelError, match="none of the 2 documents that evidence names is in the corpus: it names 'docs/wheel', 'docs/race'; the corpus has"
    ):
        load_folder(root, on_label_problem="warn")


def test_line_ends_are_kept_so_folded_offsets_are_refused_and_never_off_by_the_returns(build: Build, ask: Ask) -> None:
    raw = "# Mill\r\n\r\nGrind at noon.\r\n\r\nIn frost\r\nstand still.\r\n"
    folded = raw.replace("\r\n", "\n")
    root = build(files={"raw.md": b"\xef\xbb\xbf" + raw.encode(), "folded.md": folded})

    def label(doc: str, text: str, quote: str) -> dict[str, Any]:
        start = text.index(quote)
        return ask(f"{doc}{start}", [{"doc": doc, "start": start, "end": start + len(quote), "quote": quote}])

    good = [
        label("raw.md", raw, "Grind at noon."),
        label("raw.md", raw, "In frost\r\nstand still."),
        label("folded.md", folded, "In frost\nstand still."),
    ]
    assert len(load_folder(build(good)).questions) == 3
    for bad in (
        label("raw.md", folded, "Grind at noon."),
        label("raw.md", folded, "In frost\nstand still."),
        label("raw.md", "\ufeff" + raw, "Grind"),
    ):
        with pytest.raises(LabelError, match="CRLF line ends, and both characters count"):
            load_folder(build([bad]))
    assert load_folder(root, on_label_problem="warn").questions == ()


def test_questions_without_answers_are_unanswerable_and_an_answer_without_evidence_is_refused(build: Build, ask: Ask) -> None:
    rows = [ask("none"), {"id": "left-out", "question": "And?"}, ask("some", [{"doc": "race", "quote": "spring"}], kind="fact", note="seen")]
    corpus = load_folder(build(rows, CORPUS))
    assert [(len(question.answers), question.kind) for question in corpus.questions] == [(0, None), (0, None), (1, "fact")]
    with pytest.raises(DataError, match="line 4: an answer has no evidence"):
        load_folder(build([*rows, ask("empty", [])], CORPUS))


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ({"id": "q"}, "lacks 'question'"),
        ({"id": "q", "question": "\t"}, "is blank"),
        ({"id": "first", "question": "Again?"}, "stands already in line 1"),
        ({"id": "q", "question": "?", "answer": []}, "unknown key 'answer'; known are id, question, answers, filter, kind, note, metadata"),
        ({"id": "q", "question": "?", "answers": {}}, "must be a list"),
        ({"id": "q", "question": "?", "answers": ["dawn"]}, "an answer is 'dawn'; it must be an object with evidence"),
        ({"id": "q", "question": "?", "answers": [{"evidence": [{"quote": "dawn"}]}]}, "evidence lacks 'doc'"),
        ({"id": "q", "question": "?", "answers": [{"evidence": [{"doc": "wheel"}]}]}, "gives no place; it needs quote, or start with end"),
        ({"id": "q", "question": "?", "answers": [{"evidence": [{"doc": "wheel", "start": 3}]}]}, "gives start; it needs"),
        ({"id": "q", "question": "?", "answers": [{"evidence": [{"doc": "wheel", "start": True, "end": 4}]}]}, "must be a whole number"),
        ({"id": "q", "question": "?", "answers": [{"evidence": [{"doc": "wheel", "start": 1.0, "end": 4}]}]}, "must be a whole number"),
        ({"id": "q", "question": "?", "answers": [{"evidence": [{"doc": "wheel", "quote": "dawn", "text": "x"}]}]}, "unknown key 'text'"),
    ],
)
def test_a_question_of_wrong_shape_is_always_an_error(build: Build, ask: Ask, row: dict[str, Any], told: str) -> None:
    with pytest.raises(DataError) as caught:
        load_folder(build([ask("first", [{"doc": "race", "quote": "spring"}]), row], CORPUS), on_label_problem="warn")
    assert caught.value.line == 2
    assert told in str(caught.value)


@pytest.mark.parametrize(
    ("wanted", "told"),
    [
        ({"edition": 1}, "asks for the field 'edition', which no document has; fields are doc, for, version"),
        ({"version": 3}, "lets no document pass"),
        ({"version": {"from": 1}}, "a range has keys of gte, lte, gt, lt"),
        ({"version": {"gte": "one"}}, "can't be compared"),
        ({"version": 1}, "excludes 'race', where its evidence is"),
        ({"doc": "wheel"}, "excludes 'race', where its evidence is"),
    ],
)
def test_a_filter_that_can_not_be_meant_is_told(build: Build, ask: Ask, wanted: dict[str, Any], told: str) -> None:
    with pytest.raises(LabelError) as caught:
        load_folder(build([ask("q", [{"doc": "race", "quote": "spring"}], filter=wanted)], CORPUS))
    assert caught.value.line == 1
    assert told in str(caught.value)


def test_filters_that_mean_something_are_kept(build: Build, ask: Ask) -> None:
    filters: list[dict[str, Any]] = [{"doc": "race"}, {"version": {"gte": 2}}, {"version": [1, 2]}, {}]
    rows = [ask(f"q{place}", [{"doc": "race", "quote": "spring"}], filter=wanted) for place, wanted in enumerate(filters)]
    rows.append(ask("list", [{"doc": "wheel", "quote": "dawn"}], filter={"for": "guest"}))
    assert [dict(question.filter) for question in load_folder(build(rows, CORPUS)).questions] == [*filters, {"for": "guest"}]


def test_ids_of_questions_and_documents_are_unrelated_and_equal_answers_are_one(build: Build, ask: Ask) -> None:
    dawn = [{"doc": "wheel", "quote": "dawn"}]
    assert _spans(build([ask("wheel", dawn, dawn, [{"doc": "wheel", "start": 19, "end": 23}])], CORPUS)) == {"wheel": [[Span(0, 19, 23)]]}


def test_the_folder_is_named_or_the_error_says_what_would_do(build: Build, ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    root = build([ask("q")], CORPUS)
    monkeypatch.setenv("HOME", str(root.parent))
    assert load_folder("~/mill").name == "mill"
    assert load_folder(root, name="water").name == "water"
    with pytest.raises(DataError, match="there is no such folder; name a folder with"):
        load_folder(root / "absent")
    with pytest.raises(DataError, match="is a file"):
        load_folder(root / "corpus.jsonl")
    with pytest.raises(ConfigError, match="on_label_problem=ignore"):
        load_folder(root, on_label_problem="ignore")  # type: ignore[arg-type]
    (root / "questions.jsonl").unlink()
    with pytest.raises(DataError, match="one labelled question a line"):
        load_folder(root)
