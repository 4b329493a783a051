"""Which files of a folder are read: its tree in a fixed order, narrowed by patterns and by a sample."""

from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from harness.corpus.shapes import id_faults
from harness.errors import ConfigError, DataError
from harness.importing.base import Note
from harness.importing.extract.formats import Form, form_of

_AS_TEXT = Form("text", "plain", ())


@dataclass(frozen=True, slots=True)
class Choice:
    """What of the tree is wanted.

    A pattern is a shell pattern (`*`, `?`, `[…]`; `*` matches `/` too) that the path below the folder, the file's name, or the name of a folder on
    the way must match. `include` empty: everything. `exclude` goes before `include`. `sample` takes so many of the files that are left, at random by
    `seed`. Raises ConfigError for a sample below 1.
    """

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    sample: int | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        if self.sample is not None and self.sample < 1:
            raise ConfigError("--sample", self.sample, "a number of files of 1 or more; leave it out to read all")


@dataclass(frozen=True, slots=True)
class Found:
    """A file to read. `id` is its path below the folder with `/` between folders."""

    id: str
    path: Path
    form: Form


def walk(folder: Path, choice: Choice, aside: Path | None = None) -> tuple[list[Found], list[Note]]:
    """The files to read, by id code point by code point, and notes on what was passed over: by id where it is a fault, else counted by kind.

    `aside` is a file that is no document (the table of questions). Hidden files and folders are passed over. Links are never followed: what they
    point to is read where it stands, if that is inside the folder. Raises DataError where there is no such folder, or nothing in it to read.
    """
    if not folder.is_dir():
        raise DataError(folder, "is a file; name a folder of documents" if folder.exists() else "there is no such folder")
    passed: Counter[str] = Counter()
    notes: list[Note] = []
    apart = aside.resolve() if aside else None
    found = sorted((it for it in _files(folder, choice, passed, notes) if Path(os.path.realpath(it.path)) != apart), key=lambda it: it.id)
    whole = len(found)
    if choice.sample is not None and choice.sample < whole:
        found = sorted(random.Random(choice.seed).sample(found, choice.sample), key=lambda it: it.id)  # noqa: S311 - no secret
        notes.append(Note("noted", "sample", folder.name, f"{choice.sample} of {whole} files, at random with seed {choice.seed}"))
    notes += [Note("noted", "files", kind, f"{count} passed over") for kind, count in sorted(passed.items())]
    if not found:
        seen = ", ".join(f"{count} {kind}" for kind, count in passed.most_common(5)) or "it is empty"
        raise DataError(
            folder, f"holds no file that can be read ({seen}); see chunk-sweep data import folder --help for the formats, --include, --exclude"
        )
    return found, notes


def _files(folder: Path, choice: Choice, passed: Counter[str], notes: list[Note]) -> Iterator[Found]:
    for place, folders, names in os.walk(folder):
        here = Path(place)
        folders[:] = sorted(name for name in folders if _enter(here / name, folder, choice, passed, notes))
        for name in sorted(names):
            path = here / name
            identifier = path.relative_to(folder).as_posix()
            if name.startswith("."):
                passed["hidden"] += 1
            elif fault := _fault(path, identifier):
                notes.append(Note("dropped", "document", _printable(identifier), fault))
            elif matches(identifier, choice.exclude):
                passed["excluded"] += 1
            elif choice.include and not matches(identifier, choice.include):
                passed["not included"] += 1
            elif form := form_of(path.suffix.lower()) or (_AS_TEXT if choice.include and _named(name, choice.include) else None):
                yield Found(identifier, path, form)
            else:
                passed[path.suffix.lower() or "without extension"] += 1


def _enter(path: Path, folder: Path, choice: Choice, passed: Counter[str], notes: list[Note]) -> bool:
    if path.name.startswith("."):
        passed["hidden folder"] += 1
        return False
    identifier = path.relative_to(folder).as_posix()
    if path.is_symlink():
        notes.append(Note("dropped", "folder", _printable(identifier), _link(path, folder)))
        return False
    if any(fnmatchcase(name, pattern) for name in (path.name, identifier) for pattern in choice.exclude):
        passed["excluded folder"] += 1
        return False
    return True


def _link(path: Path, folder: Path) -> str:
    inside = Path(os.path.realpath(path)).is_relative_to(folder.resolve())
    return "is a link to what is read where it stands" if inside else "is a link that leaves the folder; copy what it points to"


def _fault(path: Path, identifier: str) -> str:
    if not identifier.isprintable() or id_faults(identifier):
        return "has a name that is not UTF-8, or holds a character that can't be seen; rename it"
    if path.is_symlink():
        return "is a link; what it points to is not read here"
    return "" if path.is_file() else "is not a file that can be read (a pipe, a device)"


def matches(identifier: str, patterns: Sequence[str]) -> bool:
    """Whether the path, or one of the names in it, matches one of the patterns."""
    names = [identifier, *identifier.split("/")]
    return any(fnmatchcase(name, pattern.removesuffix("/")) for name in names for pattern in patterns)


def _named(name: str, patterns: Sequence[str]) -> bool:
    """Whether a pattern means this file and not just everything: then it is read as text, whatever its ending."""
    return any(fnmatchcase(name, pattern.rsplit("/", 1)[-1]) and pattern.rsplit("/", 1)[-1].strip("*?") for pattern in patterns)


def _printable(name: str) -> str:
    return "".join(letter if letter.isprintable() else "?" for letter in name.encode("utf-8", "replace").decode("utf-8"))
