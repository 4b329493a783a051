"""Runs the notebooks on stored results and writes them, with their pictures, to docs/notebooks/*.md.

    chunk-sweep run --multirun strategy=fixed,recursive size=128,256,512 overlap=0 embedder=minilm,hashing
    chunk-sweep run experiment=quickstart
    python benchmarks/render_notebooks.py            # reads outputs/, or the folder or tracking URI that is given

The sweep that was run last is the one that notebooks 1 to 3 tell about. The notebooks themselves stay as they are: without outputs.
"""

from __future__ import annotations

import io
import os
import re
import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbconvert import MarkdownExporter
from nbformat import NotebookNode
from PIL import Image

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOKS, RENDERED = ROOT / "notebooks", ROOT / "docs" / "notebooks"
COLOURS = 128
WIDEST = 1000


def main(place: str) -> None:
    RENDERED.joinpath("images").mkdir(parents=True, exist_ok=True)
    os.environ["CHUNK_SWEEP_OUTPUTS"] = place if ":" in place else str(Path(place).resolve())
    for path in sorted(NOTEBOOKS.glob("*.ipynb")):
        book = executed(path)
        text = markdown(book, path.stem)
        (RENDERED / f"{path.stem}.md").write_text(text, encoding="utf-8")
        print(f"{path.stem}: {len(text):,} characters")


def executed(path: Path) -> NotebookNode:
    book = nbformat.read(path, as_version=4)
    NotebookClient(book, timeout=600, resources={"metadata": {"path": str(NOTEBOOKS)}}).execute()
    return book


def markdown(book: NotebookNode, name: str) -> str:
    for cell in book.cells:
        for output in cell.get("outputs", []):
            output.get("data", {}).pop("text/html", None)  # tables as text: they read well in any viewer, and are a tenth of the size
    body, resources = MarkdownExporter().from_notebook_node(book)
    for number, (key, data) in enumerate(resources["outputs"].items()):
        image = f"images/{name[:2]}_{number}.png"
        (RENDERED / image).write_bytes(small(data))
        body = body.replace(f"![png]({key})", f"![{heading_above(body, key)}]({image})")
    head = f"<!-- Made by benchmarks/render_notebooks.py from notebooks/{name}.ipynb; change that, not this. -->\n\n"
    return head + re.sub(r"[ \t]+\n", "\n", re.sub(r"\n{3,}", "\n\n", body)).strip() + "\n"


def heading_above(body: str, key: str) -> str:
    """What the picture shows, for those who can't see it."""
    headings = re.findall(r"^#+ (.*)$", body[: body.index(f"({key})")], flags=re.MULTILINE)
    return headings[-1] if headings else "figure"


def small(data: bytes) -> bytes:
    """The picture with few colours, and not wider than a page shows."""
    picture = Image.open(io.BytesIO(data)).convert("RGB")
    picture.thumbnail((WIDEST, 10 * WIDEST), Image.Resampling.LANCZOS)
    out = io.BytesIO()
    picture.quantize(COLOURS, dither=Image.Dither.NONE).save(out, "PNG", optimize=True)
    return out.getvalue()


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "outputs")
