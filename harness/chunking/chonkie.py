"""Chunkers of chonkie."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from harness.chunking.external import Cut, ExternalChunker, true_spans
from harness.chunking.imported import Count
from harness.errors import ConfigError
from harness.units.base import Unit

if TYPE_CHECKING:
    from chonkie.embeddings import BaseEmbeddings
    from chonkie.tokenizer import Tokenizer


@dataclass(frozen=True)
class ChonkieChunker(ExternalChunker):
    """A chunker by dotted path. It gets `chunk_size` and `chunk_overlap` from size and overlap, the cell's unit as its `tokenizer` and the cell's
    embedder as its `embedding_model`; each of the two may be named in the options instead, as chonkie names it.

    Offsets that chonkie reports are used where all of them hold in a document: every chunk is the slice that it says, and together they leave out
    nothing but white space.
    """

    splitter: str = "chonkie.RecursiveChunker"
    size: int = 256

    package: ClassVar[str] = "chonkie"
    libraries: ClassVar[tuple[str, ...]] = ("chonkie", "chonkie-core")

    def _cutter(self) -> Callable[[str], Cut]:
        make = self._found()
        offered: dict[str, Any] = {"chunk_size": self.size, "chunk_overlap": self.overlap}
        tokenizer = steps_tokenizer(self.counted, self._count())
        offered["tokenizer"] = tokenizer
        if self.embedder is not None:
            offered["embedding_model"] = embeddings(self.embedder, tokenizer)
        chunker = self._make(make, offered)
        if not callable(getattr(chunker, "chunk", None)):
            raise ConfigError(self.key, self.splitter, "makes nothing with a method chunk")
        return lambda text: true_spans(text, [(int(chunk.start_index), str(chunk.text)) for chunk in chunker.chunk(text)])


def steps_tokenizer(unit: Unit, count: Count) -> Tokenizer:
    """The cell's unit as a tokenizer of chonkie that loses nothing: its tokens are the steps of the ruler, and a step of several units is followed by
    empty tokens, so that what is decoded is a slice of what was encoded."""
    from chonkie.tokenizer import Tokenizer

    class Steps(Tokenizer):  # type: ignore[misc]
        def __repr__(self) -> str:
            return f"Steps({unit.name})"

        def tokenize(self, text: str) -> list[str]:
            ruler = unit.measure(text)
            cuts, weights = ruler.cuts.tolist(), np.diff(ruler.before).tolist()
            return [part for start, end, weight in zip(cuts, cuts[1:], weights, strict=False) for part in (text[start:end], *[""] * (weight - 1))]

        def encode(self, text: str) -> list[int]:
            ids = []
            for token in self.tokenize(text):
                number = self.token2id[token]
                if number >= len(self.vocab):
                    self.vocab.append(token)
                ids.append(number)
            return ids

        def decode(self, tokens: Sequence[int]) -> str:
            return "".join(self.vocab[token] for token in tokens)

        def count_tokens(self, text: str) -> int:
            return count(text)

    return Steps()


def embeddings(embedder: Any, tokenizer: Tokenizer) -> BaseEmbeddings:
    """An embedder of ours as chonkie wants one."""
    from chonkie.embeddings import BaseEmbeddings

    class Ours(BaseEmbeddings):  # type: ignore[misc]
        def embed(self, text: str) -> Any:
            return self.embed_batch([text])[0]

        def embed_batch(self, texts: list[str]) -> list[Any]:
            return list(embedder.embed(texts, "passage").vectors)

        @property
        def dimension(self) -> int:
            return int(embedder.dim)

        def get_tokenizer(self) -> Any:
            return tokenizer

    return Ours()
