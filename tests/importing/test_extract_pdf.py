"""PDF: columns, pages, headings, tables, code, cut words; scans, locks and damage told in one line. Files are made by reportlab."""

from __future__ import annotations

import io

import pdfplumber
import pytest
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.pdfgen.canvas import Canvas

from harness.importing.extract import pdf
from harness.importing.extract.base import PAGE_BREAK, Source, UnreadableError
from harness.importing.extract.pdf_blocks import Box
from harness.importing.extract.pdf_order import reading_order

LEFT = [
    "The gate of the lower pond is",
    "opened on the first mild day of",
    "spring, and the keeper of the main-",
    "gate writes it down. Nobody else",
    "may open it before noon.",
]
RIGHT = [
    "Ducks are fed at nine. The feed",
    "is kept in a dry place, with the",
    "nets. A lost net costs the holder",
    "five crowns, or a day of work at",
    "the pond, as the keeper chooses.",
]


def made(draw, **options) -> bytes:
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=(595, 842), **options)
    draw(canvas)
    canvas.save()
    return buffer.getvalue()


def line(canvas, x, y, text, font="Helvetica", size=11):
    canvas.setFont(font, size)
    canvas.drawString(x, y, text)


def two_columns(canvas):
    line(canvas, 72, 760, "Rules of the pond", "Helvetica-Bold", 20)
    for number, (left, right) in enumerate(zip(LEFT, RIGHT, strict=True)):  # row by row, as some programs write columns
        line(canvas, 72, 720 - 14 * number, left)
        line(canvas, 320, 720 - 14 * number, right)
    line(canvas, 280, 40, "- 1 -", size=9)
    canvas.showPage()
    line(canvas, 72, 760, "Annex", "Helvetica-Bold", 20)
    line(canvas, 72, 730, "The spare key is number twelve.")
    canvas.showPage()


def extracted(raw: bytes):
    return pdf.extract(Source(raw, "pond.pdf"))


def test_columns_are_read_one_after_the_other():
    raw = made(two_columns)
    with pdfplumber.open(io.BytesIO(raw)) as file:
        assert "is Ducks" in file.pages[0].extract_text()  # read row by row, the columns of this file run into each other
    text = extracted(raw).text
    assert "opened on the first mild day of spring, and the keeper of the maingate writes it down. Nobody else may open it before noon." in text
    assert "Ducks are fed at nine. The feed is kept in a dry place, with the nets. A lost net costs the holder five crowns" in text
    assert text.index("before noon") < text.index("Ducks")


def test_pages_are_parted_by_one_mark_that_counts_them():
    found = extracted(made(two_columns))
    assert found.text.startswith("# Rules of the pond\n\n")
    assert found.text.count(PAGE_BREAK) == 1
    assert f"\n\n{PAGE_BREAK}\n\n# Annex\n\nThe spare key" in found.text
    assert 1 + found.text.count(PAGE_BREAK, 0, found.text.index("twelve")) == found.metadata["pages"] == 2
    assert found.title == "Rules of the pond"


def test_a_hyphen_that_the_document_writes_elsewhere_stays():
    def draw(canvas):
        line(canvas, 72, 700, "We call it the main-gate here. It is a good thing that the main-")
        line(canvas, 72, 686, "gate is closed at night, for the main-")
        line(canvas, 72, 672, "tenance of it is dear.")

    assert "the main-gate is closed at night, for the maintenance of it is dear." in extracted(made(draw)).text


def test_ruled_tables_code_and_items():
    def draw(canvas):
        line(canvas, 72, 700, "Fees are paid at the office, in advance, and are not given back.")
        for row, cells in enumerate([("Length", "Fee of a day"), ("under 6 m", "12"), ("6 to 9 m", "19")]):
            for column, cell in enumerate(cells):
                canvas.rect(72 + 150 * column, 640 - 20 * row, 150, 20)
                line(canvas, 76 + 150 * column, 646 - 20 * row, cell)
        line(canvas, 72, 570, "def fee(length):", "Courier")
        line(canvas, 98, 556, "return 12", "Courier")
        line(canvas, 72, 520, "• one lamp")
        line(canvas, 72, 506, "• two ropes")

    text = extracted(made(draw)).text
    assert "| Length | Fee of a day |\n| --- | --- |\n| under 6 m | 12 |\n| 6 to 9 m | 19 |" in text
    assert "```\ndef fee(length):\n    return 12\n```" in text
    assert "- one lamp\n- two ropes" in text


def test_running_heads_go_and_headings_stay():
    def draw(canvas):
        for page in range(1, 7):
            line(canvas, 72, 810, "Handbook of the pond", size=9)
            line(canvas, 72, 760, f"Chapter {page}", "Helvetica-Bold", 16)
            line(canvas, 72, 730, f"These are the words of page {page}, which are quite ordinary words of a page.")
            line(canvas, 290, 30, str(page), size=9)
            canvas.showPage()

    found = extracted(made(draw))
    assert "Handbook" not in found.text
    assert found.text.count("# Chapter") == 6
    assert "12 running heads" in found.notes[0]


def test_bookmarks_give_headings_their_levels():
    def draw(canvas):
        for level, title in enumerate(["Water", "Gates", "Keys"]):
            canvas.bookmarkPage(title)
            canvas.addOutlineEntry(title, title, level)
            line(canvas, 72, 700 - 100 * level, f"{level + 1}. {title}")
            line(canvas, 72, 680 - 100 * level, "Some words that follow the heading, in the same type as it is set in.")

    text = extracted(made(draw)).text
    assert [row for row in text.splitlines() if row.startswith("#")] == ["# 1. Water", "## 2. Gates", "### 3. Keys"]


def test_a_scan_is_named_as_one():
    def draw(canvas):
        canvas.rect(100, 100, 300, 300, fill=1)
        canvas.showPage()

    with pytest.raises(UnreadableError, match="scanned"):
        extracted(made(draw))


def test_a_page_without_text_keeps_its_number():
    def draw(canvas):
        line(canvas, 72, 700, "first")
        canvas.showPage()
        canvas.rect(100, 100, 300, 300, fill=1)
        canvas.showPage()
        line(canvas, 72, 700, "third")

    found = extracted(made(draw))
    assert 1 + found.text.count(PAGE_BREAK, 0, found.text.index("third")) == 3
    assert "1 of 3 pages have no text" in found.notes[0]


def test_a_locked_file_is_refused_and_an_open_one_with_rights_is_read():
    def draw(canvas):
        line(canvas, 72, 700, "Plain words")

    with pytest.raises(UnreadableError, match="encrypted"):
        extracted(made(draw, encrypt=StandardEncryption("secret", ownerPassword="owner")))
    assert "Plain words" in extracted(made(draw, encrypt=StandardEncryption("", ownerPassword="owner", canCopy=0))).text


def test_damage_is_told_in_one_line():
    raw = made(two_columns)
    for damaged in (raw[: len(raw) // 2], b"hello", raw[:20], b"%PDF-1.7\n" + bytes(range(256)) * 20):
        with pytest.raises(UnreadableError) as told:
            extracted(damaged)
        assert "\n" not in str(told.value)


def test_reading_order_of_a_page_with_a_spanning_title_figure_and_foot():
    boxes = {
        "foot": Box(280, 810, 300, 820),
        "right below": Box(320, 520, 560, 700),
        "left below": Box(50, 520, 290, 640),
        "left last": Box(50, 650, 290, 700),
        "wide": Box(50, 400, 560, 500),
        "right 3": Box(320, 300, 560, 380),
        "right 2": Box(320, 200, 560, 290),
        "right 1": Box(320, 100, 560, 190),
        "left 2": Box(50, 220, 290, 380),
        "left 1": Box(50, 100, 290, 200),
        "title": Box(150, 50, 460, 80),
    }
    order = [list(boxes)[number] for number in reading_order(list(boxes.values()), height=842)]
    assert order == ["title", "left 1", "left 2", "right 1", "right 2", "right 3", "wide", "left below", "left last", "right below", "foot"]


def test_reading_order_is_a_permutation_whatever_the_boxes():
    # Boxes that overlap in circles, and more boxes than the order is worked out for.
    circle = [Box(0, 0, 60, 30), Box(50, 20, 120, 50), Box(20, 25, 70, 90), Box(0, 0, 60, 30)]
    assert sorted(reading_order(circle)) == [0, 1, 2, 3]
    many = [Box(10 * (number % 40), 5 * (number // 40), 10 * (number % 40) + 8, 5 * (number // 40) + 4) for number in range(1_000)]
    assert sorted(reading_order(many, height=842)) == list(range(1_000))
    assert reading_order([]) == []
