"""The page of `data check`: what is counted agrees with what a sweep would measure, and every fault put into a corpus is named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from front_cases import QUICK, call, experiment_on, write_corpus
from hypothesis import given
from hypothesis import strategies as st

from harness.chunking.fixed import FixedChunker
from harness.corpus.folder import load_folder
from harness.embedding import minilm
from harness.evaluation import Scoring, evaluate
from harness.experiment import retrieve
from harness.importing.checking import reach as reaching
from harness.importing.checking.characters import line_ends, signs
from harness.importing.checking.doubles import repeated_paragraphs, same_documents, same_questions
from harness.importing.checking.findings import degenerate
from harness.importing.checking.lengths import fits, units_up_to
from harness.importing.checking.page import histogram, look
from harness.importing.checking.reach import reach, shortest_stretches
from harness.importing.checking.rendering import as_json, as_markdown, as_text
from harness.importing.checking.tongues import broken_share, foreign
from harness.importing.checking.wording import is_near
from harness.types import Answer, Cell, Corpus, Document, Evidence, Question, Span
from harness.units import CharUnit, WordUnit
from harness.units.base import Unit

TEXT = "The mill stands by the river. It grinds on Mondays. " * 8
GERMAN = "Die Mühle steht am Fluss und mahlt das Korn, das die Bauern im Herbst von den Feldern bringen, und es ist nicht weit von der Stadt. " * 3


def corpus_of(documents: list[Document], questions: list[Question] | None = None, name: str = "mill") -> Corpus:
    return Corpus(name, tuple(documents), tuple(questions or []), "d", "q")


def asked(name: str, *spans: Span, text: str = "Why?", copies: tuple[tuple[Span, ...], ...] = ()) -> Question:
    places = copies or ((),) * len(spans)
    return Question(name, text, (Answer(tuple(Evidence(span, None, also) for span, also in zip(spans, places, strict=True))),))


# what no chunk can hold

CELL = Cell("fixed", None, None, "hashing", "dense", "words", "it")


@pytest.mark.parametrize("size", [4, 12, 20, 30])
def test_no_chunker_beats_the_bound(tmp_path: Path, size: int) -> None:
    """answer_existence of windows of `size` words is at most what the page says; of windows at every word (all overlap) it is exactly that."""
    corpus = load_folder(write_corpus(tmp_path))
    found = reach(corpus, WordUnit(), [size])
    bound = 1 - found.lost_questions[size] / found.questions
    measured = {}
    for overlap in (0, size - 1):
        experiment = experiment_on(corpus, FixedChunker(size, overlap))
        result = evaluate(experiment, retrieve(experiment, lambda name: None, lambda done, total: None), Scoring(resamples=20), CELL, "key")
        measured[overlap] = result.metrics["answer_existence"]
    assert measured[0] <= bound + 1e-9
    assert measured[size - 1] == pytest.approx(bound)
    assert f"at most {bound:.3f}" in as_text(look(corpus, WordUnit(), [size]))


@pytest.mark.parametrize("unit", [WordUnit(), CharUnit(), minilm().unit], ids=lambda unit: unit.name)
@given(text=st.text(alphabet="ab ,é漢\n\u200b", max_size=300), ends=st.tuples(st.integers(0, 300), st.integers(0, 300)), most=st.integers(1, 40))
def test_a_passage_measures_as_the_ruler_of_its_document_says(unit: Unit, text: str, ends: tuple[int, int], most: int) -> None:
    start, end = sorted(min(it, len(text)) for it in ends)
    if not text[start:end].strip() or text[start:end] != text[start:end].strip():
        return
    exact = int(unit.measure(text).size(np.array([start]), np.array([end]))[0])
    found = units_up_to(unit, text, most, start, end)
    assert (found == exact) if exact <= most else (found > most)


def test_a_passage_of_few_words_in_much_white_space_is_read_until_it_is_measured() -> None:
    text = ("a" + " " * 300) * 8 + "b"
    assert units_up_to(WordUnit(), text, 5) > 5
    assert units_up_to(WordUnit(), text, 9) == 9
    assert units_up_to(WordUnit(), text, 5, 0, 302) == 2


@pytest.mark.parametrize("part", ["x", "x" + " " * 40])
def test_a_long_passage_is_read_no_further_than_it_matters(part: str) -> None:
    read: list[int] = []

    class Spy:
        name = identity = "spy"

        def measure(self, text: str) -> Any:
            read.append(len(text))
            return (CharUnit() if part == "x" else WordUnit()).measure(text)

    assert units_up_to(Spy(), part * 100_000, 64) > 64
    assert sum(read) < 16_000


def test_copies_count_as_the_label_does() -> None:
    far = asked("q", Span(0, 0, 10), Span(0, 900, 910), copies=((Span(1, 50, 60), Span(0, 880, 890)), ()))
    assert shortest_stretches(far.answers[0])[0] == Span(0, 880, 910)
    assert shortest_stretches(asked("q", Span(0, 0, 5), Span(1, 0, 5)).answers[0]) == []
    assert shortest_stretches(asked("q", Span(0, 5, 9), Span(0, 0, 20)).answers[0])[0] == Span(0, 0, 20)


STARTS = st.lists(st.integers(0, 60), min_size=1, max_size=5)


@given(STARTS, STARTS, st.integers(1, 8), st.integers(1, 8))
def test_the_shortest_stretch_is_the_shortest(firsts: list[int], seconds: list[int], length: int, other: int) -> None:
    """Copies of a piece are as long as it."""
    one, two = [Span(0, start, start + length) for start in firsts], [Span(0, start, start + other) for start in seconds]
    answer = Answer((Evidence(one[0], None, tuple(one[1:])), Evidence(two[0], None, tuple(two[1:]))))
    best = min(max(a.end, b.end) - min(a.start, b.start) for a in one for b in two)
    found = shortest_stretches(answer)[0]
    assert found.end - found.start == best


def test_gaps_and_answers_in_several_documents() -> None:
    corpus = corpus_of(
        [Document("a", TEXT), Document("b", TEXT)], [asked("q", Span(0, 0, 10), Span(0, 40, 50)), asked("r", Span(0, 0, 3), Span(1, 0, 3))]
    )
    found = reach(corpus, CharUnit(), [30, 50])
    assert (found.apart, found.questions_apart, found.gaps.tolist()) == (1, 1, [30])
    assert (found.lost, found.lost_questions) == ({30: 2, 50: 1}, {30: 2, 50: 1})


# documents and sizes


def test_documents_that_are_one_chunk() -> None:
    documents = [Document("a", "one two three"), Document("b", "word " * 50), Document("c", " \n")]
    found = fits(documents, WordUnit(), [3, 60])
    assert (found.documents, found.measured, found.whole) == (2, 2, {3: 0.5, 60: 1.0})
    assert "3: 50%, 60: 100%" in degenerate(found, "words")
    assert degenerate(fits(documents, WordUnit(), [60, 90]), "words").startswith("every document is shorter than the smallest size (60 words)")
    assert degenerate(fits(documents, WordUnit(), [2]), "words") == ""
    assert fits(documents * 10, WordUnit(), [3], sample=4).measured == 4


# repeats


def test_documents_paragraphs_and_questions_that_repeat() -> None:
    footer = "Printed by the miller's office, all rights reserved, no warranty is given for grain that was left out in the rain."
    documents = [Document("a", f"One.\n\n{footer}\n"), Document("b", f"One.\r\n\r\n{footer}"), Document("c", f"Two.\n\n{footer}"), Document("d", "")]
    assert same_documents(documents) == [("a", "b")]
    found = repeated_paragraphs(documents)
    assert (found.count, found.places, round(found.share, 2)) == (3, 2, 0.67)
    one, other = Span(0, 0, 4), Span(2, 0, 4)
    questions = [
        asked("same", one, text="When does the mill grind the corn?"),
        asked("twin", one, text="when does the mill grind the corn"),
        asked("torn", other, text="When does the mill grind the corn?"),
        asked("near", one, text="When does the mill grind its corn?"),
        asked("else", one, text="Who owns the river?"),
        Question("filtered", "When does the mill grind the corn?", (), {"doc": "a"}),
    ]
    twins = same_questions(questions)
    assert (twins.same, twins.torn, twins.near) == ([("same", "twin")], [("same", "torn")], [("same", "near")])


def test_questions_near_their_evidence() -> None:
    told = "The miller grinds the corn of the village on the second Monday after the harvest, at dawn."
    assert is_near("Does the miller grind the corn of the village on the second Monday?", told)
    assert not is_near("When can I bring my grain to be ground after harvesting it?", told)
    assert is_near("水車小屋では月曜日に麦を挽きますか", "水車小屋では月曜日に麦を挽きます。")
    assert not is_near("Monday?", told)


# characters


def test_signs_of_files_that_were_read_wrongly() -> None:
    texts = [
        "caf\ufffd",
        "cafÃ© au lait â€™",
        "a\x1b[31mred\x07",
        "a\u202eb\u2066c",
        "a\u200bb\ufeff",
        "soft\u00adhyphen",
        "half \ud800",
        "plain\ttext\n\fé",
    ]
    found = {sign.name: (sign.count, sign.first) for sign in signs([Document(str(place), text) for place, text in enumerate(texts)])}
    assert found == {
        "replacement": (1, "0"),
        "misread": (2, "1"),
        "control": (2, "2"),
        "bidi": (2, "3"),
        "zero width": (2, "4"),
        "soft hyphen": (1, "5"),
        "surrogate": (1, "6"),
    }


def test_line_ends_and_long_lines() -> None:
    texts = {"lf": "a\nb\n", "crlf": "a\r\nb\r\n", "cr": "a\rb", "mixed": "a\r\nb\nc", "mixed2": "a\rb\nc", "long": "a\n" + "x" * 20_000}
    found = line_ends([Document(name, text) for name, text in texts.items()])
    assert found == {"CRLF": ["crlf"], "CR": ["cr"], "mixed": ["mixed", "mixed2"], "long line": ["long"]}


# languages


def test_a_model_that_does_not_know_the_language() -> None:
    english = corpus_of([Document("a", TEXT * 2)], [asked("q", Span(0, 0, 3), text="When does the mill by the river grind on a Monday?")])
    assert foreign(english, "minilm") == ""
    german = corpus_of([Document("a", GERMAN)])
    assert "seem to be in de" in foreign(german, "minilm")
    assert foreign(german, "some/multilingual-model") == ""
    japanese = corpus_of([Document("a", "水車小屋は川のそばにあります。月曜日に麦を挽きます。" * 5)])
    assert "100% of the documents seem to be in ja" in foreign(japanese, "minilm")
    assert broken_share([TEXT]) < 0.05
    assert broken_share(["المطحنة بجانب النهر وتطحن القمح يوم الاثنين"]) > 0.5
    assert broken_share([""]) == 0


# the page


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """A corpus whose every text tries something."""
    evil = "\x1b]0;owned\x07\x1b[31m<script>alert(1)</script> | [x](javascript:1) `code` \u202eturned"
    folder = tmp_path / evil.replace("/", "")[:40].replace("\x1b", "")
    folder.mkdir()
    name = "".join(character for character in evil if character.isprintable())
    document = {"id": f"doc {name}", "text": f"{TEXT}{evil}", "title": evil, "metadata": {evil: evil}}
    question = {
        "id": "q1",
        "question": evil,
        "kind": evil,
        "answers": [{"evidence": [{"doc": document["id"], "start": 0, "end": 29, "role": evil}]}],
    }
    for name, row in (("corpus.jsonl", document), ("questions.jsonl", question)):
        (folder / name).write_text(json.dumps(row) + "\n", encoding="utf-8")
    return folder


def test_nothing_in_a_corpus_acts(hostile: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = look(load_folder(hostile, name="evil \x1b[2J <b>"), WordUnit())
    for shown in (as_text(page), as_markdown(page), as_json(page), call(capsys, "data", "check", str(hostile)).out):
        assert all(character.isprintable() or character == "\n" for character in shown)
    for told in as_markdown(page).splitlines():
        assert "<script>" not in told.replace("\\<", "")
    assert "\u202e" not in as_json(page)


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = write_corpus(tmp_path / "harbour")
    said = call(capsys, "data", "check", str(folder), "--sizes", "8,500", "--unit", "words")
    assert (said.status, said.err) == (0, "")
    assert "by size in words 500: 100%" in said.out
    values = json.loads(call(capsys, "data", "check", str(folder), "--format", "json", "--unit", "words").out)
    assert values["check"]["sizes"]["64"]["answers_in_no_chunk"] >= 0
    assert values["questions"]["count"] == 25
    page = tmp_path / "new" / "page.md"
    assert call(capsys, "data", "check", str(folder), "--to", str(page)).status == 0
    assert page.read_text(encoding="utf-8").startswith("# harbour\n\n## Documents\n\n| | |")
    for words, told in (
        (["--to", str(page)], "--overwrite"),
        (["--to", str(folder)], "is a folder"),
        (["--sizes", "64,x"], "--sizes=64,x"),
        (["--sizes", "0"], "--sizes=0"),
        (["--unit", "ells"], "unit=ells"),
        (["--format", "pdf"], "--format"),
    ):
        said = call(capsys, "data", "check", str(folder), *words)
        assert (said.status, len(said.lines), said.out) == (2, 1, ""), said
        assert told in said.err
    assert call(capsys, "data", "check", str(folder), "--to", str(page), "--overwrite").status == 0


def test_nothing_to_score_is_status_1_and_no_sweep(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = write_corpus(tmp_path / "harbour")
    rows = [json.loads(line) for line in (folder / "questions.jsonl").read_text().splitlines()]
    (folder / "questions.jsonl").write_text("".join(json.dumps({**row, "answers": []}) + "\n" for row in rows))
    assert call(capsys, "data", "check", str(folder), "--unit", "words").status == 1
    sweep = ("run", "dataset=folder", f'dataset.path="{folder}"', f"outputs={tmp_path / 'out'}", *QUICK)
    said = call(capsys, *sweep)
    assert (said.status, said.out) == (2, "")
    assert "none of the 25 questions has an answer" in said.err
    assert not (tmp_path / "out" / "cells").exists()


def test_a_sweep_says_first_what_will_mislead(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = write_corpus(tmp_path / "harbour")
    sweep = ("run", "dataset=folder", f'dataset.path="{folder}"', f"outputs={tmp_path / 'out'}", *QUICK[:-2], "unit=words")
    said = call(capsys, *sweep, "-m", "size=1000,2000")
    assert said.status == 0
    assert said.lines[0].startswith("every document is shorter than the smallest size (1000 words)")
    assert not any("document is shorter" in line for line in call(capsys, *sweep, "size=24").lines)


def test_histograms_have_no_holes() -> None:
    bars = histogram("it", np.array([0, 1, 3, 9, 9]))
    assert dict(zip(bars.labels, bars.counts, strict=True)) == {"0": 1, "1": 1, "2-3": 1, "4-7": 0, "8-15": 2}
    assert histogram("it", np.zeros(0, np.int64)).counts == ()


def test_the_bound_is_seen_to_break(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With stretches measured by their first piece alone the page promises more than any chunker reaches: the test above can fail."""
    corpus = load_folder(write_corpus(tmp_path))
    right = reach(corpus, WordUnit(), [20]).lost_questions[20]
    monkeypatch.setattr(reaching, "shortest_stretches", lambda answer: [answer.evidence[0].span])
    assert reach(corpus, WordUnit(), [20]).lost_questions[20] != right
