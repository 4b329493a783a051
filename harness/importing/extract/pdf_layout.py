"""One page of a PDF as blocks in reading order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from pdfminer.layout import LTChar, LTCurve, LTFigure, LTTextBox, LTTextLine

from harness.importing.extract.pdf_blocks import Block, Box, Line, merged
from harness.importing.extract.pdf_order import reading_order
from harness.importing.extract.pdf_words import cleaned
from harness.importing.extract.pipes import pipe_table

_THIN = 3.0
_LEAST_CELLS = 4
_MOST_RULES = 5_000
_LONG_CELL = 400
_WHOLE = 0.98
_SAME_ROW = 0.4
_SPACE = 0.15


def read_page(page: Any) -> list[Block]:
    """The blocks of a pdfplumber page, in reading order. Places are in points, from the top left of the page."""
    layout = page.layout
    height, width = float(layout.y1), float(layout.width)
    boxes = [item for item in layout if isinstance(item, LTTextBox)]
    tables = _tables(page) if boxes and _may_hold_table(layout) else []
    # Ordered as pdfminer grouped them, and only then divided by type: a short heading alone would not reach the column's width.
    groups = [[Block(box=box, table=table, page_height=height)] for box, table in tables]
    for item in boxes:
        lines = [line for line in _lines(item, height) if not any(box.holds(line.box) for box, _ in tables)]
        if lines:
            groups.append([Block(box=_around(run), lines=run, page_height=height) for run in _runs(lines)])
    figures = [box for box in (_box(item, height) for item in layout if isinstance(item, LTFigure)) if box.right - box.left < _WHOLE * width]
    order = reading_order([_hull([block.box for block in group]) for group in groups], figures, height)
    return merged([block for number in order for block in groups[number]])


def _may_hold_table(layout: Any) -> bool:
    """Looking for tables takes as long as reading the page: it is done only where rules stand upright as well as lie, or cells are drawn as boxes."""
    shapes = [(item.width, item.height) for item in layout if isinstance(item, LTCurve)]
    lying = sum(height < _THIN <= width for width, height in shapes)
    upright = sum(width < _THIN <= height for width, height in shapes)
    framed = sum(width >= _THIN and height >= _THIN for width, height in shapes)
    return len(shapes) <= _MOST_RULES and ((lying >= 2 and upright >= 2) or framed >= _LEAST_CELLS)


def _tables(page: Any) -> list[tuple[Box, str]]:
    """Tables that are drawn with lines: two rows and two columns or more, with words in at least half of their rows and columns."""
    found = []
    for table in page.find_tables():
        rows = [part for row in table.extract(x_tolerance_ratio=_SPACE) for part in _unruled([cleaned(cell or "") for cell in row])]
        rows = [row for row in rows if any(cell.strip() for cell in row)]
        columns = [column for column in zip(*rows, strict=True) if any(cell.strip() for cell in column)] if rows else []
        if len(rows) < 2 or len(columns) < 2:
            continue
        cells = [cell for row in rows for cell in row if cell]
        if 2 * len(cells) < len(rows) * len(columns) or sum(map(len, cells)) > _LONG_CELL * len(cells):
            continue  # frames around text, not a table
        left, top, right, bottom = table.bbox
        found.append((Box(left, top, right, bottom), pipe_table(list(zip(*columns, strict=True)))))
    return found


def _unruled(row: list[str]) -> list[list[str]]:
    """A row whose cells all have equally many lines is really so many rows, which no rule parts."""
    cells = [cell.split("\n") for cell in row]
    counts = {len(lines) for lines in cells if lines != [""]}
    if len(counts) != 1 or counts == {1} or sum(lines != [""] for lines in cells) < 2:
        return [row]
    return [[lines[number] if lines != [""] else "" for lines in cells] for number in range(counts.pop())]


def _lines(item: LTTextBox, height: float) -> Iterator[Line]:
    """The lines of a block from top to bottom. Pieces of one line that a wide space parted are put together again, from left to right."""
    pieces = sorted((_line(line, height) for line in item if isinstance(line, LTTextLine) and line.get_text().strip()), key=lambda it: it.middle)
    row: list[Line] = []
    for piece in pieces:
        if row and piece.middle - row[0].middle > _SAME_ROW * min(piece.size, row[0].size):
            yield _joined(row)
            row = []
        row.append(piece)
    if row:
        yield _joined(row)


def _joined(row: list[Line]) -> Line:
    if len(row) == 1:
        return row[0]
    row.sort(key=lambda it: it.box.left)
    main = max(row, key=lambda it: len(it.text))
    return replace(main, text=" ".join(it.text for it in row), box=_hull([it.box for it in row]))


def _line(line: LTTextLine, height: float) -> Line:
    sizes: Counter[float] = Counter()
    fonts: Counter[str] = Counter()
    width, count = 0.0, 0
    for letter in line:
        if isinstance(letter, LTChar) and not letter.get_text().isspace():
            sizes[round(2 * letter.size) / 2] += 1
            fonts[letter.fontname.lower()] += 1
            width, count = width + letter.width, count + 1
    size = max(sizes.items(), key=lambda entry: (entry[1], entry[0]))[0] if sizes else 0.0
    font = max(fonts.items(), key=lambda entry: (entry[1], entry[0]))[0] if fonts else ""
    return Line(cleaned(line.get_text()), _box(line, height), size, font, width / max(count, 1))


def _box(item: Any, height: float) -> Box:
    return Box(float(item.x0), height - float(item.y1), float(item.x1), height - float(item.y0))


def _around(lines: list[Line]) -> Box:
    return _hull([line.box for line in lines])


def _hull(boxes: list[Box]) -> Box:
    return Box(min(box.left for box in boxes), min(box.top for box in boxes), max(box.right for box in boxes), max(box.bottom for box in boxes))


def _runs(lines: list[Line]) -> Iterator[list[Line]]:
    """Parts of a block in one kind of type: a heading set close above its paragraph, code below it."""
    run: list[Line] = []
    for line in lines:
        if run and line.kind != run[-1].kind:
            yield run
            run = []
        run.append(line)
    if run:
        yield run
