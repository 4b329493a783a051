"""Splitters of semantic-text-splitter (text-splitter in Rust), which gives exact offsets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from harness.chunking.external import Cut, ExternalChunker, true_spans
from harness.errors import ConfigError, reason
from harness.units import CharUnit


@dataclass(frozen=True)
class SemanticTextSplitterChunker(ExternalChunker):
    """TextSplitter or MarkdownSplitter by dotted path, with size as its capacity, overlap, and the cell's unit. Options: `trim`.

    MarkdownSplitter takes very long for a document of a megabyte.
    """

    splitter: str = "semantic_text_splitter.TextSplitter"
    size: int = 256

    package: ClassVar[str] = "semantic_text_splitter"
    libraries: ClassVar[tuple[str, ...]] = ("semantic-text-splitter",)

    def _takes(self) -> set[str]:
        return {"capacity", "overlap"}

    def _cutter(self) -> Callable[[str], Cut]:
        make = self._found()
        counted = () if isinstance(self.unit, CharUnit) else (self._count(),)
        if counted:
            make = getattr(make, "from_callback", None) or self._unfit()
        try:
            splitter = make(*counted, self.size, overlap=self.overlap, **self.options)
        except Exception as error:
            raise ConfigError("strategy.options", self.options, f"{self.splitter} can't be made: {reason(error)}") from error
        if not callable(getattr(splitter, "chunk_indices", None)):
            self._unfit()
        return lambda text: true_spans(text, splitter.chunk_indices(text))

    def _unfit(self) -> Callable[..., object]:
        raise ConfigError(self.key, self.splitter, "semantic_text_splitter.TextSplitter and MarkdownSplitter would do")
