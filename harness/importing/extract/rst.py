"""reStructuredText with its underlined titles written as Markdown headings; all else stays as it was written.

docutils says which lines are titles and how deep: the underline alone does not, since its meaning depends on what came before. Converting the whole
text would drop every directive and role that docutils does not know (Sphinx's), and with them the words inside.
"""

from __future__ import annotations

import docutils.core
from docutils import nodes

from harness.importing.extract.base import Extracted, Source, UnreadableError
from harness.importing.extract.encoding import decode
from harness.importing.extract.markdown import first_heading

# Nothing is included, nothing raw is passed on, no configuration file is read, and no mistake in the text stops the reading.
_SETTINGS = {
    "file_insertion_enabled": False,
    "raw_enabled": False,
    "report_level": 5,
    "halt_level": 6,
    "doctitle_xform": False,
    "_disable_config": True,
    "line_length_limit": 1_000_000,
    "syntax_highlight": "none",
}
_DEEPEST = 6


def extract(source: Source) -> Extracted:
    """The text with titles as `#` headings. Tables, directives and roles stay as they were drawn."""
    text, notes = decode(source.raw)
    try:
        tree = docutils.core.publish_doctree(text, settings_overrides=dict(_SETTINGS))
    except RecursionError as error:
        raise UnreadableError("is nested too deeply to be read") from error
    except Exception as error:  # noqa: BLE001 - docutils raises errors of many kinds on damaged text, and the text itself is still good
        return Extracted(text, notes=(*notes, f"its titles could not be told ({type(error).__name__}); it stays as it was written"))
    lines = _lines(text)
    for section in tree.findall(nodes.section):
        _retitle(lines, section)
    whole = "".join(lines)
    return Extracted(whole, first_heading(whole), notes=notes)


def _lines(text: str) -> list[str]:
    """The lines as docutils counts them: it takes form feeds and vertical tabs for spaces, str.splitlines would break there."""
    lines, start = [], 0
    for line in text.translate({0x0B: " ", 0x0C: " "}).splitlines(keepends=True):
        lines.append(text[start : start + len(line)])
        start += len(line)
    return lines


def _retitle(lines: list[str], section: nodes.section) -> None:
    """Turn a title with its underline (and overline) into a heading. `line` of a section counts from 1 and is its underline's."""
    below = (section.line or 0) - 1
    if not 1 <= below < len(lines) or not _ruled(lines[below]) or not lines[below - 1].strip():
        return
    depth = 1
    parent = section.parent
    while isinstance(parent, nodes.section):
        depth, parent = depth + 1, parent.parent
    lines[below - 1] = "#" * min(depth, _DEEPEST) + " " + lines[below - 1].lstrip()
    lines[below] = ""
    if below >= 2 and _ruled(lines[below - 2]):
        lines[below - 2] = ""


def _ruled(line: str) -> bool:
    marks = set(line.strip())
    return len(marks) == 1 and not (character := next(iter(marks))).isalnum() and character.isprintable()
