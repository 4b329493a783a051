"""Word and Excel: structure kept; bombs, entities, locks and damage refused before they cost anything."""

from __future__ import annotations

import datetime
import io
import zipfile
from itertools import pairwise

import docx as word
import openpyxl
import pytest

from harness.importing.extract import docx, sheets
from harness.importing.extract.base import Source, UnreadableError


def rules() -> bytes:
    made = word.Document()
    made.core_properties.title, made.core_properties.language = "Harbour rules", "en-GB"
    made.core_properties.modified = datetime.datetime(2026, 3, 4)
    made.add_heading("Harbour rules", 0)
    made.add_heading("Berths", 1)
    made.add_paragraph("Boats of up to nine metres moor at the inner wall.")
    for text in ("fenders", "a lamp"):
        made.add_paragraph(text, style="List Bullet")
    table = made.add_table(2, 3)
    for row, cells in enumerate([("Length", "Fee", "Note"), ("under 6 m", "12", "a night | a day")]):
        for column, cell in enumerate(cells):
            table.cell(row, column).text = cell
    made.add_heading("Exceptions", 2)
    made.add_paragraph("In a storm nobody pays.")
    made.sections[0].header.paragraphs[0].text = "Running head"
    return saved(made)


def saved(made) -> bytes:
    buffer = io.BytesIO()
    made.save(buffer)
    return buffer.getvalue()


def fees() -> bytes:
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "Fees 2026"
    for row in (["Fees of the harbour"], [], ["Length", "Fee", "From"], ["under 6 m", 12.0, datetime.date(2026, 4, 1)], ["6 to 9 m", 19.5]):
        sheet.append(row)
    sheet["F20"] = "far away"
    hidden = book.create_sheet("Old")
    hidden.sheet_state = "hidden"
    hidden.append(["a", "b"])
    book.create_sheet("Empty")
    return saved(book)


def with_parts(raw: bytes, parts: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(raw)) as source, zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as target:
        for name in source.namelist():
            if name not in parts:
                target.writestr(name, source.read(name))
        for name, part in parts.items():
            target.writestr(name, part)
    return buffer.getvalue()


def part(raw: bytes, name: str) -> str:
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        return archive.read(name).decode()


def entities(last: str) -> str:
    names = "abcdefghij"
    made = "".join(f'<!ENTITY {after} "{f"&{before};" * 10}">' for before, after in pairwise(names))
    return f'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "lollollol">{made}{last}]>'


def test_a_word_file_keeps_its_headings_lists_and_tables():
    found = docx.extract(Source(rules(), "rules.docx"))
    assert found.text.startswith("# Harbour rules\n\n# Berths\n\nBoats of up to nine metres moor at the inner wall.\n\n- fenders\n- a lamp\n\n")
    assert (
        "| Length | Fee | Note |\n| --- | --- | --- |\n| under 6 m | 12 | a night \\| a day |\n\n## Exceptions\n\nIn a storm nobody pays."
        in found.text
    )
    assert "Running head" not in found.text
    assert (found.title, found.metadata) == ("Harbour rules", {"date": "2026-03-04", "language": "en"})


def test_a_workbook_is_a_table_a_block_of_rows():
    found = sheets.extract(Source(fees(), "fees.xlsx"))
    assert found.text == (
        "## Fees 2026\n\nFees of the harbour\n\n"
        "| Length | Fee | From |\n| --- | --- | --- |\n| under 6 m | 12 | 2026-04-01 |\n| 6 to 9 m | 19.5 |  |\n"
        "\n"
        "far away\n\n## Old\n\n| a | b |\n| --- | --- |\n"
    )
    assert "hidden are read too: Old" in found.notes[0]
    assert "Empty" in found.notes[1]


def test_a_sheet_that_claims_to_be_endless_is_only_its_cells():
    raw = fees()
    sheet = part(raw, "xl/worksheets/sheet1.xml").replace("</sheetData>", '<row r="1048576"><c r="XFD1048576"><v>9</v></c></row></sheetData>')
    assert "\n\n9\n\n## Old" in sheets.extract(Source(with_parts(raw, {"xl/worksheets/sheet1.xml": sheet.encode()}), "fees.xlsx")).text


@pytest.mark.parametrize(("extract", "made", "name"), [(docx.extract, rules, "a.docx"), (sheets.extract, fees, "a.xlsx")])
def test_bombs_locks_and_damage_are_refused_before_they_are_opened(extract, made, name):
    raw = made()
    cases = {
        "zip bomb": with_parts(raw, {"media/x.bin": b"\0" * 50_000_000}),
        "parts": with_parts(raw, {f"x/{number}": b"" for number in range(10_001)}),
        "encrypted": b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(3_000),
        "damaged": raw[: len(raw) // 2],
        f"no {name[2:]}": b"no archive",
    }
    for why, damaged in cases.items():
        with pytest.raises(UnreadableError, match=why):
            extract(Source(damaged, name))


@pytest.mark.parametrize("last", ["", '<!ENTITY z SYSTEM "file:///etc/passwd">'])
def test_entities_flood_nothing_and_fetch_nothing(last):
    raw = rules()
    body = part(raw, "word/document.xml")
    body = entities(last) + body[body.index("?>") + 2 :].replace("In a storm", "&z;" if last else "&j;")
    try:
        text = docx.extract(Source(with_parts(raw, {"word/document.xml": body.encode()}), "a.docx")).text
    except UnreadableError:
        return
    assert "root:" not in text
    assert len(text) < 1_000_000
