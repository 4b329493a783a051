"""JSON Lines, strictly: one JSON object a line, lines end at LF and nowhere else.

U+2028, U+2029, NEL, form feed and the like are ordinary characters inside a string. Lines of white space are passed over. Refused: anything that
is not an object, a key that stands twice, NaN and infinities, halves of surrogate pairs (no file could hold them as UTF-8).
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.corpus.problems import Problems, excerpt
from harness.corpus.reading import NotUtf8Error, decode, read_bytes
from harness.errors import DataError


@dataclass(frozen=True, slots=True)
class Record:
    """One object, the line it stands in, counted from 1, and the bytes of that line: `start` to `start + size`."""

    line: int
    values: dict[str, Any]
    start: int = 0
    size: int = 0


def read_records(path: Path) -> list[Record]:
    """All objects of a JSON Lines file, in order. Raises DataError with the line and what was found there, for all bad lines at once."""
    problems = Problems(path)
    records = list(each_record(path, problems))
    problems.refuse()
    return records


def each_record(path: Path, problems: Problems) -> Iterator[Record]:
    """The objects of a JSON Lines file, one by one, in order; lines that hold none are added to `problems`. Raises DataError for bytes that are no
    text."""
    for number, (start, size, line) in enumerate(_lines(path), start=1):
        if line and not line.isspace():
            try:
                yield Record(number, _object(line), start, size)
            except (ValueError, RecursionError) as error:
                problems.add(number, _reason(error, line))


def _lines(path: Path) -> Iterator[tuple[int, int, str]]:
    """Start and length in bytes of each line of a file, and the line, read and decoded one by one: a single emoji would make the text of a whole file
    four times as large."""
    try:
        with path.open("rb") as file:
            start, encoding = 0, "utf-8-sig"
            while raw := file.readline():
                yield start, len(raw), str(raw, encoding)
                start, encoding = start + len(raw), "utf-8"
    except OSError as error:
        raise DataError(path, f"can't be read ({error.strerror or error})") from error
    except UnicodeDecodeError:
        _refuse(path)


def _refuse(path: Path) -> None:
    """Raises the DataError that says where in the file the bad byte is."""
    try:
        decode(read_bytes(path))
    except NotUtf8Error as error:
        raise DataError(path, str(error)) from error


def _object(line: str) -> dict[str, Any]:
    value = json.loads(line, object_pairs_hook=_pairs, parse_constant=_no_constant, parse_float=_finite)
    if not isinstance(value, dict):
        raise ValueError(f"found {excerpt(line.strip())}; a line holds one JSON object {{…}}")
    if "\\u" in line:
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    return value


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {twice!r} stands twice in one object")
    return values


def _no_constant(found: str) -> float:
    raise ValueError(f"found {found}, which is not JSON; leave the key out where there is no value")


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise ValueError(f"the number {excerpt(digits)} is too large")
    return value


def _reason(error: Exception, line: str) -> str:
    match error:
        case json.JSONDecodeError():
            return f"not JSON ({error.msg} at character {error.pos + 1}): {excerpt(line[max(error.pos - 20, 0) :].strip())}"
        case UnicodeEncodeError():
            return "an escape \\ud800 to \\udfff stands without its other half; write the character itself"
        case RecursionError():
            return "nested too deeply to be read"
        case _:
            return str(error)
