"""Drafts: passages with their qualifiers, spread, and a sheet that comes back as labels."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from pathlib import Path

import pytest
from front_cases import call
from hypothesis import given
from hypothesis import strategies as st

from harness.bundled import bundled_folder
from harness.corpus.folder import load_folder
from harness.errors import ConfigError
from harness.importing.asking import read_questions
from harness.importing.drafting.choosing import draft
from harness.importing.drafting.passages import passages
from harness.importing.drafting.qualifiers import opens, split
from harness.importing.drafting.sheet import COLUMNS, sheet
from harness.importing.placing import place
from harness.importing.tables import read_rows
from harness.types import Document

RULES = {
    # sentence: (claim, qualifier, role)
    "Boats are due back at five in the evening, unless there is fog on the river.": (
        "Boats are due back at five in the evening",
        "unless there is fog on the river.",
        "exception",
    ),
    "Unless the yard is closed, staff may park there on working days.": (
        "staff may park there on working days.",
        "Unless the yard is closed",
        "exception",
    ),
    "A locker is yours for a whole year provided that you pay for it in May.": (
        "A locker is yours for a whole year",
        "provided that you pay for it in May.",
        "condition",
    ),
    "Mitarbeiter dürfen im Hof parken, es sei denn, dass Markttag ist.": (
        "Mitarbeiter dürfen im Hof parken",
        "es sei denn, dass Markttag ist.",
        "exception",
    ),
    "Les bateaux sont rendus à cinq heures, sauf en cas de brouillard.": (
        "Les bateaux sont rendus à cinq heures",
        "sauf en cas de brouillard.",
        "exception",
    ),
    "Los barcos se devuelven a las cinco, siempre que no haya niebla.": (
        "Los barcos se devuelven a las cinco",
        "siempre que no haya niebla.",
        "condition",
    ),
    "祝日と市場の日を除き、職員は中庭に駐車できます。": ("職員は中庭に駐車できます。", "祝日と市場の日を除き", "exception"),
    "يجوز للموظفين الوقوف في الساحة كل يوم إلا في أيام السوق.": ("يجوز للموظفين الوقوف في الساحة كل يوم", "إلا في أيام السوق.", "exception"),
}


@pytest.mark.parametrize("sentence", RULES)
def test_a_rule_and_what_qualifies_it(sentence: str) -> None:
    found = split(sentence)
    assert found is not None
    assert (sentence[slice(*found.claim)], sentence[slice(*found.qualifier)], found.role) == RULES[sentence]


def test_sentences_without_a_qualifier() -> None:
    for sentence in (
        "Boats are due back at five in the evening.",
        "Go, unless ill.",
        "Exceptional weather is measured here every day of the year.",
        "",
    ):
        assert split(sentence) is None
    assert opens("However, sale items stay with the buyer.") == "exception"
    assert opens("Ausnahmen nennt der Anhang.") == "exception"
    assert opens("ただし、祝日は除きます。") == "exception"
    assert opens("Butter is sold on Mondays.") is None


TEXT = """# Hire

Boats are due back at five in the evening. However, in fog the desk keeps them all until morning.

- A late boat costs ten euros for every hour, except on the day of the regatta.

```
Boats in code are never a rule that someone asks about, unless they are.
```

| Boats in tables are no sentence, | unless they are. |
|---|---|

Ask at the desk before you leave the yard. Ask at the desk before you leave the yard.
"""


def test_passages_of_a_document() -> None:
    document = Document("hire.md", TEXT)
    found = {TEXT[it.claim.start : it.claim.end]: it for it in passages(0, document)}
    assert list(found) == ["Boats are due back at five in the evening.", "A late boat costs ten euros for every hour"]
    first, second = found.values()
    assert first.qualifier is not None
    assert second.qualifier is not None
    assert TEXT[first.qualifier.start : first.qualifier.end] == "However, in fog the desk keeps them all until morning."
    assert TEXT[second.qualifier.start : second.qualifier.end] == "except on the day of the regatta."
    assert (first.role, first.section) == ("exception", "Hire")
    assert passages(0, document, taken=[(0, len(TEXT))]) == []


@given(st.text(alphabet="aB.,\n\r -=#`|!\x00漢。u", max_size=400))
def test_any_text_gives_spans_that_stand_once(text: str) -> None:
    words = f"{text}\n\nBoats are due at five in the evening, unless fog lies on the river.\n\n{text}"
    for it in passages(0, Document("a", words)):
        for span in (it.claim, it.qualifier):
            if span:
                assert words.count(words[span.start : span.end]) == 1
                assert words[span.start] not in "=+-@"


def test_a_draft_is_spread_and_the_same_each_time() -> None:
    corpus = load_folder(bundled_folder("datasets") / "handbook")
    found = draft(corpus.documents, (), 50, seed=1)
    assert found == draft(corpus.documents, (), 50, seed=1)
    assert found != draft(corpus.documents, (), 50, seed=2)
    assert len(found) == 50
    by_document = Counter(it.claim.doc for it in found)
    assert len(by_document) >= 20
    assert max(by_document.values()) <= 4
    assert len({(it.claim.doc, it.section) for it in found}) >= 40
    assert sum(it.qualifier is not None for it in found) >= 35
    labelled = {(it.span.doc, it.span.start, it.span.end) for question in corpus.questions for answer in question.answers for it in answer.evidence}
    for it in draft(corpus.documents, corpus.questions, 50):
        assert not any(doc == it.around.doc and start < it.around.end and it.around.start < end for doc, start, end in labelled)


def test_bad_numbers() -> None:
    for n, seed in ((0, 0), (1, -1)):
        with pytest.raises(ConfigError):
            draft([Document("a", TEXT)], (), n, seed=seed)
    assert draft([Document("a", " ")], (), 5) == []


def filled(content: bytes) -> bytes:
    """The CSV with a question written beside every claim."""
    rows = list(csv.DictReader(io.StringIO(content.decode("utf-8-sig"), newline="")))
    seen: set[str] = set()
    for row in rows:
        row["question"] = "" if row["id"] in seen else f"What of {row['id']}?"
        seen.add(row["id"])
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, COLUMNS)
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue().encode()


def test_the_sheet_comes_back_as_labels(tmp_path: Path) -> None:
    """Every span that was drafted is found again exactly: claim and qualifier as two pieces of one answer."""
    documents = load_folder(bundled_folder("datasets") / "handbook").documents
    found = draft(documents, (), 50)
    path = tmp_path / "draft.csv"
    path.write_bytes(filled(sheet(path, documents, found)))
    questions, _ = read_questions(path)
    imported = place("it", documents, questions)
    assert [placement.status for placement in imported.placements] == ["exact"] * sum(1 + (it.qualifier is not None) for it in found)
    numbers = {document.id: number for number, document in enumerate(documents)}
    for it, label in zip(found, imported.questions, strict=True):
        spans = [(numbers[e.doc], e.start, e.end, e.role) for e in label.answers[0]]
        wanted = [(*it.claim, "claim" if it.qualifier else None)] + ([(*it.qualifier, it.role)] if it.qualifier else [])
        assert spans == wanted


def test_an_unfilled_sheet_gives_no_question(tmp_path: Path) -> None:
    documents = [Document("hire.md", TEXT)]
    path = tmp_path / "draft.csv"
    path.write_bytes(sheet(path, documents, draft(documents, (), 9)))
    questions, notes = read_questions(path)
    assert questions == []
    assert {note.why for note in notes} == {"it has no question"}


def test_no_cell_is_a_formula(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    evil = '=HYPERLINK("http://evil")'
    text = f"# {evil}\n\n- =cmd runs the mill by the river every Monday, unless it rains.\n\n@SUM of all the corn is weighed on the second Monday.\n"
    documents = [Document(evil, text)]
    found = draft(documents, (), 9)
    assert len(found) == 2
    for name in ("a.csv", "a.xlsx"):
        path = tmp_path / name
        path.write_bytes(sheet(path, documents, found))
        for row in read_rows(path):
            assert not str(row.values["quote"]).startswith(("=", "+", "-", "@"))
    for line in csv.reader(io.StringIO((tmp_path / "a.csv").read_text(encoding="utf-8-sig"), newline="")):
        assert not any(cell.startswith(("=", "+", "-", "@")) for cell in line)
    page = openpyxl.load_workbook(tmp_path / "a.xlsx").active
    assert {cell.data_type for row in page.iter_rows() for cell in row if cell.value is not None} == {"s"}


@pytest.mark.parametrize("kind", ["csv", "xlsx"])
def test_the_command_and_back(kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An unlabelled folder, its draft filled in by hand, imported and checked."""
    docs = tmp_path / "docs"
    (docs / "documents").mkdir(parents=True)
    (docs / "documents" / "hire.md").write_text(TEXT, encoding="utf-8")
    path = tmp_path / f"draft.{kind}"
    said = call(capsys, "data", "draft", str(docs), "--n", "5", "--to", str(path))
    assert (said.status, said.err) == (0, "")
    assert "2 passages (5 were asked for; there are no more) from 1 of 1 documents, 2 of them rules" in said.out
    if kind == "csv":
        path.write_bytes(filled(path.read_bytes()))
    else:
        openpyxl = pytest.importorskip("openpyxl")
        book = openpyxl.load_workbook(path)
        book.active["B2"], book.active["B4"] = "When must I bring the boat back?", "What does it cost to be late?"
        book.save(path)
    said = call(capsys, "data", "import", kind, str(path), "--documents", str(docs), "--to", str(tmp_path / "new"))
    assert said.status == 0, said
    corpus = load_folder(tmp_path / "new")
    assert [[it.role for it in question.answers[0].evidence] for question in corpus.questions] == [["claim", "exception"]] * 2


def test_mistakes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "hire.md").write_text(TEXT, encoding="utf-8")
    there = tmp_path / "there.csv"
    there.write_text("mine")
    empty = tmp_path / "empty"
    empty.mkdir()
    (empty / "a.md").write_text("Hi.")
    for words, told in (
        ([str(docs), "--to", str(there)], "--overwrite"),
        ([str(docs), "--to", str(tmp_path / "a.doc")], ".xlsx or .csv"),
        ([str(docs), "--to", str(tmp_path / "a.csv"), "--n", "0"], "--n=0"),
        ([str(docs), "--to", str(tmp_path / "a.csv"), "--seed", "-1"], "--seed=-1"),
        ([str(empty), "--to", str(tmp_path / "a.csv")], "no passage of prose"),
        (["/nowhere", "--to", str(tmp_path / "a.csv")], "/nowhere"),
        ([str(docs)], "--to"),
    ):
        said = call(capsys, "data", "draft", *words)
        assert (said.status, len(said.lines), said.out) == (2, 1, ""), said
        assert told in said.err
    assert there.read_text() == "mine"


def test_questions_that_stand_already_are_passed_over(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "corpus.jsonl").write_text(json.dumps({"id": "hire.md", "text": TEXT}) + "\n")
    label = {"id": "q", "question": "When?", "answers": [{"evidence": [{"doc": "hire.md", "quote": "Boats are due back at five in the evening."}]}]}
    (docs / "questions.jsonl").write_text(json.dumps(label) + "\n")
    path = tmp_path / "a.csv"
    assert call(capsys, "data", "draft", str(docs), "--to", str(path)).status == 0
    assert [row.values["quote"] for row in read_rows(path)] == ["A late boat costs ten euros for every hour", "except on the day of the regatta."]
