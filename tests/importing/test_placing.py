"""Quoted questions become labels or are kept to be mended; corpora are written whole or not at all; broken labels are mended on request."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.cli.main import main
from harness.corpus.folder import load_folder
from harness.corpus.questions import EvidenceLabel, QuestionLabel
from harness.errors import ConfigError, DataError, LabelError
from harness.importing import writing
from harness.importing.asking import Columns, Reading, questions_of
from harness.importing.base import Imported, Quoted, QuotedQuestion
from harness.importing.fixing import fix_folder
from harness.importing.placing import place
from harness.importing.tables import Row, read_rows
from harness.importing.writing import check_target, write_corpus
from harness.types import Document

HIRE = Document("hire/boats.md", "Boats are due at five. A late boat costs 10 euros. In fog no fee is charged. Ask at the desk.", "Boat hire")
DESK = Document("desk.md", "The desk opens at nine. Ask at the desk. It closes at six; in fog it stays open.")


def asked(*quotes: str | Quoted, name: str = "q1") -> QuotedQuestion:
    return QuotedQuestion(1, name, "Why?", (tuple(it if isinstance(it, Quoted) else Quoted(it) for it in quotes),))


def placed(*quotes: str | Quoted) -> Imported:
    return place("it", [HIRE, DESK], [asked(*quotes)])


def evidence(imported: Imported) -> list[str | None]:
    writing.verify(imported, Path("it"))
    return [it.quote for label in imported.questions for answer in label.answers for it in answer]


def test_an_ellipsis_makes_two_pieces() -> None:
    for mark in (" ... ", "…", " [...] ", " (…) ", " . . . ", "... "):
        imported = placed(f"Boats are due at five.{mark}no fee is charged.")
        assert evidence(imported) == ["Boats are due at five.", "no fee is charged."], mark
        assert [note.why for note in imported.notes] == ["an ellipsis makes it 2 pieces of evidence"]
    assert evidence(placed("…late boat costs 10 euros… ")) == ["late boat costs 10 euros."]  # the dot is there, the gap is no text


def test_an_ellipsis_that_stands_in_the_text_is_no_gap() -> None:
    document = Document("a", "Wait… and see. Wait for it. We see.")
    assert evidence(place("it", [document], [asked("Wait... and see")])) == ["Wait… and see"]


def test_pieces_say_which_place_is_meant() -> None:
    assert [it.start for it in placed("Ask at the desk. ... in fog it stays open").questions[0].answers[0]] == [24, DESK.text.index("in fog")]
    imported = placed("in fog it stays open ... Boats are due at five.")
    assert imported.questions == ()
    assert "does not follow the other pieces" in imported.notes[-1].why


def test_what_has_no_single_place_is_kept_to_be_mended() -> None:
    imported = place("it", [HIRE, DESK], [asked("Ask at the desk."), asked("In fog no fee is charged.", name="q2")])
    assert [label.id for label in imported.questions] == ["q2"]
    (row,) = imported.unplaced
    assert row["answers"] == [
        {"evidence": [{"doc": "", "quote": "Ask at the desk.", "note": "ambiguous: 2 places (hire/boats.md 77-93, desk.md 24-40)"}]}
    ]
    assert imported.placements[0].places == (imported.placements[0].places[0], imported.placements[0].places[1])


@pytest.mark.parametrize("name", ["hire/boats.md", "boats.md", "boats", "BOATS", "./hire/boats", "hire\\boats.md", "Boat hire"])
def test_documents_are_known_by_file_name_and_title(name: str) -> None:
    assert evidence(placed(Quoted("Ask at the desk.", name))) == ["Ask at the desk."]


def test_a_wrong_document_is_never_corrected_silently() -> None:
    other = placed(Quoted("In fog no fee is charged.", "desk.md"))
    assert other.questions == ()
    assert other.placements[0].why == "it is not in the document named, but in 'hire/boats.md'"
    unknown = placed(Quoted("In fog no fee is charged.", "bots.md"))
    assert unknown.questions == ()
    assert "there is no document 'bots.md'; the nearest is" in unknown.placements[0].why
    assert unknown.placements[0].nearest is not None


def test_a_near_match_is_noted_with_its_difference() -> None:
    imported = placed("A late boot costs 10 euros. In fog no fee ls charged.")
    assert evidence(imported) == ["A late boat costs 10 euros. In fog no fee is charged."]
    assert imported.notes[0].fate == "repaired"
    assert "[-boot-]{+boat+}" in imported.notes[0].why


# Rows of a table


def rows(*values: dict[str, object]) -> list[Row]:
    return [Row(number, it) for number, it in enumerate(values, start=2)]


def test_rows_of_one_question_are_one_answer_unless_they_differ_in_alternative() -> None:
    table = rows(
        {"Question": "Why?", "quote": "a", "alternative": "1"},
        {"Question": "Why?", "quote": "b", "alternative": "1", "role": "exception"},
        {"Question": "Why?", "quote": "c", "alternative": "2"},
        {"Question": "Who?", "quote": "x || y", "document": "one || two"},
    )
    questions, _ = questions_of(table, Path("t.csv"), Reading(separator="||"))
    assert [(it.id, it.answers) for it in questions] == [
        ("q0001", ((Quoted("a"), Quoted("b", role="exception")), (Quoted("c"),))),
        ("q0002", ((Quoted("x", "one"), Quoted("y", "two")),)),
    ]


def test_a_blank_quote_is_an_unfinished_row() -> None:
    table = rows({"question": "Why?", "quote": ""}, {"question": None, "quote": "b"}, {"question": "Who?", "quote": 3.0})
    questions, notes = questions_of(table, Path("t.csv"), Reading())
    assert [(it.text, it.answers) for it in questions] == [("Who?", ((Quoted("3"),),))]
    assert [note.id for note in notes] == ["2", "3", "q0001"]
    kept, _ = questions_of(table, Path("t.csv"), Reading(blank="unanswerable"))
    assert [(it.text, len(it.answers)) for it in kept] == [("Why?", 0), ("Who?", 1)]


def test_columns_by_another_name(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes('\ufeffFrage;Zitat\r\n"Warum, bitte?";"zwei\nZeilen"\r\n'.encode())
    questions, _ = questions_of(read_rows(path), path, Reading(Columns(question="frage", quote="Zitat")))
    assert (questions[0].text, questions[0].answers) == ("Warum, bitte?", ((Quoted("zwei\nZeilen"),),))
    with pytest.raises(DataError, match="no table that can be read"):
        read_rows(tmp_path / "t.ods")
    with pytest.raises(ConfigError, match="--separator"):
        Reading(separator=" ")


# Writing


def labelled(text: str, start: int, end: int) -> Imported:
    label = QuestionLabel(1, "q1", "Why?", ((EvidenceLabel("a.md", text[start:end], start, end),),))
    return Imported("it", (Document("a.md", text),), (label,))


@given(st.text(alphabet="ab \r\n\t\u2028\u0301\ufeff\0日😀", min_size=1, max_size=30).filter(str.strip))
def test_any_text_comes_back_as_it_was(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    folder = tmp_path_factory.mktemp("it") / "out"
    corpus = write_corpus(labelled(text, 0, len(text)), folder)
    assert corpus.documents[0].text == text
    assert load_folder(folder).questions_digest == corpus.questions_digest


@pytest.mark.parametrize("moved", [1, -1])
def test_offsets_moved_by_one_are_caught(tmp_path: Path, moved: int) -> None:
    good = labelled("The desk opens at nine.", 4, 8)
    write_corpus(good, tmp_path / "good")
    (label,) = good.questions
    assert label.answers[0][0].start is not None
    shifted = replace(label.answers[0][0], start=4 + moved, end=8 + moved)
    with pytest.raises(LabelError, match="but the quote is 'desk'"):
        write_corpus(replace(good, questions=(replace(label, answers=((shifted,),)),)), tmp_path / "bad")
    assert [it.name for it in tmp_path.iterdir()] == ["good"]


def test_half_a_corpus_is_never_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    good = labelled("The desk opens at nine.", 4, 8)
    write_corpus(good, tmp_path / "out")
    before = (tmp_path / "out" / "questions.jsonl").read_bytes()

    def broken(*_: object) -> bytes:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(writing, "report_json", broken)
    with pytest.raises(Exception, match="No space left"):
        write_corpus(labelled("Another text.", 0, 7), tmp_path / "out", overwrite=True)
    assert [it.name for it in tmp_path.iterdir()] == ["out"]
    assert (tmp_path / "out" / "questions.jsonl").read_bytes() == before


def test_a_folder_in_use_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    check_target(tmp_path / "mine")
    (tmp_path / "mine" / "thesis.md").write_text("x")
    for overwrite in (False, True):
        with pytest.raises(ConfigError, match="thesis"):
            check_target(tmp_path / "mine", overwrite=overwrite)
    (tmp_path / "mine" / "thesis.md").rename(tmp_path / "mine" / "corpus.jsonl")
    with pytest.raises(ConfigError, match=r"no import_report\.json"):
        check_target(tmp_path / "mine", overwrite=True)


@pytest.mark.parametrize("name", ["../a.md", "/a.md", ".a.md", "a", "b/../../a.md", "C:a.md", "x\\..\\a.md"])
def test_documents_stay_in_their_folder(tmp_path: Path, name: str) -> None:
    with pytest.raises(DataError):
        write_corpus(Imported("it", (Document(name, "text"),), ()), tmp_path / "in" / "out", files=True)
    assert [it.name for it in tmp_path.rglob("*") if it.is_file()] == []


def test_markup_in_a_report_is_shown_as_text(tmp_path: Path) -> None:
    nasty = "<script>alert(1)</script> [x](javascript:y) `code`"
    imported = place("it", [HIRE], [asked(nasty, name="<b>q</b>")])
    write_corpus(imported, tmp_path / "out")
    lines = (tmp_path / "out" / "import_report.md").read_text(encoding="utf-8").splitlines()
    assert any("\\<b\\>q" in line for line in lines)
    assert all("``" in line for line in lines if "<script>" in line)


# Mending


def native(folder: Path, *quotes: dict[str, object]) -> Path:
    folder.mkdir()
    (folder / "corpus.jsonl").write_text(
        json.dumps({"id": "a", "text": "He said “no”. The fee\nis 10 euros, as agreed before."}) + "\n", encoding="utf-8"
    )
    lines = [
        {"id": f"q{number}", "question": "Why?", "answers": [{"evidence": [{"doc": "a", **quote}]}], "note": "n"}
        for number, quote in enumerate(quotes)
    ]
    (folder / "questions.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return folder


def test_fixing_writes_offsets_back_and_keeps_the_original(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    near = {"quote": "The fce is 10 euros, as agrced before."}
    folder = native(
        tmp_path / "it",
        {"quote": 'He said "no".'},
        {"quote": "The fee is 10 euros", "start": 0, "end": 3, "role": "claim"},
        near,
        {"start": 0, "end": 2},
    )
    before = (folder / "questions.jsonl").read_bytes()
    fixes = fix_folder(folder)
    assert [(fix.question, fix.status, fix.mended) for fix in fixes] == [
        ("q0", "normalised", True),
        ("q1", "normalised", True),
        ("q2", "fuzzy", False),
    ]
    rows_after = [json.loads(line) for line in (folder / "questions.jsonl").read_text(encoding="utf-8").splitlines()]
    assert rows_after[1]["answers"][0]["evidence"][0] == {"doc": "a", "quote": "The fee\nis 10 euros", "start": 14, "end": 33, "role": "claim"}
    assert rows_after[1]["note"] == "n"
    assert (folder / "questions.jsonl.orig").read_bytes() == before
    with pytest.raises(LabelError):
        load_folder(folder)
    assert main(["data", "check", str(folder), "--fix", "--fix-fuzzy"]) == 0
    assert "mended 1 labels, 0 are left" in capsys.readouterr().out
    assert (folder / "questions.jsonl.orig").read_bytes() == before
    assert fix_folder(folder) == []
