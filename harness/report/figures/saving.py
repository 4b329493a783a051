"""Figures as files and as SVG: the same figure gives the same bytes."""

from __future__ import annotations

import hashlib
import html
import io
import re
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from matplotlib import rc_context
from matplotlib.figure import Figure

from harness.report.figures.style import NO_GLYPH, RC
from harness.tracking.files import write_bytes

FORMATS = ("png", "svg", "pdf")
DPI = 150
_DATELESS: dict[str, dict[str, Any]] = {
    "png": {"Software": None},
    "svg": {"Date": None, "Creator": None, "Format": None, "Type": None},
    "pdf": {"CreationDate": None, "Producer": None, "Creator": None},
}
_FONTS = "'DejaVu Sans', Verdana, Arial, sans-serif"


def save(figure: Figure, folder: Path, name: str, formats: Sequence[str] = FORMATS) -> list[Path]:
    """Write `folder/name.FORMAT` for each format and return the paths. PNG (150 dots an inch) is on white, SVG and PDF have no background.

    Text stays text in SVG and PDF. Nothing in the files depends on time or on a random number.
    """
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{name}.{suffix}" for suffix in formats]
    for path, suffix in zip(paths, formats, strict=True):
        write_bytes(path, _bytes(figure, suffix))
    return paths


def to_svg(figure: Figure) -> str:
    """The figure as an SVG document with a transparent background and text as text."""
    return _bytes(figure, "svg").decode("utf-8")


def svg_for_page(figure: Figure, name: str = "") -> str:
    """The figure as one <svg> element to be put into an HTML page.

    What is drawn in ink takes the colour of the page's text (`currentColor`). Every id begins with `name` (by default a digest of the picture), so
    several figures can stand in one page. The title is its label for screen readers.
    """
    drawing = to_svg(figure)
    drawing = drawing[drawing.index("<svg") :].rstrip()
    prefix = name or "f" + hashlib.sha256(drawing.encode()).hexdigest()[:10]
    drawing = re.sub(r'(\bid="|url\(#|href="#)', rf"\g<1>{prefix}-", drawing)
    drawing = re.sub(r"#000000\b|#000(?=[;\"'])|\bblack\b(?=[;\"'])", "currentColor", drawing)
    label = html.escape(" ".join(str(figure.get_suptitle()).split()) or "figure")
    # A style element would reach the whole page. Matplotlib writes no fill where it is black: that comes from here too.
    drawing = re.sub(r"\s*<defs>\s*<style.*?</style>\s*</defs>", "", drawing, count=1, flags=re.DOTALL)
    return drawing.replace("<svg ", f'<svg role="img" aria-label="{label}" fill="currentColor" stroke-linejoin="round" ', 1)


def _bytes(figure: Figure, suffix: str) -> bytes:
    out = io.BytesIO()
    face = "white" if suffix == "png" else "none"
    with rc_context({**RC, "svg.hashsalt": "chunk-sweep"}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=NO_GLYPH)
        figure.savefig(out, format=suffix, dpi=DPI, facecolor=face, edgecolor="none", metadata=_DATELESS.get(suffix))
    if suffix != "svg":
        return out.getvalue()
    drawn = re.sub(r"(font: [^;\"]*?)'DejaVu Sans'[^;\"]*", rf"\g<1>{_FONTS}", out.getvalue().decode("utf-8"))
    return drawn.encode("utf-8")
