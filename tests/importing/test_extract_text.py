"""Text, Markdown, reStructuredText, tables, notebooks: what is kept, what is assumed and said, what is refused."""

from __future__ import annotations

import json
from itertools import pairwise

import nbformat
import pytest

from harness.importing.extract import csv_table, markdown, notebook, plain, rst
from harness.importing.extract.base import Source, UnreadableError
from harness.importing.extract.encoding import decode
from harness.importing.extract.language import language_of

WORDS = {
    "cp1252": "Der Schlüssel für die große Tür hängt am Haken — „wie immer“.",
    "cp1250": "Żółta łódź płynie przez jezioro, która jest już bardzo stara.",
    "cp1251": "Ключ от шлюза находится в конторе. Вход открыт до вечера.",
    "shift_jis": "これは日本語の文章です。水門の鍵は事務所にあります。",
    "gb18030": "水闸的钥匙在办公室里。请不要把它带走。",
}


@pytest.mark.parametrize("encoding", WORDS)
def test_an_encoding_that_nobody_names_is_guessed_and_the_guess_is_told(encoding):
    text, notes = decode(WORDS[encoding].encode(encoding))
    assert text == WORDS[encoding]
    assert "guessed" in notes[0]


def test_a_few_accents_are_windows_1252():
    assert decode("Größe".encode("cp1252"))[0] == "Größe"


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_a_byte_order_mark_is_believed_and_dropped(encoding):
    assert decode("Ünter\r\nwegs".encode(encoding))[0] == "Ünter\r\nwegs"


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_wide_letters_without_a_mark_are_read_and_told(encoding):
    text, notes = decode("Plain words in wide letters.".encode(encoding))
    assert text == "Plain words in wide letters."
    assert "UTF-16" in notes[0]


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        (b"%PDF-1.4 ...", "a PDF"),
        (b"\x89PNG\r\n\x1a\n123", "an image"),
        (b"\x7fELF\x01\x02", "a program"),
        (bytes(range(256)) * 9, "binary"),
        (b"a\0b", "binary"),
    ],
)
def test_binary_files_under_a_text_name_are_refused(raw, why):
    with pytest.raises(UnreadableError, match=why):
        plain.extract(Source(raw, "notes.txt"))


def test_text_is_never_changed():
    text = "a\r\nb\rc\u2028d\x0ce\ttrailing  \n\n"
    assert plain.extract(Source(text.encode(), "a.txt")).text == text
    assert markdown.extract(Source(text.encode(), "a.md")).text == text


def test_front_matter_becomes_metadata_and_stays_in_the_text():
    text = "---\ntitle: Fog\ndate: 2026-01-02\ntags: [a, b]\nshare: .nan\n---\n# Other\n"
    found = markdown.extract(Source(text.encode(), "fog.md"))
    assert (found.text, found.title) == (text, "Fog")
    assert found.metadata == {"title": "Fog", "date": "2026-01-02", "tags": ["a", "b"], "share": "nan"}
    json.dumps(found.metadata, allow_nan=False)


def test_front_matter_can_bring_no_objects_and_no_flood(tmp_path):
    target = tmp_path / "made"
    found = markdown.extract(Source(f'---\nx: !!python/object/apply:os.mkdir ["{target}"]\n---\n'.encode(), "a.md"))
    assert not target.exists()
    assert not found.metadata
    assert "no YAML" in found.notes[0]
    names = "abcdefghijkl"
    lines = [
        "a: &a [" + "x," * 9 + "]",
        *(f"{after}: &{after} [{','.join([f'*{before}'] * 9)}]" for before, after in pairwise(names)),
    ]
    bomb = markdown.extract(Source(("---\n" + "\n".join(lines) + "\n---\n").encode(), "b.md"))
    assert len(json.dumps(bomb.metadata)) < 20_000


def test_the_title_of_markdown_is_no_comment_in_code():
    assert markdown.extract(Source(b"```sh\n# not this\n```\n\n# This one #\n", "a.md")).title == "This one"


def test_titles_of_rst_become_headings_by_their_depth():
    text = (
        "========\nThe whole\n========\n\nOne\n===\n\nwords\n\nTwo\n---\n\n::\n\n    Not a title\n    -----------\n\n.. note:: kept\n\nThree\n=====\n"
    )
    text = text.replace("========\nThe whole\n========", "=========\nThe whole\n=========")
    found = rst.extract(Source(text.encode(), "a.rst"))
    headings = [line for line in found.text.splitlines() if line.startswith("#")]
    assert headings == ["# The whole", "## One", "### Two", "## Three"]
    assert "    Not a title\n    -----------" in found.text
    assert ".. note:: kept" in found.text


def test_rst_includes_no_file(tmp_path):
    (tmp_path / "secret.txt").write_text("secret words")
    text = f"Title\n=====\n\n.. include:: {tmp_path}/secret.txt\n\n.. csv-table::\n   :file: {tmp_path}/secret.txt\n"
    assert "secret words" not in rst.extract(Source(text.encode(), "a.rst")).text


@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
def test_separated_values_become_a_pipe_table(mark):
    text = "\n".join([mark.join(row) for row in (["name", "fee"], ["boat", "12"], ["ra/ft", "3"])])
    found = csv_table.extract(Source(text.encode(), "fees.csv"))
    assert found.text == "| name | fee |\n| --- | --- |\n| boat | 12 |\n| ra/ft | 3 |\n"


def test_bars_and_line_ends_inside_a_cell_break_no_table():
    assert csv_table.extract(Source(b'a,b\n"x|y","two\nlines"\n', "a.csv")).text.splitlines()[-1] == "| x\\|y | two lines |"


def test_a_notebook_is_its_cells_in_order():
    book = nbformat.v4.new_notebook(metadata={"kernelspec": {"name": "python3", "language": "python", "display_name": "Python"}})
    shown = nbformat.v4.new_output("display_data", {"text/plain": "a table", "text/html": "<script>x</script>", "image/png": "AAAA"})
    printed = nbformat.v4.new_output("stream", text="\x1b[31m" + "y" * 6_000)
    book.cells = [nbformat.v4.new_markdown_cell("# Head\n\nWords."), nbformat.v4.new_code_cell("print('```')", outputs=[shown, printed])]
    found = notebook.extract(Source(nbformat.writes(book).encode(), "a.ipynb"))
    assert found.title == "Head"
    assert found.text.startswith("# Head\n\nWords.\n\n````python\nprint('```')\n````\n\n```output\na table\n```\n\n```output\nyyyy")
    assert "script" not in found.text
    assert "\x1b" not in found.text
    assert "cut" in found.notes[0]


@pytest.mark.parametrize("raw", [b'{"cells": 3}', b"[" * 100_000, b"no json"])
def test_what_is_no_notebook_is_refused(raw):
    with pytest.raises(UnreadableError, match="no notebook"):
        notebook.extract(Source(raw, "a.ipynb"))


def test_languages_are_told_by_script_and_small_words(extra_data):
    english = "The key to the shed is at the office, and you may ask for it if you are a member of the club. " * 3
    assert language_of(english) == "en"
    assert language_of("Der Schlüssel ist im Büro und wird nicht an Gäste gegeben, die keine Karte für das Haus haben. " * 3) == "de"
    assert language_of(WORDS["shift_jis"]) == "ja"
    assert language_of(WORDS["gb18030"] * 2) == "zh"
    assert language_of("0x1a2b c3d4 e5f6 a b c d e f " * 50) == ""
    assert language_of("```\n" + english + "\n```") == ""
    for name, language in (("xquad_ar", "ar"), ("jaquad", "ja"), ("squad_half", "en")):
        lines = (extra_data / "labelled" / name / "corpus.jsonl").read_text(encoding="utf-8").split("\n")[:40]
        assert {language_of(json.loads(line)["text"]) for line in lines if line.strip()} == {language}
