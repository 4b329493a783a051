"""The base of every retriever that holds another one: what it asks of it, and what it passes on to it."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Self

from harness.errors import ConfigError
from harness.retrieval.base import OpenStore, Remembers, Retriever


def check_retriever(key: str, part: object) -> None:
    """Raises ConfigError where `part`, the value of `key`, can't search."""
    if not callable(getattr(part, "build", None)):
        raise ConfigError(key, part, f"must be a retriever; retriever@{key}={part if isinstance(part, str) else 'dense'} would do")


@dataclass(frozen=True)
class Around:
    """A retriever that orders anew what `first` found. Its index searches `shelf.index(self.first)`, so that one that others hold as well is built
    once.

    A subclass is a frozen dataclass with further fields; any of them may be a retriever too, and one with a `__post_init__` of its own calls this
    one's. Raises ConfigError where `first` is no retriever.
    """

    first: Retriever

    def __post_init__(self) -> None:
        check_retriever("retriever.first", self.first)

    def remembering(self, open_store: OpenStore) -> Self:
        """The same, with every retriever that it holds keeping its scores in a store of `open_store`. One that pays for scores itself adds its
        own."""
        held = {field.name: getattr(self, field.name) for field in fields(self)}
        return replace(self, **{name: part.remembering(open_store) for name, part in held.items() if isinstance(part, Remembers)})
