"""How fast strategies cut, as ratios in one process.

    python benchmarks/strategy_speed.py [--megabytes 5] [--mutate slow]

Mixed text: the handbook's documents and this project's sources, over and over, each copy a document. Times are those of the process's own CPU, the
best of three, so that other work on the machine counts little. `recursive` and `markdown` measure and cut; LangChain's recursive splitter measures
with the same tokenizer (as a function of a string: it knows no other way) and does not say where its chunks stand. `--mutate slow` has every document
cut twice, to show that the limits can fail.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import date
from pathlib import Path

from langchain_text_splitters import RecursiveCharacterTextSplitter

from harness.chunking import chunk_documents
from harness.chunking.base import Chunker
from harness.chunking.code import CodeChunker
from harness.chunking.fixed import FixedChunker
from harness.chunking.markdown import MarkdownChunker
from harness.chunking.recursive import RecursiveChunker
from harness.chunking.semantic import SemanticChunker
from harness.chunking.sentence import SentenceChunker
from harness.chunking.sentences import sentence_starts
from harness.corpus.bundled import bundled
from harness.embedding import minilm
from harness.embedding.base import Embedder
from harness.types import Document, Embedded
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
    documents, unit = mixed(options.megabytes), embedder.unit
    characters = sum(len(document.text) for document in documents)
    tell(f"{date.today()}  {characters:,} characters, {len(documents)} documents, size {SIZE}, overlap {OVERLAP}")
    langchain = seconds(langchain_cuts(documents, unit), 1)
    tell(f"{'LangChain recursive, the same tokens':<44} {langchain:6.2f} s")
    for chunker in (RecursiveChunker(SIZE, OVERLAP), MarkdownChunker(SIZE, OVERLAP), FixedChunker(SIZE, OVERLAP)):
        row(f"{type(chunker).__name__}, measuring included", seconds(cutting(chunker, unit, documents, work)), langchain, 1.0)
    segmenter = seconds(lambda: [sentence_starts(document.text, "en") for document in documents])
    rulers = [unit.measure(document.text) for document in documents]
    sentence = seconds(lambda: [chunk_documents(SentenceChunker(SIZE, OVERLAP), documents, rulers) for _ in range(work)])
    row("SentenceChunker / its segmenter alone", sentence, segmenter, 1.5)
    semantic(embedder, documents[:30], work)
    code(unit, work)


def langchain_cuts(documents: list[Document], unit: Unit) -> Callable[[], object]:
    splitter = RecursiveCharacterTextSplitter(chunk_size=SIZE, chunk_overlap=OVERLAP, length_function=lambda text: unit.measure(text).total)
    return lambda: [splitter.split_text(document.text) for document in documents]


def semantic(embedder: Embedder, documents: list[Document], work: int) -> None:
    unit, remembered = embedder.unit, Remembered(embedder, documents)
    rulers = [unit.measure(document.text) for document in documents]
    chunker = SemanticChunker(SIZE, remembered, OVERLAP)  # type: ignore[arg-type]
    whole = seconds(lambda: chunk_documents(chunker, documents, rulers), 1)
    own = seconds(lambda: [chunk_documents(chunker, documents, rulers) for _ in range(20 * work)]) / 20
    row("SemanticChunker's own work / its embedding", own, whole - own, 0.1)


def code(unit: Unit, work: int) -> None:
    import argparse as standard

    documents = list(sources(Path(standard.__file__).parent, 5))
    size = sum(len(document.text.encode("utf-8", "replace")) for document in documents) / 1e6
    rulers = [unit.measure(document.text) for document in documents]
    spent = seconds(lambda: [chunk_documents(CodeChunker(SIZE, OVERLAP), documents, rulers) for _ in range(work)])
    told = "ok" if size / spent >= 1 else "SLOW"
    tell(f"{'CodeChunker on the standard library':<44} {spent:6.2f} s   {size / spent:5.1f} MB/s   limit 1 MB/s   {told}")


def row(name: str, spent: float, beside: float, limit: float) -> None:
    ratio = spent / beside
    tell(f"{name:<44} {spent:6.2f} s   ratio {ratio:5.2f}   limit {limit}   {'ok' if ratio <= limit else 'OVER'}")


def tell(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
