"""Documents from a folder of text, Markdown, HTML or source files, at any depth, each as it is.

A document's id is its path below the folder in POSIX form, so files of one name in different folders never meet. Order: by id, code point by code
point, the same on every system. Links are followed only where they stay inside the folder.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from harness.corpus.problems import Problems
from harness.corpus.reading import NotUtf8Error, decode, read_bytes
from harness.corpus.stored import Place, StoredDocument, is_large, state_of
from harness.errors import DataError
from harness.types import Document

_TEXT = (".md", ".markdown", ".txt", ".text", ".rst", ".html", ".htm", ".xhtml")
_CODE = (".py", ".pyi", ".js", ".mjs", ".cjs", ".jsx", ".ts", ".tsx", ".java", ".go", ".rs", ".c", ".h", ".cc", ".cpp", ".cxx", ".hpp", ".hxx")
EXTENSIONS = (*_TEXT, *_CODE)
READ = f"{', '.join(_TEXT)} and source files ({', '.join(_CODE)})"
"""What is read, in words."""


def read_files(folder: Path) -> tuple[list[Document], list[str]]:
    """The documents below `folder` and the warnings: counts of what was passed over (hidden, another extension, binary) and of dropped marks.

    Raises DataError for text that is not UTF-8 (all such files in one message), links that leave the folder, and a folder without documents.
    """
    passed_over: Counter[str] = Counter()
    problems = Problems(folder)
    documents: list[Document] = []
    marked = 0
    found = sorted(_identifiers(folder, passed_over, problems))
    stored = is_large(sum(_size(folder / identifier) for identifier in found))
    for identifier in found:
        path = folder / identifier
        place = Place(path, state_of(path)) if stored else None
        try:
            text, had_mark = decode(read_bytes(path))
        except NotUtf8Error as error:
            problems.add(identifier, str(error))
            continue
        if "\0" in text:
            passed_over["binary"] += 1
            continue
        marked += had_mark
        document = Document(identifier, text)
        documents.append(document if place is None else StoredDocument.of(document, place))
    problems.refuse()
    if not documents:
        raise DataError(folder, f"found no document; {READ} are read")
    return documents, _warnings(folder, passed_over, marked)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:  # reading it will say so
        return 0


def check_inside(root: Path, *names: str) -> None:
    """Raise DataError where one of `names` in the corpus folder `root` is a link that leaves it: a data set must not say what else is read here."""
    home = root.resolve()
    for path in (root / name for name in names):
        if path.is_symlink() and not _target(path).is_relative_to(home):
            raise DataError(path, _LEAVES)
        if path.is_symlink() and not path.exists():
            raise DataError(path, "is a link to nothing; put the file there, or remove the link")


def _identifiers(folder: Path, passed_over: Counter[str], problems: Problems) -> Iterator[str]:
    home = folder.resolve()
    for place, folders, names in os.walk(folder):
        here = Path(place)
        folders[:] = [name for name in folders if _enter(here / name, folder, home, passed_over, problems)]
        for name in names:
            path = here / name
            identifier = path.relative_to(folder).as_posix()
            if name.startswith("."):
                passed_over["hidden"] += 1
            elif path.suffix.lower() not in EXTENSIONS:
                passed_over[f"{path.suffix.lower() or 'without extension'}"] += 1
            elif fault := _fault(path, home):
                problems.add(_printable(identifier), fault)
            else:
                yield identifier


def _enter(path: Path, folder: Path, home: Path, passed_over: Counter[str], problems: Problems) -> bool:
    if path.name.startswith("."):
        passed_over["hidden folder"] += 1
        return False
    if not path.is_symlink():
        return True
    if not _target(path).is_relative_to(home):
        problems.add(_printable(path.relative_to(folder).as_posix()), _LEAVES)
    else:
        # Its files are read where they stand; reading them twice would double the corpus.
        passed_over["link to a folder inside"] += 1
    return False


def _target(path: Path) -> Path:
    """Where a link leads; unlike Path.resolve, without an exception for one that leads to itself."""
    return Path(os.path.realpath(path))


_LEAVES = "is a link that leaves the folder; copy what it points to, or name that folder instead"


def _fault(path: Path, home: Path) -> str | None:
    if _printable(path.name) != path.name:
        return "has a name that is not UTF-8; rename it"
    target = _target(path)
    if not target.is_relative_to(home):
        return _LEAVES
    return None if target.is_file() else "is not a file that can be read (a broken link, a pipe)"


def _printable(name: str) -> str:
    return name.encode("utf-8", "replace").decode("utf-8")


def _warnings(folder: Path, passed_over: Counter[str], marked: int) -> list[str]:
    warnings = []
    if passed_over:
        counts = ", ".join(f"{count} {what}" for what, count in sorted(passed_over.items()))
        warnings.append(f"{folder.name}: passed over {passed_over.total()} entries that are no documents ({counts})")
    if marked:
        warnings.append(f"{folder.name}: dropped the byte order mark of {marked} files; offsets count from the character behind it")
    return warnings
