"""Documents: one text form, ids that can't meet, and nothing passed over in silence."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.corpus.documents import read_documents
from harness.errors import DataError

Build = Callable[..., Path]


def _texts(root: Path) -> dict[str, str]:
    return {document.id: document.text for document in read_documents(root)[0]}


def test_ids_are_paths_so_equal_names_never_meet(build: Build) -> None:
    names = [
        "index.md",
        "north/index.md",
        "north/index.txt",
        "north/mill/index.md",
        "north mill/index.md",
        "north_mill/index.md",
        "north.mill/index.md",
    ]
    root = build(files={name: f"This is {name}." for name in names})
    assert _texts(root) == {name: f"This is {name}." for name in names}
    assert list(_texts(root)) == sorted(names)


def test_text_is_the_file_less_its_mark(build: Build) -> None:
    raw = "# Räder\r\n\r\nLone\rreturn, e\u0301, \u2028 and 水車.\n"
    root = build(files={"a.md": b"\xef\xbb\xbf" + raw.encode(), "b.md": raw, "c.txt": "one line " * 20_000})
    assert _texts(root) == {"a.md": raw, "b.md": raw, "c.txt": "one line " * 20_000}
    assert any("byte order mark of 1 files" in warning for warning in read_documents(root)[1])


def test_what_is_no_document_is_counted(build: Build) -> None:
    files: dict[str, bytes | str] = {"a.md": "Kept.", "B.TXT": "Kept too.", "c.pdf": b"%PDF", "LICENSE": "x", ".hidden.md": "x", ".git/d.md": "x"}
    root = build(files={**files, "e.txt": b"nul \x00 byte"})
    documents, warnings = read_documents(root)
    assert [document.id for document in documents] == ["B.TXT", "a.md"]
    (warning,) = warnings
    assert warning == "documents: passed over 5 entries that are no documents (1 .pdf, 1 binary, 1 hidden, 1 hidden folder, 1 without extension)"


def test_empty_and_blank_documents_are_kept_and_counted(build: Build) -> None:
    documents, warnings = read_documents(build(files={"a.md": "", "b.md": " \r\n\t", "c.md": "Text."}))
    assert [document.text for document in documents] == ["", " \r\n\t", "Text."]
    assert warnings == ["2 of 3 documents are empty or blank and give no chunk (first: 'a.md')"]


def test_other_encodings_are_refused_with_the_place_all_files_at_once(build: Build) -> None:
    root = build(files={"latin.md": b"Caf\xe9", "sub/wide.txt": "Mill".encode("utf-16"), "fine.md": "x"})
    with pytest.raises(DataError) as caught:
        read_documents(root)
    assert "2 problems" in str(caught.value)
    assert "latin.md: byte 0xe9 at byte position 3 is not UTF-8" in str(caught.value)
    assert "sub/wide.txt: begins with the byte order mark of UTF-16" in str(caught.value)


def test_links_are_followed_inside_and_refused_outside(build: Build, tmp_path: Path) -> None:
    root = build(files={"a/one.md": "One."})
    (root / "documents" / "again.md").symlink_to(root / "documents" / "a" / "one.md")
    (root / "documents" / "loop").symlink_to(root / "documents", target_is_directory=True)
    assert _texts(root) == {"a/one.md": "One.", "again.md": "One."}
    assert "1 link to a folder inside" in read_documents(root)[1][0]
    (tmp_path / "secret.md").write_text("Elsewhere.")
    (root / "documents" / "out.md").symlink_to(tmp_path / "secret.md")
    (root / "documents" / "outside").symlink_to(tmp_path, target_is_directory=True)
    with pytest.raises(DataError) as caught:
        read_documents(root)
    assert "out.md: is a link that leaves the folder" in str(caught.value)
    assert "outside: is a link that leaves the folder" in str(caught.value)


def test_broken_links_and_pipes_are_refused_not_read(build: Build) -> None:
    root = build(files={"a.md": "x"})
    (root / "documents" / "gone.md").symlink_to(root / "documents" / "nowhere.md")
    os.mkfifo(root / "documents" / "pipe.txt")
    with pytest.raises(DataError, match="2 problems"):
        read_documents(root)


def test_metadata_joins_by_id(build: Build) -> None:
    metadata = [{"id": "a.md", "title": "Wheel", "metadata": {"version": 2}}]
    documents, warnings = read_documents(build(files={"a.md": "x", "b.md": "y"}, metadata=metadata))
    assert [(document.title, dict(document.metadata)) for document in documents] == [("Wheel", {"version": 2}), ("", {})]
    assert "1 of 2 documents have no line here" in warnings[0]
    with pytest.raises(DataError, match=r"line 2: there is no document 'c\.md'"):
        read_documents(build(files={}, metadata=[*metadata, {"id": "c.md"}]))


def test_lines_keep_their_order_and_null_counts_as_left_out(build: Build) -> None:
    rows: list[dict[str, Any]] = [{"id": "z", "text": "Last."}, {"id": "a", "text": "\ufeffFirst.", "title": None, "metadata": {"n": 1}}]
    documents, warnings = read_documents(build(corpus=rows))
    assert [(document.id, document.text, document.title) for document in documents] == [("z", "Last.", ""), ("a", "\ufeffFirst.", "")]
    assert "1 texts begin with a byte order mark" in warnings[0]


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ({"id": "a"}, "lacks 'text' (a string)"),
        ({"id": "a", "text": "x", "body": "y"}, "unknown key 'body'; known are id, text, title, metadata"),
        ({"id": 7, "text": "x"}, "'id' of the document is '7'; it must be a string"),
        ({"id": "a", "text": ["x"]}, "must be a string"),
        ({"id": "a", "text": "x", "metadata": []}, "must be an object"),
        ({"id": " ", "text": "x"}, "'id' is blank"),
        ({"id": "a/../b", "text": "x"}, "part '..'"),
        ({"id": "a\nb", "text": "x"}, "control character"),
        ({"id": "first", "text": "x"}, "stands already in line 1"),
    ],
)
def test_a_wrong_line_is_told(build: Build, row: dict[str, Any], told: str) -> None:
    with pytest.raises(DataError) as caught:
        read_documents(build(corpus=[{"id": "first", "text": "x"}, row]))
    assert caught.value.line == 2
    assert told in str(caught.value)


def test_exactly_one_source_of_documents(build: Build) -> None:
    with pytest.raises(DataError, match="neither"):
        read_documents(build())
    with pytest.raises(DataError, match="found no document"):
        read_documents(build(corpus=""))
    with pytest.raises(DataError, match="each document's own line"):
        read_documents(build(corpus=[{"id": "a", "text": "x"}], metadata=[{"id": "a"}]))
    with pytest.raises(DataError, match="both"):
        read_documents(build(files={"a.pdf": "x"}))


def test_a_folder_without_text_files_is_refused(build: Build) -> None:
    with pytest.raises(DataError, match=r"found no document; \.md, \.markdown, \.txt,.* and source files \(\.py, .*\) are read"):
        read_documents(build(files={"a.pdf": "x"}))


def test_source_and_html_are_documents_as_they_are(build: Build) -> None:
    files = {"a.py": "def a():\n    return 1\n", "b/page.html": "<h1>Mill</h1>", "c.exe": "x"}
    documents, warnings = read_documents(build(files=files))
    assert [(document.id, document.text) for document in documents] == list(files.items())[:2]
    assert ".exe" in "".join(warnings)
