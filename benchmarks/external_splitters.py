"""Are the chunks of other people's splitters put back at their true place? Counted on labelled corpora, splitter by splitter.

    python benchmarks/external_splitters.py FOLDER_OF_LABELLED_CORPORA [--corpus NAME …] [--splitter NAME …] [--documents N] [--wrong]

A splitter gives strings; where they truly stand is known in one of three ways:

- mirror: the splitter also cuts a mirror of the document, in which every sign that the splitter doesn't cut at is replaced by a sign of its own, and
  lengths are measured on the document that the mirror stands for. The chunks correspond one to one, and each sign of a mirrored chunk stands in one
  place only. Chunks without any such sign ("unknown") can't be checked;
- windows: offsets of the tokens from tiktoken's `decode_with_offsets`, and arithmetic;
- own: offsets that the library counts up itself (not searched), each checked to be the slice that it says.

"true" is the share of chunks whose start and end are exactly right, white space at the ends aside; "mirrored" the same share on the mirror itself, a
text whose every word is unique; "first" what taking the first occurrence in the document would give, "next" the first one behind the last start.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
from mirrored_text import Mirror, MirrorUnit

from harness.chunking.alignment import align
from harness.chunking.chonkie import ChonkieChunker
from harness.chunking.external import ExternalChunker
from harness.chunking.langchain import LangChainChunker
from harness.chunking.llama_index import LlamaIndexChunker
from harness.chunking.lookup import UNPLACED
from harness.chunking.semantic_text_splitter import SemanticTextSplitterChunker
from harness.chunking.solid import BROKEN, solid_text
from harness.embedding import HashingEmbedder, minilm
from harness.units import TiktokenUnit
from harness.units.codepoints import well_formed

SIZE, OVERLAP = 128, 32
LANGCHAIN, NODES = "langchain_text_splitters", "llama_index.core.node_parser"
HEADERS = {"headers_to_split_on": [["#", "h1"], ["##", "h2"], ["###", "h3"]]}


@dataclass(frozen=True)
class Case:
    """A splitter, how the truth about it is known, and which signs it cuts at."""

    name: str
    make: Callable[[], ExternalChunker]
    truth: str = "mirror"
    kept: Callable[[str], list[bool]] = lambda text: [False] * len(text)
    sentences: str = ""


def _marks(text: str) -> list[bool]:
    return [not sign.isalnum() for sign in text]


def _marks_and_headings(text: str) -> list[bool]:
    """Neighbouring sections with the same heading are joined, so headings must stay."""
    lines = text.split("\n")
    heading = np.repeat([line.lstrip().startswith("#") for line in lines], [len(line) + 1 for line in lines])[: len(text)]
    return (heading | np.array(_marks(text))).tolist()


def cases() -> list[Case]:
    ours, model = HashingEmbedder(), minilm()
    in_tokens: dict[str, Any] = {"size": SIZE, "overlap": OVERLAP, "unit": model.unit}
    return [
        Case("langchain recursive, chars", lambda: LangChainChunker(size=500, overlap=100)),
        Case("langchain recursive, tokens", lambda: LangChainChunker(**in_tokens)),
        Case(
            "langchain markdown headers",
            lambda: LangChainChunker(f"{LANGCHAIN}.MarkdownHeaderTextSplitter", options=HEADERS),
            kept=_marks_and_headings,
        ),
        Case("langchain tokens", lambda: LangChainChunker(f"{LANGCHAIN}.TokenTextSplitter", SIZE, OVERLAP, "tiktoken:cl100k_base"), "windows"),
        Case("llama_index sentence", lambda: LlamaIndexChunker(**in_tokens), kept=_marks, sentences="chunking_tokenizer_fn"),
        Case("llama_index sentence window", lambda: LlamaIndexChunker(f"{NODES}.SentenceWindowNodeParser"), sentences="sentence_splitter"),
        Case("chonkie recursive", lambda: ChonkieChunker(**in_tokens), "own", kept=_marks),
        Case("chonkie sentence", lambda: ChonkieChunker("chonkie.SentenceChunker", **in_tokens), "own", kept=_marks),
        Case("chonkie semantic", lambda: ChonkieChunker("chonkie.SemanticChunker", SIZE, 0, model.unit, ours), "own", kept=_marks),
        Case("semantic_text_splitter", lambda: SemanticTextSplitterChunker(size=500, overlap=100), "own", kept=_marks),
    ]


def mirrored(case: Case, chunker: ExternalChunker, mirror: Mirror) -> ExternalChunker:
    """The splitter for the mirror: it measures, and finds sentences, on what the mirror stands for."""
    assert not isinstance(chunker.unit, str)
    options = dict(chunker.options)
    if case.sentences:
        from llama_index.core.node_parser.text.utils import split_by_sentence_tokenizer

        find = split_by_sentence_tokenizer()

        def sentences(text: str) -> list[str]:
            ends = np.cumsum([len(sentence) for sentence in find(mirror.original(text))]).tolist()
            return [text[start:end] for start, end in zip([0, *ends], ends, strict=False)]

        options[case.sentences] = sentences
    return replace(chunker, unit=MirrorUnit(chunker.unit, mirror), options=options)


def windows(text: str, chunker: ExternalChunker) -> list[tuple[int, int] | None]:
    """The true spans of token windows. A character that is cut in two belongs to the window in which it begins."""
    import tiktoken

    assert isinstance(chunker.unit, TiktokenUnit)
    encoding = tiktoken.get_encoding(f"{chunker.unit.encoding}_offline")
    tokens = encoding.encode(text, disallowed_special=())
    _, offsets = encoding.decode_with_offsets(tokens)
    inside = [0x80 <= encoding.decode_single_token_bytes(token)[0] < 0xC0 for token in tokens]
    places = [*(offset + cut for offset, cut in zip(offsets, inside, strict=True)), len(text)]
    step = chunker.size - chunker.overlap
    starts = range(0, max(len(tokens) - chunker.overlap, min(len(tokens), 1)), step)
    return [(places[first], places[min(first + chunker.size, len(tokens))]) for first in starts]


@dataclass
class Tally:
    """Counts over documents."""

    chunks: int = 0
    unknown: int = 0
    unplaced: int = 0
    true: int = 0
    mirrored: int = 0
    of_mirrored: int = 0
    first: int = 0
    next: int = 0
    seconds: float = 0.0

    def share(self, name: str) -> float:
        known = self.of_mirrored if name == "mirrored" else self.chunks - self.unknown
        return float(getattr(self, name)) / known if known else float("nan")


def judge(case: Case, chunker: ExternalChunker, text: str, tally: Tally, *, show: bool = False) -> None:
    """Count one document; `show` prints what is wrong."""
    text = well_formed(text)
    pieces = [piece for piece in chunker.texts(text) if piece.strip() and piece.strip().strip(BROKEN)]
    reach = chunker.reach(chunker.unit.measure(text)) if not isinstance(chunker.unit, str) else None
    truth = _truth(case, chunker, text, pieces, tally)
    began = time.perf_counter()
    places = align(text, pieces, reach)
    if show:
        found = zip(pieces, truth, zip(places.start.tolist(), places.end.tolist(), strict=True), strict=True)
        for piece, span, place in found:
            if span is not None and _bare(text, span) != _bare(text, place):
                print(f"{case.name}: {place} should be {span}: {piece[:60]!r}")
    tally.seconds += time.perf_counter() - began
    tally.chunks += len(pieces)
    tally.unknown += sum(span is None for span in truth)
    tally.unplaced += int(np.count_nonzero(places.state == UNPLACED))
    tally.true += _agreeing(text, truth, zip(places.start.tolist(), places.end.tolist(), strict=True))
    tally.first += _agreeing(text, truth, _searched(text, pieces, follow=False))
    tally.next += _agreeing(text, truth, _searched(text, pieces, follow=True))


def _truth(case: Case, chunker: ExternalChunker, text: str, pieces: list[str], tally: Tally) -> list[tuple[int, int] | None]:
    mirror = Mirror.of(text, case.kept(text))
    twin = mirrored(case, chunker, mirror) if case.truth == "mirror" else chunker
    if case.truth == "mirror" and case.sentences:  # the same function finds the sentences of both
        pieces[:] = [piece for piece in mirrored(case, chunker, Mirror.of(text, [True] * len(text))).texts(text) if piece.strip()]
    reflected = [piece for piece in twin.texts(mirror.text) if piece.strip() and piece.strip().strip(BROKEN)]
    spans = mirror.spans([piece.strip().strip(BROKEN) for piece in reflected])
    reach = twin.reach(twin.unit.measure(mirror.text)) if not isinstance(twin.unit, str) else None
    places = align(mirror.text, reflected, reach)
    shown = [span if BROKEN not in piece else None for span, piece in zip(spans, reflected, strict=True)]
    tally.of_mirrored += sum(span is not None for span in shown)
    tally.mirrored += _agreeing(mirror.text, shown, zip(places.start.tolist(), places.end.tolist(), strict=True))
    if case.truth == "windows":
        found = windows(text, chunker)
        whole = [span for span in found if span is not None and text[slice(*span)].strip()]
        assert len(whole) == len(pieces), (len(whole), len(pieces))
        return list(whole)
    if case.truth == "own":
        return [span if text[slice(*span)] == piece else None for span, piece in zip(_own(chunker, text), pieces, strict=True)]
    assert [solid_text(mirror.original(piece)) for piece in reflected] == [solid_text(piece) for piece in pieces], "the mirror was cut elsewhere"
    return spans


def _own(chunker: ExternalChunker, text: str) -> list[tuple[int, int]]:
    """Offsets that the library reports; (0, 0), which is never true, where they did not hold."""
    cut = chunker.cut(text)
    return [(0, 0) if isinstance(item, str) else item for item in cut if isinstance(item, str) or text[slice(*item)].strip()]


def _agreeing(text: str, truth: Sequence[tuple[int, int] | None], found: Iterator[tuple[int, int]]) -> int:
    return sum(span is not None and _bare(text, span) == _bare(text, place) for span, place in zip(truth, found, strict=True))


def _bare(text: str, span: tuple[int, int]) -> tuple[int, int]:
    """The span without white space at its ends."""
    part = text[slice(*span)]
    start = span[0] + len(part) - len(part.lstrip())
    return start, start + len(part.strip())


def _searched(text: str, pieces: Sequence[str], *, follow: bool) -> Iterator[tuple[int, int]]:
    """By searching for each piece: from the start of the document, or from behind the start of the one before."""
    after = 0
    for piece in pieces:
        start = text.find(piece, after)
        yield (start, start + len(piece)) if start >= 0 else (-1, -1)
        if follow and start >= 0:
            after = start + 1


def run(folder: Path, corpora: Sequence[str], splitters: Sequence[str], most: int | None, *, show: bool = False) -> Iterator[tuple[str, str, Tally]]:
    """(corpus, splitter, counts), one after the other."""
    for corpus in corpora or sorted(path.name for path in folder.iterdir() if path.is_dir()):
        lines = (folder / corpus / "corpus.jsonl").read_text(encoding="utf-8").splitlines()
        texts = [json.loads(line)["text"] for line in lines][:most]
        for case in cases():
            if splitters and case.name not in splitters:
                continue
            tally, chunker = Tally(), case.make()
            for text in texts:
                if text.strip():
                    judge(case, chunker, text, tally, show=show)
            yield corpus, case.name, tally


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--corpus", nargs="*", default=[])
    parser.add_argument("--splitter", nargs="*", default=[])
    parser.add_argument("--wrong", action="store_true", help="print what is not at its true place")
    parser.add_argument("--documents", type=int, default=None)
    given = parser.parse_args()
    print(f"{date.today()}\n| corpus | splitter | chunks | unknown | unplaced | true | mirrored | first | next | alignment, s |\n|{'---|' * 10}")
    worst = 1.0
    for corpus, name, tally in run(given.folder, given.corpus, given.splitter, given.documents, show=given.wrong):
        shares = " | ".join(f"{tally.share(share):.2%}" for share in ("true", "mirrored", "first", "next"))
        print(f"| {corpus} | {name} | {tally.chunks:,} | {tally.unknown} | {tally.unplaced} | {shares} | {tally.seconds:.1f} |", flush=True)
        worst = min(worst, tally.share("true"), tally.share("mirrored"))
    print(f"\nLowest share: {worst:.3%}")


if __name__ == "__main__":
    main()
