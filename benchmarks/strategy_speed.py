"""How fast strategies cut, as ratios in one process.

    python benchmarks/strategy_speed.py [--megabytes 5] [--mutate slow]

Mixed text: the handbook's documents and this project's sources, over and over, each copy a document. Times are those of the process's own CPU, the
best of several turns in which all take part, so that other work on the machine counts little. `recursive` and `markdown` measure and cut; LangChain's
recursive splitter measures with the same unit (tokens as a function of a string: it knows no other way) and does not say where its chunks stand.
`sentence` is without measuring, which a sweep does once for all cells. `--mutate slow` has every document cut twice, to show that the limits can
fail.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path

from langchain_text_splitters import RecursiveCharacterTextSplitter
from sentencex import get_sentence_boundaries, segment

from harness.chunking import chunk_documents
from harness.chunking.base import Chunker
from harness.chunking.code import CodeChunker
from harness.chunking.fixed import FixedChunker
from harness.chunking.markdown import MarkdownChunker
from harness.chunking.recursive import RecursiveChunker
from harness.chunking.semantic import SemanticChunker
from harness.chunking.sentence import SentenceChunker
from harness.corpus.bundled import bundled
from harness.embedding import minilm
from harness.embedding.base import Embedder
from harness.types import Document, Embedded
from harness.units import CharUnit
from harness.units.base import Unit

ROOT = Path(__file__).resolve().parent.parent
SIZE, OVERLAP = 256, 26
TIMES = 3


def mixed(megabytes: float) -> list[Document]:
    """Markdown and source code until there are so many million characters."""
    parts = [*bundled("handbook").documents, *sources(ROOT / "harness")]
    found: list[Document] = []
    left = megabytes * 1e6
    while left > 0:
        for part in parts:
            found.append(replace(part, id=f"{len(found)}-{part.id}"))
            left -= len(part.text)
    return found


def sources(folder: Path, megabytes: float = 1e9) -> Iterable[Document]:
    left = megabytes * 1e6
    for path in sorted(folder.rglob("*.py")):
        if left > 0:
            text = path.read_text(encoding="utf-8", errors="replace")
            left -= len(text)
            yield Document(path.name, text)


def seconds(act: Callable[[], object], times: int = TIMES) -> float:
    """CPU seconds of the best run."""
    found = []
    for _ in range(times):
        began = time.process_time()
        act()
        found.append(time.process_time() - began)
    return min(found)


def alternating(acts: Sequence[Callable[[], object]], times: int = TIMES) -> list[float]:
    """CPU seconds of the best run of each, in turns, so that a slow spell of the machine meets all of them."""
    rounds = [[seconds(act, 1) for act in acts] for _ in range(times)]
    return [min(column) for column in zip(*rounds, strict=True)]


def cutting(chunker: Chunker, unit: Unit, documents: list[Document], times: int) -> Callable[[], object]:
    def act() -> None:
        for _ in range(times):
            chunk_documents(chunker, documents, [unit.measure(document.text) for document in documents])

    return act


class Remembered:
    """An embedder that has everything already: what is left is the strategy's own work."""

    def __init__(self, embedder: Embedder, documents: list[Document]) -> None:
        self._embedder, self._found = embedder, dict[tuple[str, ...], Embedded]()

    def embed(self, texts: tuple[str, ...], kind: str, progress: object = None) -> Embedded:
        key = tuple(texts)
        if key not in self._found:
            self._found[key] = self._embedder.embed(texts, "passage")
        return self._found[key]


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--megabytes", type=float, default=5.0)
    words.add_argument("--mutate", choices=["slow"])
    options = words.parse_args()
    work = 2 if options.mutate else 1
    embedder = minilm()
    documents = mixed(options.megabytes)
    characters = sum(len(document.text) for document in documents)
    tell(f"{date.today()}  {characters:,} characters, {len(documents)} documents")
    tell("| what | seconds | beside | seconds | ratio | limit | |\n|---|---|---|---|---|---|---|")
    for unit, size, overlap in ((embedder.unit, SIZE, OVERLAP), (CharUnit(), 4 * SIZE, 4 * OVERLAP)):
        beside_langchain(documents, unit, size, overlap, work)
    sentences(documents, embedder.unit, work)
    semantic(embedder, documents[:30], work)
    code(embedder.unit, work)


def beside_langchain(documents: list[Document], unit: Unit, size: int, overlap: int, work: int) -> None:
    """Measuring included on both sides, turn by turn."""
    length = len if isinstance(unit, CharUnit) else lambda text: unit.measure(text).total
    splitter = RecursiveCharacterTextSplitter(chunk_size=size, chunk_overlap=overlap, length_function=length)
    ours = [RecursiveChunker(size, overlap), MarkdownChunker(size, overlap), FixedChunker(size, overlap)]
    acts = [lambda: [splitter.split_text(document.text) for document in documents], *(cutting(chunker, unit, documents, work) for chunker in ours)]
    theirs, *spent = alternating(acts)
    for chunker, each in zip(ours, spent, strict=True):
        row(f"{type(chunker).__name__}, {size} {unit.name}", each, "LangChain's recursive", theirs, 1.0)


def sentences(documents: list[Document], unit: Unit, work: int) -> None:
    """The segmenter alone: sentencex gives the places of all sentences of each document. `segment` gives their texts without the places."""
    rulers = [unit.measure(document.text) for document in documents]
    acts = [
        lambda: [get_sentence_boundaries("en", document.text) for document in documents],
        lambda: [segment("en", document.text) for document in documents],
        lambda: [chunk_documents(SentenceChunker(SIZE, OVERLAP), documents, rulers) for _ in range(work)],
    ]
    places, texts, spent = alternating(acts, 7)
    row("SentenceChunker", spent, "sentencex, places", places, 1.5)
    row("SentenceChunker", spent, "sentencex, texts only", texts, None)


def semantic(embedder: Embedder, documents: list[Document], work: int) -> None:
    unit, remembered = embedder.unit, Remembered(embedder, documents)
    rulers = [unit.measure(document.text) for document in documents]
    chunker = SemanticChunker(SIZE, remembered, OVERLAP)  # type: ignore[arg-type]
    whole = seconds(lambda: chunk_documents(chunker, documents, rulers), 1)
    own = seconds(lambda: [chunk_documents(chunker, documents, rulers) for _ in range(20 * work)]) / 20
    row("SemanticChunker, own work", own, "its embedding", whole - own, 0.1)


def code(unit: Unit, work: int) -> None:
    import argparse as standard

    documents = list(sources(Path(standard.__file__).parent, 5))
    size = sum(len(document.text.encode("utf-8", "replace")) for document in documents) / 1e6
    rulers = [unit.measure(document.text) for document in documents]
    spent = seconds(lambda: [chunk_documents(CodeChunker(SIZE, OVERLAP), documents, rulers) for _ in range(work)])
    row(f"CodeChunker, {size / spent:.1f} MB/s", spent, "1 MB/s", size, 1.0)


def row(name: str, spent: float, other: str, beside: float, limit: float | None) -> None:
    ratio = spent / beside
    told = "" if limit is None else "ok" if ratio <= limit else "OVER"
    tell(f"| {name} | {spent:.2f} | {other} | {beside:.2f} | {ratio:.2f} | {limit or ''} | {told} |")


def tell(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
