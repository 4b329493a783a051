"""A splitter as people write them, for the strategy that calls anybody's function: white space is lost."""

from __future__ import annotations


def cut(text: str, size: int, overlap: int) -> list[str]:
    words = text.split()
    return [" ".join(words[first : first + size]) for first in range(0, len(words), size - overlap)]
