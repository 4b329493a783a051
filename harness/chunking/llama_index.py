"""Node parsers of LlamaIndex (the package llama-index-core)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from harness.chunking.external import Cut, ExternalChunker
from harness.errors import ConfigError


@dataclass(frozen=True)
class LlamaIndexChunker(ExternalChunker):
    """A node parser by dotted path, whose nodes come in the order of the text (HierarchicalNodeParser's don't: it goes through the text once a
    level).

    It gets `chunk_size` and `chunk_overlap` from size and overlap, and counts with the cell's unit as its `tokenizer`. A single character counts at
    most `size`: LlamaIndex gives up where it can't get below. Documents are given without metadata, so none of `size` goes to it. What is put around
    a node (the window of SentenceWindowNodeParser) is the axis `returned` here. Offsets that LlamaIndex reports (`start_char_idx`) are found by
    searching and are not used.
    """

    splitter: str = "llama_index.core.node_parser.SentenceSplitter"
    size: int = 256

    package: ClassVar[str] = "llama_index.core"
    libraries: ClassVar[tuple[str, ...]] = ("llama-index-core", "nltk")

    def _cutter(self) -> Callable[[str], Cut]:
        count = self._count()

        def tokenizer(text: str) -> range:
            return range(min(count(text), self.size) if len(text) == 1 else count(text))

        offered = {"chunk_size": self.size, "chunk_overlap": self.overlap, "tokenizer": tokenizer}
        parser = self._make(self._found(), offered)
        if callable(getattr(parser, "split_text", None)):
            return lambda text: list(parser.split_text(text))
        if not callable(getattr(parser, "get_nodes_from_documents", None)):
            raise ConfigError(self.key, self.splitter, "makes no node parser")
        from llama_index.core.schema import Document, MetadataMode

        return lambda text: [node.get_content(metadata_mode=MetadataMode.NONE) for node in parser.get_nodes_from_documents([Document(text=text)])]
