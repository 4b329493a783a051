"""Tables of a page: those that hold data become rows, those that only place things on the page are dissolved."""

from __future__ import annotations

from bs4 import BeautifulSoup, Tag

_BLOCKS = ["table", "h1", "h2", "h3", "h4", "h5", "h6", "pre", "ul", "ol", "dl", "blockquote"]
_PARTS = ["thead", "tbody", "tfoot", "tr", "td", "th", "caption"]
_WIDEST = 1_000
_LONG = 400


def unwrap_layout(soup: BeautifulSoup) -> None:
    """Turn tables that place things on the page (with blocks inside, with one column, or marked as presentation) into plain blocks."""
    # Outermost first: a table with a table inside is dissolved, the one inside may hold data.
    for table in soup("table"):
        if _layout(table):
            for part in [table, *(tag for tag in table.find_all(_PARTS) if tag.find_parent("table") is table)]:
                part.name = "div" if part.name != "caption" else "p"


def _layout(table: Tag) -> bool:
    if table.get("role") in ("presentation", "none") or "navigation" in str(table.get("summary", "")).lower():
        return True
    own = [cell for cell in table(["td", "th"]) if cell.find_parent("table") is table]
    rows = [row for row in table("tr") if row.find_parent("table") is table]
    blocks = sum(cell.find(_BLOCKS) is not None for cell in own)
    if table.find("table") is not None or not rows or len(own) <= 1 or any(cell.find(["h1", "h2", "h3"]) for cell in own):
        return True
    # Code, lists and the like in a few cells are data; in most of them, or where the cells are prose side by side, they are layout.
    prose = sum(len(cell.get_text()) > _LONG for cell in own)
    return len(own) == len(rows) or (len(rows) == 1 and blocks > 0) or 2 * prose > len(own)


def rows_of(table: Tag) -> list[list[str]]:
    """The cells' text, a list a row. A cell that spans several columns or rows stands in the first and leaves the others empty."""
    grid: list[list[str]] = []
    reserved: dict[tuple[int, int], str] = {}
    for number, row in enumerate(row for row in table("tr") if row.find_parent("table") is table):
        cells: list[str] = []
        for cell in row.find_all(["td", "th"], recursive=False):
            while (number, len(cells)) in reserved:
                cells.append("")
            column = len(cells)
            wide, high = _span(cell, "colspan"), _span(cell, "rowspan")
            cells += [" ".join(cell.get_text(" ").split())] + [""] * (wide - 1)
            reserved.update({(number + down, column + across): "" for down in range(1, high) for across in range(wide)})
        while (number, len(cells)) in reserved:
            cells.append("")
        if any(cells):
            grid.append(cells)
    return grid


def _span(cell: Tag, name: str) -> int:
    value = str(cell.get(name, "1"))
    return min(max(int(value), 1), _WIDEST) if value.isascii() and value.isdigit() and len(value) < 6 else 1
