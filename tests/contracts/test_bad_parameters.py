"""What no strategy can work with is refused by name before any work, in one line that says what would do; nothing is taken in silence."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from chunking_cases import STRATEGIES, load_strategy, takes_size, unit

from harness.chunking import chunk_documents, patterns
from harness.chunking.base import MOST
from harness.chunking.callable import CallableChunker
from harness.chunking.langchain import LangChainChunker
from harness.chunking.llama_index import LlamaIndexChunker
from harness.chunking.page import PageChunker
from harness.chunking.recursive import RecursiveChunker
from harness.chunking.sentence import SentenceChunker
from harness.chunking.surroundings import Surroundings
from harness.chunking.turns import TurnsChunker
from harness.errors import ConfigError, HarnessError, PartError, reason
from harness.types import Document
from harness.units import CharUnit

HUGE = 99999999999999999999999
NEVER = [-1, -0.5, float("nan"), float("inf"), HUGE, "٣", "", [], [1], {"a": 1}, object]
FIELDS = {
    "fixed": ("keep_tail",),
    "sentence": ("sentences_per_chunk", "language"),
    "recursive": ("separators", "language"),
    "markdown": ("merge", "table", "language"),
    "html": ("merge", "table", "language"),
    "page": ("mark", "merge", "language"),
    "turns": ("speaker", "language"),
    "semantic": ("threshold", "amount", "window", "smallest", "language", "embedder"),
    "cluster_semantic": ("piece", "most_pieces", "language", "embedder"),
    "code": ("language", "max_errors"),
    "langchain": ("unplaced_limit", "splitter", "unit"),
    "llama_index": ("unplaced_limit", "splitter"),
    "chonkie": ("unplaced_limit", "splitter"),
    "semantic_text_splitter": ("unplaced_limit", "splitter"),
    "callable": ("unplaced_limit", "path"),
}
FINE = {("turns", "speaker", "٣"), ("page", "mark", "٣")}
"""A digit of any script is a pattern."""


@pytest.mark.parametrize(("strategy", "field"), [(strategy, field) for strategy, fields in FIELDS.items() for field in fields])
def test_a_value_that_means_nothing_is_refused_by_name(strategy: str, field: str) -> None:
    for value in NEVER:
        if isinstance(value, str) and (strategy, field, value) in FINE:
            continue
        with pytest.raises(ConfigError) as refused:
            load_strategy(strategy, 20, 2, **{field: value})
        told = str(refused.value)
        assert field in told
        assert len(told.splitlines()) == 1
        assert not told.rstrip().endswith(":")


@pytest.mark.parametrize("strategy", [name for name in STRATEGIES if takes_size(name)])
def test_sizes_beyond_a_billion_say_the_range(strategy: str) -> None:
    for size, overlap in ((HUGE, 0), (MOST + 1, 0), (20, HUGE)):
        with pytest.raises(ConfigError, match="1,000,000,000"):
            load_strategy(strategy, size, overlap)


@pytest.mark.parametrize(
    "words",
    [
        {"returned": f"neighbours:{HUGE}"},
        {"returned": f"parent:{HUGE}"},
        {"returned": f"parent:{MOST + 1}"},
        {"returned": "neighbours:" + "9" * 5000},
        {"context": f"before:{HUGE}"},
        {"min_size": HUGE},
    ],
    ids=str,
)
def test_amounts_around_a_chunk_say_the_range(words: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match="1,000,000,000"):
        Surroundings(**words)
    assert Surroundings(returned=f"neighbours:{MOST}").amount == MOST


HANGS = r"(a+)+$"
TEXT = "a" * 4000 + "!"


@pytest.mark.parametrize(
    ("key", "chunker"),
    [
        ("strategy.mark", PageChunker(20, mark=HANGS)),
        ("strategy.speaker", TurnsChunker(20, speaker=HANGS)),
        ("strategy.separators", RecursiveChunker(20, separators=(HANGS, "word", "character"))),
    ],
    ids=["page", "turns", "recursive"],
)
def test_a_pattern_that_never_ends_is_told(key: str, chunker: PageChunker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patterns, "SECONDS", 0.2)
    begun = time.process_time()
    with pytest.raises(ConfigError) as refused:
        chunker.split(TEXT, CharUnit().measure(TEXT))
    assert time.process_time() - begun < 5
    assert str(refused.value).startswith(f"{key}={HANGS}: took more than")
    assert "a+ for (a+)+" in str(refused.value)


def test_patterns_that_end_find_what_python_finds() -> None:
    text = "Article 1\nThe quay.\nArticle 2\nThe pier. <!-- page 7 -->Rope."
    assert [match.span() for match in patterns.matches("k", r"^(?=Article \d)", text)] == [(0, 0), (20, 20)]
    assert [match.group() for match in patterns.matches("k", r"(?<=<!-- page )\d+", text)] == ["7"]


@pytest.mark.parametrize("language", ["klingon", "english", "EN", "e", "", "x1", None, 5])
def test_a_language_is_a_code(language: Any) -> None:
    for strategy in ("sentence", "semantic", "recursive", "markdown"):
        with pytest.raises(ConfigError, match=r"strategy\.language=.*en, es"):
            load_strategy(strategy, 20, 0, language=language)
    with pytest.raises(ConfigError, match="python, javascript"):
        load_strategy("code", 20, 0, language="klingon")


def test_a_language_without_rules_is_counted_by_document() -> None:
    documents = [Document("a", "One. Two."), Document("b", " "), Document("c", "Three.")]
    rulers = [CharUnit().measure(document.text) for document in documents]
    assert chunk_documents(SentenceChunker(20, language="tlh"), documents, rulers).notes == {"general_language": 2}
    for known in ("en", "de-at", "uk"):
        assert not chunk_documents(SentenceChunker(20, language=known), documents, rulers).notes


def test_what_others_say_fits_on_a_line() -> None:
    assert reason(MemoryError()) == "MemoryError"
    assert reason(ValueError("one\n  two\n  For further information visit somewhere")) == "ValueError: one two"
    assert len(reason(ValueError("x" * 9000))) < 500
    assert reason(PartError("ours\nwith more")) == "ours"
    for options in ({"paragraph_separator": [1]}, {"nope": 1}):
        with pytest.raises(ConfigError) as refused:
            LlamaIndexChunker(size=20, options=options)
        assert len(str(refused.value).splitlines()) == 1
    with pytest.raises(ConfigError, match="TypeError"):
        LangChainChunker(size=20, options={"nope": 1})


def test_a_splitter_that_fails_without_a_word_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "silent_splitter.py").write_text(
        "import os\n\ndef fail(text):\n    raise MemoryError\n\ndef move(text):\n    os.chdir('/')\n    return [text]\n", encoding="utf-8"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    ruler = CharUnit().measure("text")
    with pytest.raises(PartError, match=r"MemoryError$"):
        CallableChunker(path="silent_splitter:fail").split("text", ruler)
    assert len(CallableChunker(path="silent_splitter:move").split("text", ruler).start) == 1
    assert Path.cwd() == tmp_path, "what a splitter does to the current folder does not last"


class Broken:
    """A chunker whose spans are those given."""

    def __init__(self, *spans: tuple[int, int]) -> None:
        self.spans = spans

    def split(self, text: str, ruler: object) -> Any:
        from harness.chunking.base import Pieces

        return Pieces(*np.array(self.spans if text else [], dtype=np.int64).reshape(-1, 2).T.copy())


def test_the_document_that_breaks_the_contract_is_named_among_many() -> None:
    documents = [Document("a", ""), Document("b", "two words"), Document("c", "nine more")]
    rulers = [unit("chars").measure(document.text) for document in documents]
    assert len(chunk_documents(Broken((0, 3), (4, 9)), documents, rulers)) == 4
    for spans, told in ((((0, 10),), "'b': spans from 0 to 10"), (((4, 9), (0, 3)), "'b': starts fall"), (((3, 4),), "'b': a chunk is empty")):
        problem = told if told != "'b': a chunk is empty" else "'b': a chunk is empty or only white space"
        with pytest.raises(HarnessError, match=problem):
            chunk_documents(Broken(*spans), documents, rulers)
