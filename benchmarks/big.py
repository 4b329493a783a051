"""A corpus larger than memory should hold: one cell, run as people run it, and what it takes of memory and time.

    python benchmarks/big.py [--megabytes 1000] [--shape large|lines|files] [--embedder hashing|static] [--limit MB] [--keep FOLDER] [WORD …]

The text is made in a temporary folder, the same for the same seed: sentences of the handbook, drawn at random, with headings and paragraphs, curly
quotes, accents and (once in twenty documents) an emoji. `large`: documents of 50 MB each. `lines`: documents of 10 kB in one corpus.jsonl. `files`:
the same as files. 200 questions ask for a sentence of rare words; the evidence is its quote with offsets. The cell (recursive, 256 words, the words
that follow are added) runs in a child process, whose memory is read 20 times a second from /proc: its resident set (rss), and the part of it that is
anonymous (anon), that is, what can't be given back; what it has asked for of that, used or not (private); and pages of files. `--limit`: the child
may have so many MB of private writable memory (RLIMIT_DATA), and fails for one more: a run that ends proves that it needs no more. Linux.
"""

from __future__ import annotations

import argparse
import json
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

import numpy as np

from harness.corpus.bundled import bundled

QUESTIONS, SIZE = 200, 256
LARGE, SMALL = 50_000_000, 10_000
STAGES = ("chunk", "embed", "index", "search", "score")


@dataclass
class Writer:
    """Makes documents of words that the handbook has, and the questions of some of them."""

    seed: int = 0
    questions: list[dict[str, object]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.random = np.random.default_rng(self.seed)
        text = " ".join(document.text for document in bundled("handbook").documents)
        self.sentences = [it.strip().replace("'", "\u2019") for it in text.replace("\n", " ").split(". ") if 40 < len(it) < 200 and "#" not in it]
        self.words = sorted({word for word in text.split() if word.isalpha() and len(word) > 5})

    def document(self, name: str, size: int, asked: int) -> str:
        """About `size` characters, with evidence for `asked` questions somewhere in it."""
        emoji = " \U0001f986" if self.random.random() < 0.05 else ""
        parts, length = [f"# {name}{emoji}\n\nCaf\u00e9 rules.\n\n"], 0
        gap = size // (asked + 1)
        while length < size:
            block = self._paragraphs(int(min(size - length, max(gap, 1000))))
            parts.append(block)
            length += len(block)
            if asked and length < size:
                parts.append(self._evidence(name, sum(map(len, parts))))
                asked -= 1
        return "".join(parts)

    def _paragraphs(self, size: int) -> str:
        count = size // 105 + 1
        drawn = self.random.integers(0, len(self.sentences), count)
        ends = self.random.random(count)
        heads = self.random.integers(0, len(self.words), count)
        pieces = []
        for place, end, head in zip(drawn.tolist(), ends.tolist(), heads.tolist(), strict=True):
            tail = ".\n\n" if end < 0.15 else ". "
            pieces.append(f"{self.sentences[place]}{tail}" if end > 0.01 else f"{self.sentences[place]}.\n\n## About {self.words[head]}\n\n")
        return "".join(pieces)

    def _evidence(self, name: str, start: int) -> str:
        number = len(self.questions)
        rare = [f"{self.words[place]}{number}" for place in self.random.integers(0, len(self.words), 6)]
        quote = f"For case {number} the office asks {' '.join(rare)} before anything is signed by both sides."
        evidence = {"doc": name, "start": start, "end": start + len(quote), "quote": quote}
        self.questions.append({"id": f"q{number}", "question": quote, "answers": [{"evidence": [evidence]}]})
        return f"{quote} "


def write(folder: Path, shape: str, size: int, questions: int = QUESTIONS) -> None:
    """The labelled folder, its text of about `size` characters."""
    writer, each = Writer(), LARGE if shape == "large" else SMALL
    count = max(size // each, 1)
    asked = np.bincount(np.linspace(0, count - 1, questions).astype(int), minlength=count)
    folder.mkdir(parents=True)
    if shape == "lines":
        with (folder / "corpus.jsonl").open("w", encoding="utf-8") as file:
            for name, text in _texts(writer, count, each, asked, ""):
                file.write(json.dumps({"id": name, "text": text}, ensure_ascii=False) + "\n")
    else:
        for name, text in _texts(writer, count, each, asked, ".md"):
            (folder / "documents" / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / "documents" / name).write_text(text, encoding="utf-8")
    with (folder / "questions.jsonl").open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(question, ensure_ascii=False) + "\n" for question in writer.questions)


def _texts(writer: Writer, count: int, each: int, asked: np.ndarray, tail: str) -> Iterator[tuple[str, str]]:
    for number in range(count):
        name = f"part{number // 1000:03d}/text{number:06d}{tail}"
        yield name, writer.document(name, each, int(asked[number]))


@dataclass
class Taken:
    """What a child took: MB at the peak, seconds by the clock."""

    status: int = 0
    rss: float = 0.0
    anon: float = 0.0
    data: float = 0.0
    files: float = 0.0
    seconds: float = 0.0
    cpu: float = 0.0
    said: str = ""


def watch(words: list[str], limit: int | None) -> Taken:
    """Run the words in a child and look at its memory until it ends."""

    def bound() -> None:
        if limit is not None:
            resource.setrlimit(resource.RLIMIT_DATA, (limit * 2**20, limit * 2**20))

    began, taken = time.perf_counter(), Taken()
    with tempfile.TemporaryFile("w+") as said:
        child = subprocess.Popen(words, stdout=said, stderr=subprocess.STDOUT, preexec_fn=bound)
        while child.poll() is None:
            found = _memory(child.pid)
            taken.rss, taken.anon = max(taken.rss, found.get("VmHWM", 0)), max(taken.anon, found.get("RssAnon", 0))
            taken.data = max(taken.data, found.get("VmData", 0))
            taken.files = max(taken.files, found.get("RssFile", 0))
            time.sleep(0.05)
        taken.status, taken.seconds = child.returncode, time.perf_counter() - began
        taken.cpu = sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])
        said.seek(0)
        taken.said = said.read()
    return taken


def _memory(process: int) -> dict[str, float]:
    """MB by name."""
    try:
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
    except OSError:
        return {}
    return {line.split(":")[0]: int(line.split()[1]) / 1024 for line in lines if line.endswith(" kB")}


def told(options: argparse.Namespace, size: float, taken: Taken, outputs: Path) -> str:
    """One row of the table in docs/big-corpora.md, and what is behind it."""
    found = [json.loads(path.read_text()) for path in outputs.glob("cells/*/result.json")]
    metrics = found[0]["metrics"] if found else {}
    stages = ", ".join(f"{name} {metrics[f'seconds_{name}']:.0f}" for name in STAGES if f"seconds_{name}" in metrics)
    chunks, answered = metrics.get("chunks", float("nan")), metrics.get("complete_at_5", float("nan"))
    memory = " | ".join(f"{amount:,.0f}" for amount in (taken.anon, taken.data, taken.files, taken.rss))
    row = f"| {options.shape} | {size:,.0f} MB | {options.embedder} | {chunks:,.0f} | {memory} |"
    return f"{row} {taken.seconds:,.0f} | {taken.cpu:,.0f} | {stages} | {answered:.2f} |"


def main() -> int:
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--megabytes", type=float, default=1000)
    words.add_argument("--shape", choices=("large", "lines", "files"), default="large")
    words.add_argument("--embedder", default="hashing")
    words.add_argument("--limit", type=int, default=None)
    words.add_argument("--keep", type=Path, default=None)
    options, more = words.parse_known_args()
    with tempfile.TemporaryDirectory(prefix="big-") as temporary:
        place = options.keep or Path(temporary)
        folder, outputs = place / f"{options.shape}-{options.megabytes:g}", place / f"outputs-{options.shape}-{options.megabytes:g}"
        if not folder.exists():
            write(folder, options.shape, int(options.megabytes * 1e6))
        shutil.rmtree(outputs, ignore_errors=True)
        size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6
        line = [sys.executable, "-m", "harness", "run", "dataset=folder", f"dataset.path={folder}", f"outputs={outputs}", "strategy=recursive"]
        line += [f"size={SIZE}", f"embedder={options.embedder}", *more]
        taken = watch(line, options.limit)
        sys.stdout.write(f"{date.today()}  {' '.join(line[1:])}  limit {options.limit}\n")
        if taken.status:
            sys.stdout.write(f"status {taken.status}\n{taken.said[-3000:]}\n")
        sys.stdout.write(
            "| shape | text | embedder | chunks | anon MB | private MB | files MB | rss MB | seconds | CPU s | stages, s | complete_at_5 |\n"
        )
        sys.stdout.write(told(options, size, taken, outputs) + "\n")
    return taken.status


if __name__ == "__main__":
    sys.exit(main())
