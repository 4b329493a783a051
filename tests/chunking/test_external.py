"""Other people's splitters: every chunk at its true place, what stands nowhere refused, missing extras told, and keys that see what cuts."""

from __future__ import annotations

import importlib
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness import provenance
from harness.chunking import chunk_documents
from harness.chunking.alignment import align
from harness.chunking.callable import CallableChunker
from harness.chunking.chonkie import ChonkieChunker, steps_tokenizer
from harness.chunking.external import ExternalChunker, listed
from harness.chunking.imported import counter, parameters_of
from harness.chunking.langchain import LangChainChunker
from harness.chunking.llama_index import LlamaIndexChunker
from harness.chunking.lookup import ALTERED, EMPTY, PLACED, UNPLACED
from harness.chunking.semantic_text_splitter import SemanticTextSplitterChunker
from harness.chunking.solid import Solid, solid_text
from harness.embedding import HashingEmbedder
from harness.errors import ConfigError, ImpossibleCell, PartError
from harness.types import Document
from harness.units import CharUnit, TiktokenUnit, WordUnit

LANGCHAIN, NODES = "langchain_text_splitters", "llama_index.core.node_parser"
HEADERS = {"headers_to_split_on": [["#", "h1"], ["##", "h2"]]}
CL100K = "tiktoken:cl100k_base"

MAKERS: dict[str, Callable[[], ExternalChunker]] = {
    "langchain recursive": lambda: LangChainChunker(size=90, overlap=25),
    "langchain recursive, tokens": lambda: LangChainChunker(size=24, overlap=6, unit=CL100K),
    "langchain character": lambda: LangChainChunker(f"{LANGCHAIN}.CharacterTextSplitter", 90, 25, options={"separator": "\n"}),
    "langchain from_language": lambda: LangChainChunker(
        f"{LANGCHAIN}.RecursiveCharacterTextSplitter.from_language", 90, 25, options={"language": "markdown"}
    ),
    "langchain headers": lambda: LangChainChunker(f"{LANGCHAIN}.MarkdownHeaderTextSplitter", options=HEADERS),
    "langchain tokens": lambda: LangChainChunker(f"{LANGCHAIN}.TokenTextSplitter", 24, 6, CL100K),
    "llama_index sentence": lambda: LlamaIndexChunker(size=24, overlap=6, unit=CL100K),
    "llama_index token": lambda: LlamaIndexChunker(f"{NODES}.TokenTextSplitter", 24, 6, CL100K),
    "llama_index window": lambda: LlamaIndexChunker(f"{NODES}.SentenceWindowNodeParser"),
    "llama_index markdown": lambda: LlamaIndexChunker(f"{NODES}.MarkdownNodeParser"),
    "chonkie recursive": lambda: ChonkieChunker(size=24, unit=CL100K),
    "chonkie sentence": lambda: ChonkieChunker("chonkie.SentenceChunker", 24, 6, CL100K),
    "chonkie token": lambda: ChonkieChunker("chonkie.TokenChunker", 24, 6, CL100K),
    "chonkie semantic": lambda: ChonkieChunker("chonkie.SemanticChunker", 24, 0, CL100K, HashingEmbedder()),
    "semantic_text_splitter": lambda: SemanticTextSplitterChunker(size=90, overlap=25),
    "semantic_text_splitter, tokens": lambda: SemanticTextSplitterChunker("semantic_text_splitter.MarkdownSplitter", 24, 6, CL100K),
}


def unique_words() -> str:
    """A text in Markdown whose every word stands once."""
    word = iter(f"w{number}" for number in range(10_000))
    parts = []
    for section in range(12):
        parts.append(f"{'#' * (1 + section % 2)} {next(word)} {next(word)}")
        for sentences in (3, 1, 4):
            lines = [" ".join(next(word) for _ in range(5 + 3 * (row % 3))).capitalize() + "." for row in range(sentences)]
            parts.append(" ".join(lines))
    return "\n\n".join(parts) + "\n"


def true_spans(text: str, pieces: Sequence[str]) -> list[tuple[int, int]]:
    """Where pieces of a text of unique words truly stand: white space aside, each is there once."""
    solid = Solid.of(text)
    cores = [solid_text(piece) for piece in pieces]
    assert all(solid.signs.count(core) == 1 for core in cores)
    return [(int(solid.at[first]), int(solid.at[first + len(core) - 1]) + 1) for core in cores for first in [solid.signs.find(core)]]


def by_first_occurrence(text: str, pieces: Sequence[str]) -> list[tuple[int, int]]:
    """The fault this alignment is there to avoid."""
    return [(text.find(piece), text.find(piece) + len(piece)) for piece in pieces]


def aligned(text: str, pieces: Sequence[str], overlap: int | None = None) -> list[tuple[int, int]]:
    places = align(text, pieces, None if overlap is None else lambda ends: ends - overlap)
    return list(zip(places.start.tolist(), places.end.tolist(), strict=True))


@pytest.mark.parametrize("name", MAKERS)
def test_every_chunk_of_unique_words_is_at_its_true_place(name: str) -> None:
    text, chunker = unique_words(), MAKERS[name]()
    given = [piece for piece in chunker.texts(text) if piece.strip()]
    pieces = chunker.split(text, chunker.counted.measure(text))
    bare = [(a + len(text[a:b]) - len(text[a:b].lstrip()), a + len(text[a:b].rstrip())) for a, b in zip(pieces.start, pieces.end, strict=True)]
    truth = true_spans(text, given)
    assert bare == truth
    assert aligned(text, given) == truth
    assert len(truth) > 5
    assert pieces.notes.keys() <= {"splitter_oversize", "unbounded", "uncovered"}


REPEATS = "One rule. One rule. One rule. But not on Sundays.\nOne rule. One rule. But not on Mondays. One rule. One rule.\n" * 3


@pytest.mark.parametrize("size", [12, 25, 47, 80])
@pytest.mark.parametrize("overlap", [0, 0.2, 0.4])
def test_repeats_are_told_apart(size: int, overlap: float) -> None:
    """Windows over a text that repeats itself: their places are known, since they were cut here."""
    step = size - int(size * overlap)
    spans = [(start, min(start + size, len(REPEATS))) for start in range(0, len(REPEATS) - int(size * overlap), step)]
    spans = [(a, b) for a, b in spans if REPEATS[a:b].strip()]
    pieces = [REPEATS[a:b].strip() for a, b in spans]
    bare = [(a + len(REPEATS[a:b]) - len(REPEATS[a:b].lstrip()), a + len(REPEATS[a:b].rstrip())) for a, b in spans]
    assert aligned(REPEATS, pieces, int(size * overlap)) == bare
    assert by_first_occurrence(REPEATS, pieces) != bare, "searching from the start must not pass"


def test_white_space_may_be_stripped_and_collapsed() -> None:
    text = "  Alpha  beta\r\n\r\ngamma.\tDelta\u3000epsilon\n\n\nzeta.  "
    pieces = ["Alpha beta gamma.", "gamma. Delta", "Delta epsilon zeta."]
    assert aligned(text, pieces) == [(2, 23), (17, 29), (24, 45)]
    assert aligned(text, ["Alphabeta", "gamma.Delta epsilonzeta."]) == [(2, 13), (17, 45)]


def test_text_that_was_changed_is_found_and_told() -> None:
    text = "# Boats\n\nBoats go daily, ÉCOLES too.\nNot in fog. Ropes are 日本 lent.\n# Hire\nOars cost extra, and a deposit is due."
    pieces = [
        "boats go daily, ecoles too.",  # lower case, no accents
        "Not in fog. Ropes are \ufffd",  # a character cut in two belongs to the chunk in which it begins
        "\ufffd本 lent.",
        "本 lent.\nOars cost extra, and a deposit is due.",  # a line dropped
        "Nobody wrote these words here.",
        "\ufffd",
        " ",
    ]
    places = align(text, pieces)
    assert places.state.tolist() == [ALTERED, ALTERED, ALTERED, ALTERED, UNPLACED, EMPTY, EMPTY]
    found = [text[a:b] for a, b in zip(places.start[:4], places.end[:4], strict=True)]
    assert found == [
        "Boats go daily, ÉCOLES too.",
        "Not in fog. Ropes are 日",
        "本 lent.",
        "本 lent.\n# Hire\nOars cost extra, and a deposit is due.",
    ]
    assert (places.start[4:] == -1).all()
    assert align(text, ["Oars cost extra"]).state.tolist() == [PLACED]


def test_a_short_piece_does_not_jump_ahead() -> None:
    text = "A note. " + "Filler words of no weight at all. " * 40 + "Other. The end."
    pieces = ["A note.", "Other.", "Filler words of no weight at all. " * 39, "The end."]
    assert align(text, pieces).state.tolist() == [PLACED, UNPLACED, PLACED, PLACED]


def test_time_grows_with_the_text() -> None:
    text = "".join(f"Sentence {number % 97} is much like others. " for number in range(25_000))
    chunker = LangChainChunker(size=200, overlap=40)
    given = chunker.texts(text)
    begun = time.perf_counter()
    places = align(text, given, lambda ends: ends - 40)
    assert time.perf_counter() - begun < 5
    assert (places.state == PLACED).all()


def _write(folder: Path, name: str, source: str) -> None:
    (folder / f"{name}.py").write_text(source, encoding="utf-8")
    importlib.invalidate_caches()
    sys.modules.pop(name, None)
    for known in (provenance._file_of, provenance._imports, provenance._closure):
        known.cache_clear()


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], None]:
    monkeypatch.syspath_prepend(str(tmp_path))
    return lambda name, source: _write(tmp_path, name, source)


PARAGRAPHS = "def split(text, size=9, length_function=len):\n    return [part for part in text.split('\\n\\n') if length_function(part) <= size]\n"


def test_a_function_gives_strings_or_spans(write: Callable[[str, str], None]) -> None:
    write("mooring_a", PARAGRAPHS + "def spans(text):\n    return [(0, 3), (4, 7), (4, 7)]\n\n\ndef wrong(text):\n    return [(0, 99)]\n")
    text = "one\n\ntwo three four\n\none"
    strings = CallableChunker(path="mooring_a:split", size=2, unit="words")
    pieces = strings.split(text, WordUnit().measure(text))
    assert list(zip(pieces.start.tolist(), pieces.end.tolist(), strict=True)) == [(0, 3), (21, 24)]
    assert pieces.notes == {"uncovered": 12}
    spans = CallableChunker(path="mooring_a:spans")
    assert (spans.size, spans.overlap) == (0, 0)
    pieces = spans.split(text, CharUnit().measure(text))
    assert (pieces.start.tolist(), pieces.notes) == ([0, 4], {"repeated": 1, "unbounded": 2, "uncovered": 13})
    with pytest.raises(PartError, match=r"mooring_a:wrong gave \(0, 99\)"):
        CallableChunker(path="mooring_a:wrong").split(text, CharUnit().measure(text))


def test_the_function_of_the_docs_works(write: Callable[[str, str], None]) -> None:
    page = (Path(__file__).resolve().parents[2] / "docs" / "external-splitters.md").read_text(encoding="utf-8")
    write("my_splitter", page.split("```python\n")[1].split("```")[0])
    text = unique_words()
    pieces = CallableChunker(path="my_splitter:split", size=40, unit="words").split(text, WordUnit().measure(text))
    assert len(pieces.start) > 5
    assert not pieces.notes.keys() - {"splitter_oversize"}


def test_what_stands_nowhere_is_refused_past_the_limit(write: Callable[[str, str], None]) -> None:
    write("mooring_b", "def split(text):\n    return [*text.split(), 'invented ' * 30]\n")
    documents = [Document("quay.md", " ".join(f"w{number}" for number in range(60)))]
    chunker = CallableChunker(path="mooring_b:split")
    rulers = [CharUnit().measure(documents[0].text)]
    with pytest.raises(PartError, match=r"1 of 61 chunks stand nowhere .* document 'quay\.md': 'invented .*…'") as told:
        chunk_documents(chunker, documents, rulers)
    assert len(str(told.value)) < 400
    chunks = chunk_documents(replace(chunker, unplaced_limit=0.02), documents, rulers)
    assert (len(chunks), chunks.notes["unplaced"]) == (60, 1)


def test_what_a_splitter_raises_names_it_and_the_document(write: Callable[[str, str], None]) -> None:
    write("mooring_c", "def split(text):\n    return 1 / 0\n")
    with pytest.raises(PartError, match=r"mooring_c:split on document 'd': ZeroDivisionError"):
        chunk_documents(CallableChunker(path="mooring_c:split"), [Document("d", "text")], [CharUnit().measure("text")])


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: CallableChunker(path=""), "strategy.path"),
        (lambda: CallableChunker(path="no_such_module_here:split"), "python -m harness"),
        (lambda: CallableChunker(path="textwrap:no_such"), "textwrap has no no_such"),
        (lambda: CallableChunker(path="textwrap:dedent", options={"wide": 3}), r"strategy.options.wide=3: .* takes text"),
        (lambda: LangChainChunker(f"{LANGCHAIN}.NoSuchSplitter"), "has no NoSuchSplitter"),
        (lambda: LangChainChunker(f"{LANGCHAIN}.Language"), "can't be made|split_text"),
        (lambda: LangChainChunker(options={"chunk_size": 9}), "strategy.options.chunk_size=9: is set by size"),
        (lambda: LangChainChunker(options={"no_such_option": 9}), "no_such_option"),
        (lambda: LangChainChunker(options=[1]), "strategy.options"),
        (lambda: LangChainChunker(unplaced_limit=2), "strategy.unplaced_limit"),
        (lambda: LangChainChunker(f"{LANGCHAIN}.TokenTextSplitter", 9), "unit=tiktoken:cl100k_base would do"),
        (lambda: LangChainChunker(unit="tokens"), "unit=tokens"),
        (lambda: SemanticTextSplitterChunker("semantic_text_splitter.CodeSplitter", 9, unit="words"), "strategy"),
        (lambda: ChonkieChunker("chonkie.pipeline.Pipeline"), "strategy"),
    ],
)
def test_mistakes_are_told_before_any_work(make: Callable[[], Any], told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        make()
    with pytest.raises(ImpossibleCell):
        LangChainChunker(size=5, overlap=5)


HIDDEN = """
import importlib, sys
from harness.errors import ConfigError
wanted = {
    "langchain_text_splitters": ("langchain", "LangChainChunker"),
    "llama_index": ("llama_index", "LlamaIndexChunker"),
    "chonkie": ("chonkie", "ChonkieChunker"),
    "semantic_text_splitter": ("semantic_text_splitter", "SemanticTextSplitterChunker"),
}
class Hide:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in wanted:
            raise ModuleNotFoundError("No module named " + repr(name), name=name)
made = {library: getattr(importlib.import_module("harness.chunking." + module), name) for library, (module, name) in wanted.items()}
assert not wanted.keys() & sys.modules.keys(), "imported before use"
sys.meta_path.insert(0, Hide())
for chunker in made.values():
    try:
        chunker()
    except ConfigError as error:
        sys.stdout.write(str(error) + "\\n")
"""


def test_a_missing_library_gives_the_command_that_installs_it() -> None:
    """In a fresh process: our modules import nothing of the libraries."""
    told = subprocess.run([sys.executable, "-c", HIDDEN], capture_output=True, text=True, check=True)
    lines = told.stdout.splitlines()
    assert len(lines) == 4
    assert all("pip install 'chunk-sweep[splitters]'" in line for line in lines)


def test_keys_see_what_cuts(write: Callable[[str, str], None]) -> None:
    write("mooring_tools", "limit = 3\n")
    write("mooring_d", "from mooring_tools import limit\n" + PARAGRAPHS)
    first = provenance.describe(CallableChunker(path="mooring_d:split"))
    assert provenance.describe(CallableChunker(path="mooring_d:split")) == first
    write("mooring_tools", "limit = 4\n")
    second = provenance.describe(CallableChunker(path="mooring_d:split"))
    write("mooring_d", PARAGRAPHS)
    assert len({str(first), str(second), str(provenance.describe(CallableChunker(path="mooring_d:split")))}) == 3
    described = provenance.describe(LangChainChunker(options={"keep_separator": "end"}))
    assert described["made_of"].keys() >= {"langchain-text-splitters"}
    assert described["options"] == {"keep_separator": "end"}
    assert provenance.describe(LangChainChunker()) != described
    assert provenance.describe(ChonkieChunker())["made_of"].keys() == {"chonkie", "chonkie-core"}


def test_cells_that_differ_in_nothing_that_counts_are_equal() -> None:
    headers = f"{LANGCHAIN}.MarkdownHeaderTextSplitter"
    assert LangChainChunker(headers, 5, 1, options=HEADERS) == LangChainChunker(headers, 9, options=HEADERS)
    assert ChonkieChunker(size=9, overlap=3, embedder=HashingEmbedder()) == ChonkieChunker(size=9, embedder=None)
    assert replace(ChonkieChunker(size=9), unplaced_limit=0.5) != ChonkieChunker(size=9)


def test_the_cells_unit_is_a_tokenizer_that_loses_nothing() -> None:
    text = "Crew 👩‍👩‍👧‍👦 met 🇵🇹. 受付は九時に" * 3
    unit = TiktokenUnit("cl100k_base")
    tokenizer = steps_tokenizer(unit, counter(unit))
    tokens = tokenizer.encode(text)
    assert len(tokens) == tokenizer.count_tokens(text) == unit.measure(text).total
    assert tokenizer.decode(tokens[:7]) + tokenizer.decode(tokens[7:]) == text


def test_what_a_class_takes_includes_what_it_passes_on() -> None:
    import langchain_text_splitters as library

    assert {"separators", "chunk_size", "chunk_overlap", "length_function"} <= parameters_of(library.RecursiveCharacterTextSplitter)
    assert {"language", "chunk_size"} <= parameters_of(library.RecursiveCharacterTextSplitter.from_language)
    assert "chunk_size" not in parameters_of(library.MarkdownHeaderTextSplitter)


def test_nothing_is_said_on_the_console(capfd: pytest.CaptureFixture[str]) -> None:
    for make in (MAKERS["llama_index sentence"], MAKERS["langchain character"], MAKERS["chonkie recursive"]):
        chunker = make()
        chunker.split(unique_words(), chunker.counted.measure(unique_words()))
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("found", ["one text", b"bytes", {"a": 1}, None, 7])
def test_what_is_no_list_of_chunks_is_refused(found: object) -> None:
    with pytest.raises(PartError, match="where a list of strings or of"):
        listed("mine:split", found)
    assert listed("mine:split", (text for text in ("a", "b"))) == ["a", "b"]
