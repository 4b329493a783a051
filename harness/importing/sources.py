"""Reading what others wrote: every fault is told in one line that names the file, the place, what was found and what would do."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from harness.corpus.files import READ, read_files
from harness.corpus.problems import excerpt
from harness.corpus.reading import NotUtf8Error, decode, read_bytes
from harness.errors import DataError
from harness.types import Document

_WORDS: Mapping[type, str] = {str: "a string", int: "a whole number", dict: "an object {…}", list: "a list […]"}


def read_text(path: Path) -> str:
    """The text of a UTF-8 file, without a byte order mark. Raises DataError where there is none, it is empty, or it is not UTF-8."""
    if path.is_dir():
        raise DataError(path, "is a folder; name a file")
    if not path.exists():
        raise DataError(path, "there is no such file")
    try:
        text, _ = decode(read_bytes(path))
    except NotUtf8Error as error:
        raise DataError(path, str(error)) from error
    if not text.strip():
        raise DataError(path, "is empty")
    return text


def read_json(path: Path) -> Any:
    """The value in a JSON file."""
    text = read_text(path)
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        found = excerpt(text[max(error.pos - 20, 0) : error.pos + 20].strip())
        raise DataError(path, f"not JSON ({error.msg}): {found}", line=error.lineno) from error
    except (RecursionError, ValueError) as error:
        raise DataError(path, f"JSON that can't be read: {error}") from error


def get(found: Any, key: str, kind: type, path: Path, where: str) -> Any:
    """`found[key]`, which must be of `kind`; `where` is the place in the file, for the message ("data[3].paragraphs[0]")."""
    if not isinstance(found, Mapping):
        raise DataError(path, f"{where}: found {excerpt(str(found))}; an object with the key {key!r} is expected")
    if key not in found:
        raise DataError(path, f"{where}: the key {key!r} ({_WORDS[kind]}) is missing; there are {', '.join(map(repr, list(found)[:8])) or 'none'}")
    if type(found[key]) is not kind:
        raise DataError(path, f"{where}: {key!r} is {excerpt(str(found[key]))}; it must be {_WORDS[kind]}")
    return found[key]


def plain(value: Any) -> Any:
    """`value` as what JSON can hold: NaN and infinities become None, anything unknown its text."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(name): plain(it) for name, it in value.items()}
    if isinstance(value, list | tuple):
        return [plain(it) for it in value]
    return str(value)


def text_files(folder: Path, only: Iterable[str] | None = None) -> list[Document]:
    """The text files below `folder`, with their paths as ids; `only` those in these folders of it. Links that lead out are errors."""
    if not folder.is_dir():
        raise DataError(folder, f"there is no such folder; the documents ({READ}) are expected in it")
    documents, _ = read_files(folder)
    if only is None:
        return documents
    wanted = tuple(f"{name}/" for name in only)
    return [document for document in documents if document.id.startswith(wanted)]
