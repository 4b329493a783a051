"""Embedders whose vectors are known, and what they were asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from harness.chunking.base import Chunker
from harness.types import Embedded
from harness.units import CharUnit, Unit


@dataclass(eq=False)
class Compass:
    """The direction of a text is that of its capital letters, A = 0, B = 10, C = 20 degrees and so on, averaged; the mean of none is 0."""

    asked: list[list[str]] = field(default_factory=list)

    def embed(self, texts: Sequence[str], kind: str) -> Embedded:
        self.asked.append(list(texts))
        degrees = [[10 * (ord(sign) - ord("A")) for sign in text if "A" <= sign <= "Z"] or [0] for text in texts]
        angle = np.deg2rad([float(np.mean(each)) for each in degrees])
        tokens = np.array([len(text) for text in texts], dtype=np.int64)
        return Embedded(np.stack([np.cos(angle), np.sin(angle)], axis=1).astype(np.float32), tokens, tokens // 50, np.zeros(len(texts), dtype=bool))


@dataclass(eq=False)
class Watched:
    """An embedder that keeps what it gave; `shuffled` hands the vectors of a call to other texts."""

    embedder: Any
    shuffled: bool = False
    gave: list[Embedded] = field(default_factory=list)

    def embed(self, texts: Sequence[str], kind: str) -> Embedded:
        found: Embedded = self.embedder.embed(texts, kind)
        if self.shuffled:
            order = np.random.default_rng(2).permutation(len(texts))
            found = Embedded(found.vectors[order], found.tokens, found.unread, found.cached)
        self.gave.append(found)
        return found


def chunks_of(chunker: Chunker, text: str, unit: Unit | None = None) -> list[str]:
    pieces = chunker.split(text, (unit or CharUnit()).measure(text))
    return [text[start:end] for start, end in zip(pieces.start.tolist(), pieces.end.tolist(), strict=True)]
