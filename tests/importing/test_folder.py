"""A folder of mixed files: which are read, what broken ones cost, and that reading does no harm."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zlib

import pytest
from reportlab.pdfgen.canvas import Canvas

from harness.corpus.folder import load_folder
from harness.errors import ConfigError, DataError
from harness.importing.extract.formats import Form, check_installed
from harness.importing.extract.pool import Limits
from harness.importing.folder import import_folder, read_folder
from harness.importing.walk import Choice, walk
from harness.importing.writing import write_corpus


@pytest.fixture
def docs(tmp_path):
    """Three files in three folders, one hidden, and a picture."""
    root = tmp_path / "docs"
    for name, text in {
        "b.md": "# B\n\nThe pond is closed on Monday.\n",
        "a/deep/c.txt": "Keys are at the office.\n",
        "drafts/d.md": "# D\n\nNot yet.\n",
        ".git/x.md": "hidden",
        "photo.png": "no text",
        "NOTES": "loose words",
    }.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def ids(documents):
    return [document.id for document in documents]


def stream_pdf(content: bytes) -> bytes:
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 4 0 R/Resources<<>>>>",
        b"<</Length %d/Filter/FlateDecode>>stream\n" % len(content) + content + b"\nendstream",
    ]
    out, places = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, start=1):
        places.append(len(out))
        out += b"%d 0 obj\n" % number + body + b"\nendobj\n"
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    return out + b"xref\n0 5\n0000000000 65535 f \n" + table + b"trailer<</Size 5/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF" % len(out)


def test_the_tree_is_read_in_order_of_ids_and_the_rest_is_counted(docs):
    documents, notes = read_folder(docs)
    assert ids(documents) == ["a/deep/c.txt", "b.md", "drafts/d.md"]
    assert documents[1].title == "B"
    assert documents[1].metadata["path"] == "b.md"
    told = {note.line() for note in notes}
    assert {"noted files .png: 1 passed over", "noted files hidden folder: 1 passed over", "noted files without extension: 1 passed over"} <= told


@pytest.mark.parametrize(
    ("include", "exclude", "found"),
    [
        ((), ("drafts",), ["a/deep/c.txt", "b.md"]),
        (("*.md",), (), ["b.md", "drafts/d.md"]),
        (("*.md",), ("drafts/*",), ["b.md"]),
        (("a/*",), (), ["a/deep/c.txt"]),
        (("NOTES",), (), ["NOTES"]),
        (("*",), ("*.md", "*.txt", "*.png", "drafts/"), None),
    ],
)
def test_patterns(docs, include, exclude, found):
    if found is None:
        with pytest.raises(DataError, match="no file that can be read"):
            walk(docs, Choice(include, exclude))
    else:
        assert [it.id for it in walk(docs, Choice(include, exclude))[0]] == found


def test_a_sample_is_the_same_for_the_same_seed(tmp_path):
    for number in range(40):
        (tmp_path / f"{number:02}.txt").write_text("words")
    first = [it.id for it in walk(tmp_path, Choice(sample=5, seed=1))[0]]
    assert first == [it.id for it in walk(tmp_path, Choice(sample=5, seed=1))[0]] == sorted(first)
    assert first != [it.id for it in walk(tmp_path, Choice(sample=5, seed=2))[0]]
    assert len(walk(tmp_path, Choice(sample=99))[0]) == 40


@pytest.mark.parametrize(
    ("make", "key"), [(lambda: Choice(sample=0), "--sample"), (lambda: Limits(0), "--max-megabytes"), (lambda: Limits(1, 0), "--max-seconds")]
)
def test_bad_numbers_are_refused_at_once(make, key):
    with pytest.raises(ConfigError, match=key):
        make()


def test_links_are_not_followed(docs, tmp_path):
    (tmp_path / "secret.txt").write_text("secret words")
    os.symlink(tmp_path / "secret.txt", docs / "link.txt")
    os.symlink(tmp_path, docs / "up")
    os.symlink(docs / "b.md", docs / "again.md")
    os.mkfifo(docs / "pipe.txt")
    documents, notes = read_folder(docs)
    assert ids(documents) == ["a/deep/c.txt", "b.md", "drafts/d.md"]
    why = {note.id: note.why for note in notes if note.fate == "dropped"}
    assert set(why) == {"link.txt", "up", "again.md", "pipe.txt"}
    assert "leaves the folder" in why["up"]


def test_a_name_that_no_id_can_hold_is_told_on_one_line(docs):
    (docs / "two\nlines.txt").write_text("x")
    (docs / os.fsdecode(b"caf\xe9.txt")).write_text("x")
    notes = read_folder(docs)[1]
    assert [note.id for note in notes if "rename it" in note.why] == ["caf?.txt", "two?lines.txt"]


def test_broken_files_are_named_and_the_others_read(docs):
    (docs / "e.pdf").write_bytes(b"no pdf")
    (docs / "f.docx").write_bytes(b"no docx")
    (docs / "g.txt").write_bytes(bytes(range(256)))
    with (docs / "h.txt").open("wb") as file:
        file.truncate(60_000_000)
    documents, notes = read_folder(docs)
    assert ids(documents) == ["a/deep/c.txt", "b.md", "drafts/d.md"]
    why = {note.id: note.why for note in notes if note.fate == "dropped"}
    assert set(why) == {"e.pdf", "f.docx", "g.txt", "h.txt"}
    assert "60.0 MB, over the limit of 50" in why["h.txt"]


def test_nothing_readable_is_an_error(tmp_path):
    (tmp_path / "a.pdf").write_bytes(b"no pdf")
    with pytest.raises(DataError, match=r"none of its 1 files.*a\.pdf"):
        read_folder(tmp_path)
    with pytest.raises(DataError, match="no such folder"):
        read_folder(tmp_path / "none")


def test_a_file_that_never_ends_is_given_up_and_the_next_is_read(tmp_path):
    (tmp_path / "a.pdf").write_bytes(stream_pdf(zlib.compress(b"0 0 m 1 1 l S " * 3_000_000, 9)))
    (tmp_path / "b.md").write_text("fine")
    documents, notes = read_folder(tmp_path, limits=Limits(max_seconds=3), readers=1)
    assert ids(documents) == ["b.md"]
    assert "took more than 3 s" in notes[0].why


def test_a_file_that_wants_all_memory_is_given_up(tmp_path):
    (tmp_path / "a.csv").write_text("a,b\n" * 3_000_000)
    (tmp_path / "b.md").write_text("fine")
    documents, notes = read_folder(tmp_path, limits=Limits(memory_megabytes=400), readers=1)
    assert ids(documents) == ["b.md"]
    assert "memory" in notes[0].why


def test_a_missing_package_names_the_command():
    with pytest.raises(ConfigError, match=r"pip install 'chunk-sweep\[documents\]'"):
        check_installed([Form("odd", "odd", (".odd",), ("no_such_package_at_all",))])


@pytest.mark.parametrize(
    "harm",
    [
        "import socket; socket.create_connection(('127.0.0.1', 9), 1)",
        "import urllib.request; urllib.request.urlopen('http://127.0.0.1:9/')",
        "import subprocess; subprocess.run(['true'])",
        "import os; os.system('true')",
        "open('made', 'w')",
        "import os; os.open('made', os.O_CREAT | os.O_WRONLY)",
        "import os; os.remove('kept')",
    ],
)
def test_the_process_that_reads_can_do_no_harm(harm, tmp_path):
    (tmp_path / "kept").write_text("x")
    code = f"from harness.importing.extract.guard import lock\nlock(1024)\ntry:\n    {harm}\nexcept Exception as error:\n    print(repr(error))"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "may not cause" in done.stdout, done.stdout
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]


def test_questions_land_on_the_extracted_text_and_the_corpus_loads(docs, tmp_path):
    canvas = Canvas(str(docs / "fees.pdf"))
    for number, text in enumerate(["A boat that stays for longer than a week pays the fee of a mem-", "ber, which is twelve crowns."]):
        canvas.drawString(72, 700 - 14 * number, text)
    canvas.save()
    table = docs / "questions.csv"
    rows = [
        ("question", "quote", "document"),
        ("When is the pond closed?", "The pond is closed on Monday.", "b.md"),
        ("What is the fee?", "the fee of a member, which is twelve crowns", "fees.pdf"),
        ("Who is the keeper?", "The keeper is a person of whom nothing is written here.", ""),
    ]
    table.write_text("\n".join(",".join(f'"{cell}"' for cell in row) for row in rows))
    imported = import_folder(docs, table, Choice(exclude=("drafts",)))
    assert ids(imported.documents) == ["a/deep/c.txt", "b.md", "fees.pdf"]  # the table itself is no document
    write_corpus(imported, tmp_path / "out")
    corpus = load_folder(tmp_path / "out")
    spans = [question.answers[0].evidence[0].span for question in corpus.questions]
    assert [corpus.documents[span.doc].text[span.start : span.end] for span in spans] == [rows[1][1], rows[2][1]]
    assert [row["question"] for row in imported.unplaced] == ["Who is the keeper?"]


def test_pdf_with_columns_and_ligatures_gives_every_quote(extra_data):
    case = extra_data.parent / "cases" / "pdf-columns"
    if not case.is_dir():
        pytest.skip("the trap is not here")
    expected = json.loads((case / "expect.json").read_text(encoding="utf-8"))
    (document,), _ = read_folder(case / "docs")
    places = [document.text.index(words) for words in expected["left_column_before_right"]]
    assert places == sorted(places)
    for row in (case / "quotes.jsonl").read_text(encoding="utf-8").split("\n"):
        if row.strip():
            (evidence,) = json.loads(row)["answers"][0]["evidence"]
            assert document.text.count(evidence["quote"]) == 1
    assert 1 + document.text.count("\f", 0, document.text.index("twelve")) == 2
