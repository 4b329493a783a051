"""A question and its evidence in context: readable without colour, and no document can command the terminal."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from front_cases import call
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from harness.errors import DataError
from harness.importing.showing import question_of, show
from harness.types import Answer, Corpus, Document, Evidence, Question, Span
from harness.visible import on_one_line, visible

TEXT = "The desk opens at nine. Boats are due at five. " + "It is a long day. " * 60 + "In fog no fee is charged. Ask at the desk."


def span(words: str, doc: int = 0) -> Span:
    start = TEXT.index(words)
    return Span(doc, start, start + len(words))


def corpus_of(*answers: Answer, text: str = TEXT) -> Corpus:
    question = Question("hire-1", "When is it due?", answers, {"doc": "hire.md"}, "rule")
    return Corpus("mill", (Document("hire.md", text, "Boat hire"), Document("b", text)), (question, Question("hire-2", "?", ())), "d", "q")


RULE = Answer((Evidence(span("Boats are due at five."), "claim"), Evidence(span("In fog no fee is charged."), "exception", (Span(1, 0, 5),))))


def plain(corpus: Corpus, context: int = 50) -> str:
    return show(corpus, corpus.questions[0], context=context).plain


def test_roles_are_marked_in_words_and_in_colour() -> None:
    corpus = corpus_of(RULE)
    told = plain(corpus)
    assert "hire-1: When is it due?" in told
    assert "«claim: Boats are due at five.»" in told
    assert "«exception: In fog no fee is charged.» Ask at the desk." in told
    assert "characters …" in told
    assert "word for word at 1 other place too" in told
    out = io.StringIO()
    Console(file=out, force_terminal=True, color_system="standard", width=200).print(show(corpus, corpus.questions[0]))
    coloured = out.getvalue()
    assert "\x1b[1;32mBoats" in coloured
    assert "\x1b[1;31mIn fog" in coloured


def test_near_pieces_share_an_excerpt_and_alternatives_are_counted() -> None:
    near = Answer((Evidence(span("The desk opens at nine.")), Evidence(span("Boats are due at five."), "claim")))
    told = plain(corpus_of(near, RULE))
    assert "«evidence: The desk opens at nine.» «claim: Boats are due at five.»" in told
    assert "Answer 1 of 2 (any will do): 2 pieces" in told
    assert "Answer 2 of 2" in told
    assert "do not answer it" in show(corpus_of(), corpus_of().questions[1]).plain


@given(st.lists(st.tuples(st.integers(0, 400), st.integers(1, 60)), min_size=1, max_size=4), st.integers(0, 80))
def test_the_text_is_all_there_however_evidence_overlaps(places: list[tuple[int, int]], context: int) -> None:
    spans = [Span(0, start, start + length) for start, length in places]
    told = plain(corpus_of(Answer(tuple(Evidence(it, "x") for it in spans))), context)
    flat = told.replace("«x: ", "").replace("»", "").replace("\n    ", "")
    assert told.count("«") == told.count("»") == len(spans)
    for it in spans:
        assert " ".join(TEXT[it.start : it.end].split()) in " ".join(flat.split())


COMMANDS = "\x1b[31mred\x1b]0;title\x07 \x9b2J \x08\x00 \u202eturned\u2066 \ufeff \ud800 one\rtwo [bold]not markup[/bold] :smile:"


def test_a_document_can_not_command_the_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told = plain(corpus_of(Answer((Evidence(Span(0, 0, 5), COMMANDS),)), text=COMMANDS))
    assert all(character.isprintable() or character == "\n" for character in told)
    assert "⟨U+001B⟩[31mred" in told
    assert "⟨U+202E⟩turned" in told
    assert "[bold]not markup[/bold] :smile:" in told
    folder = tmp_path / "it"
    folder.mkdir()
    text = COMMANDS.replace("\ud800", "")
    (folder / "corpus.jsonl").write_text(json.dumps({"id": "a", "text": text, "title": text}) + "\n", encoding="utf-8")
    label = {"id": "q1", "question": text, "kind": text, "answers": [{"evidence": [{"doc": "a", "start": 0, "end": 9, "role": text}]}]}
    (folder / "questions.jsonl").write_text(json.dumps(label) + "\n", encoding="utf-8")
    said = call(capsys, "data", "show", str(folder), "q")
    assert (said.status, said.err) == (0, "")
    assert all(character.isprintable() or character == "\n" for character in said.out)
    for words, told in ((["nope"], "'q1'"), (["q1", "--context", "-1"], "--context=-1"), ([], "question")):
        said = call(capsys, "data", "show", str(folder), *words)
        assert (said.status, len(said.lines), said.out) == (2, 1, ""), said
        assert told in said.err


@given(st.text())
def test_what_is_shown_is_printable(text: str) -> None:
    assert all(character.isprintable() or character in "\n\t\u200c\u200d" or character.isspace() for character in visible(text))
    assert "\n" not in on_one_line(text)
    assert "\r" not in visible(text)
    if text.isprintable():
        assert visible(text) == text


def test_questions_are_found_by_how_their_id_begins() -> None:
    corpus = corpus_of(RULE)
    assert question_of(corpus, "hire-2").id == "hire-2"
    with pytest.raises(DataError, match="2 ids begin so; for example 'hire-1', 'hire-2'"):
        question_of(corpus, "hire")
    with pytest.raises(DataError, match="no such question; for example 'hire-1'"):
        question_of(corpus, "hyre-1")
