"""Three rules, each a claim with its exception in one sentence: which strategies keep them whole, at what cost in stored characters."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from harness.chunking.base import Chunker
from harness.chunking.fixed import FixedChunker
from harness.chunking.recursive import RecursiveChunker
from harness.chunking.sentence import SentenceChunker
from harness.units import CharUnit

LIBRARY = (
    "Loans. A member may keep a book for three weeks, except reference works which stay here. "
    "Rooms. Reading rooms can be booked for two hours, unless an exam week is on, when it is one. "
    "Fines. Late books cost ten cents for each day, except children's books that are free of any fine."
)
LIBRARY_RULES = (
    ("keep a book for three weeks", "except reference works"),
    ("booked for two hours", "unless an exam week is on"),
    ("cost ten cents for each day", "except children's books"),
)

Outcome = tuple[int, int, int]


def outcome(chunker: Chunker, text: str, rules: tuple[tuple[str, str], ...]) -> Outcome:
    """Chunks, stored characters, rules whose claim and exception stand in one chunk."""
    pieces = chunker.split(text, CharUnit().measure(text))
    chunks = [text[start:end] for start, end in zip(pieces.start.tolist(), pieces.end.tolist(), strict=True)]
    whole = sum(any(claim in chunk and exception in chunk for chunk in chunks) for claim, exception in rules)
    return len(chunks), sum(map(len, chunks)), whole


STRATEGIES: dict[str, Chunker] = {
    "fixed 60": FixedChunker(60),
    "fixed 120": FixedChunker(120),
    "fixed 120, overlap 40": FixedChunker(120, 40),
    "one sentence": SentenceChunker(sentences_per_chunk=1),
    "recursive 160": RecursiveChunker(160),
    "fixed 200": FixedChunker(200),
    "fixed 400": FixedChunker(400),
}

# The text above has the proportions of the article's, so one table serves both.
EXPECTED = {
    "fixed 60": (5, 279, 0),
    "fixed 120": (3, 279, 1),
    "fixed 120, overlap 40": (4, 398, 3),
    "one sentence": (6, 274, 3),
    "recursive 160": (3, 277, 3),
    "fixed 200": (2, 279, 3),
    "fixed 400": (1, 279, 3),
}


@pytest.mark.parametrize("name", STRATEGIES)
def test_rules_of_the_library(name: str) -> None:
    assert outcome(STRATEGIES[name], LIBRARY, LIBRARY_RULES) == EXPECTED[name]


def test_without_the_tail_the_last_window_is_the_one_that_reaches_the_end() -> None:
    assert outcome(FixedChunker(120, 40, keep_tail=False), LIBRARY, LIBRARY_RULES) == (3, 359, 3)


def test_a_start_moved_by_one_character_would_be_seen() -> None:
    moved = LIBRARY[1:]
    assert any(outcome(chunker, moved, LIBRARY_RULES) != EXPECTED[name] for name, chunker in STRATEGIES.items())


@pytest.mark.parametrize("name", STRATEGIES)
def test_rules_of_the_article(name: str, extra_data: Path) -> None:
    """The published example that this project starts from, read from its article."""
    article = extra_data.parent / "seeds" / "000_348aa1612567e86a.txt"
    if not article.is_file():
        pytest.skip(f"the article is not here ({article})")
    source = article.read_text(encoding="utf-8")
    parts = {key: re.search(rf"^{key} = (\(|\[)\n.*?^(\)|\])$", source, re.MULTILINE | re.DOTALL) for key in ("DOC", "RULES")}
    text, rules = (ast.literal_eval(found[0].partition(" = ")[2]) for found in parts.values() if found)
    assert outcome(STRATEGIES[name], text, tuple(rules)) == EXPECTED[name]
