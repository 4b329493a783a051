"""The labelled corpora that come with the project."""

from __future__ import annotations

from harness.bundled import bundled_folder
from harness.corpus.folder import dataset
from harness.errors import DataError
from harness.types import Corpus


def bundled_names() -> list[str]:
    """The bundled corpora, by name."""
    return sorted(questions.parent.name for questions in bundled_folder("datasets").glob("*/questions.jsonl"))


def bundled(name: str, *, documents: int | None = None, questions: int | None = None, seed: int | None = None) -> Corpus:
    """The bundled corpus `name`, limited as `harness.corpus.subset.limit` says. Raises DataError naming those there are where it is not one."""
    if name not in bundled_names():
        raise DataError(bundled_folder("datasets") / name, f"no bundled corpus has this name; there are: {', '.join(bundled_names()) or 'none'}")
    return dataset(bundled_folder("datasets") / name, documents=documents, questions=questions, seed=seed)
