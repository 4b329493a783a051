"""Which document a person means by a name: its id, or else its file name, with or without extension, or its title."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from pathlib import PurePosixPath

from harness.corpus.problems import excerpt
from harness.types import Document


class Names:
    """Looks documents up. An id always wins; other names count only where they mean one document, case aside."""

    def __init__(self, documents: Sequence[Document]) -> None:
        self._ids = {document.id: number for number, document in enumerate(documents)}
        self._others: dict[str, set[int]] = {}
        for number, document in enumerate(documents):
            path = PurePosixPath(document.id)
            for name in (document.id, path.name, path.stem, str(path.with_suffix("")) if path.name else "", document.title):
                if name.strip():
                    self._others.setdefault(_folded(name), set()).add(number)

    def find(self, name: str) -> int | None:
        """The number of the document, or None where none or several could be meant."""
        if name in self._ids:
            return self._ids[name]
        meant = self._others.get(_folded(name), set())
        return next(iter(meant)) if len(meant) == 1 else None

    def missing(self, name: str) -> str:
        """Why `find` gave None, with the nearest id."""
        meant = len(self._others.get(_folded(name), ()))
        if meant > 1:
            return f"{meant} documents could be meant by {excerpt(name)}; name one by its id"
        near = difflib.get_close_matches(name, list(self._ids)[:10_000], n=1) or list(self._ids)[:1]
        return f"there is no document {excerpt(name)}" + (f"; the nearest is {excerpt(near[0])}" if near else "")


def _folded(name: str) -> str:
    return name.strip().replace("\\", "/").removeprefix("./").casefold()
