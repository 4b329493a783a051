"""Do mangled quotes land where they belong, and how fast?

    python benchmarks/mangled_quotes.py FOLDER          every passage of a labelled corpus, mangled on purpose: a table
    python benchmarks/mangled_quotes.py FOLDER --speed  10,000 quotes against 50 million characters made of its words: time and memory

A quote is right where the span that it gets overlaps the labelled one by 95% or more of both (for cut ends: of what is left). "Elsewhere" is a span
that does not overlap it at all, given without a word of doubt: exact, normalised or fuzzy.
"""

from __future__ import annotations

import argparse
import random
import resource
import time
from collections import Counter
from collections.abc import Callable
from datetime import date
from pathlib import Path

import numpy as np

from harness.corpus.folder import load_folder
from harness.importing.matching import Needle
from harness.importing.quotes import Located, locate
from harness.types import Corpus, Document, Span

MISREAD = {
    "o": "0",
    "l": "1",
    "e": "c",
    "c": "e",
    "i": "l",
    "s": "5",
    "a": "o",
    "n": "u",
    "u": "n",
    "t": "f",
    "h": "b",
    "g": "q",
    "m": "rn",
    "O": "0",
    "1": "l",
    "S": "5",
}
LIGATURES = {"ffi": "ﬃ", "ffl": "ﬄ", "ff": "ﬀ", "fi": "ﬁ", "fl": "ﬂ"}
Mangler = Callable[[str, random.Random], str]


def smart_quotes(quote: str, dice: random.Random) -> str:
    for plain, typeset in (('"', "”"), ("'", "’"), (" - ", " — "), ("...", "…"), ("-", "‑")):
        quote = quote.replace(plain, typeset)
    return "“" + quote + "”" if dice.random() < 0.3 else quote


def soft_hyphens(quote: str, dice: random.Random) -> str:
    return "".join(it + "\u00ad" if it.isalpha() and dice.random() < 0.15 else it for it in quote)


def line_breaks(quote: str, dice: random.Random) -> str:
    out = []
    for place, it in enumerate(quote):
        inside = 2 < place < len(quote) - 3 and quote[place - 1 : place + 2].isalpha()
        out.append(
            dice.choice(["\n", "\r\n", "\n\n"]) if it == " " and dice.random() < 0.15 else it + "-\n" if inside and dice.random() < 0.02 else it
        )
    return "".join(out)


def ligatures(quote: str, dice: random.Random) -> str:
    for letters, one in LIGATURES.items():
        quote = quote.replace(letters, one)
    return quote


def misread(quote: str, dice: random.Random) -> str:
    """2% of the characters: those that are mistaken for another by their look, the others for any letter."""
    return "".join(MISREAD.get(it, dice.choice("abcdefghijklmnopqrstuvwxyz")) if not it.isspace() and dice.random() < 0.02 else it for it in quote)


def cut_ends(quote: str, dice: random.Random) -> str:
    """Up to an eighth gone at each end."""
    most = max(len(quote) // 8, 2)
    return quote[dice.randrange(1, most) : len(quote) - dice.randrange(1, most)]


MANGLERS: dict[str, Mangler] = {
    "as it is": lambda quote, dice: quote,
    "smart quotes and dashes": smart_quotes,
    "soft hyphens": soft_hyphens,
    "line breaks": line_breaks,
    "ligatures": ligatures,
    "misread, 2% of characters": misread,
    "ends cut off": cut_ends,
}
ALL = "all of these"
_AFTER_THE_CUT = (misread, smart_quotes, ligatures, line_breaks, soft_hyphens)


def verdict(found: Located, span: Span, left: int) -> str:
    """right, partly, elsewhere, or how it was left open; `left` characters of the passage were quoted."""
    if found.span is None:
        return found.status
    common = min(found.span.end, span.end) - max(found.span.start, span.start) if found.span.doc == span.doc else 0
    return "right" if common >= 0.95 * max(left, found.span.end - found.span.start) else "partly" if common > 0 else "elsewhere"


def land(corpus: Corpus, name: str, named: bool, seed: int = 1) -> Counter[str]:
    """What becomes of every passage of the corpus, mangled; with the document named or without."""
    spans = sorted({it.span for question in corpus.questions for answer in question.answers for it in answer.evidence})
    dice = random.Random(seed)
    needles, left = [], []
    for span in spans:
        quote = corpus.documents[span.doc].text[span.start : span.end]
        if name == ALL:
            quote = cut_ends(quote, dice)
        left.append(len(quote.strip()))
        for mangle in _AFTER_THE_CUT if name == ALL else (MANGLERS[name],):
            quote = mangle(quote, dice)
        if name == "ends cut off":
            left[-1] = len(quote.strip())
        needles.append(Needle(quote, span.doc if named else None))
    counts: Counter[str] = Counter()
    for found, span, size in zip(locate(corpus.documents, needles), spans, left, strict=True):
        counts[verdict(found, span, size)] += 1
        counts[f"as {found.status}"] += 1
    return counts


def table(corpus: Corpus) -> None:
    print(f"{corpus.name}, {date.today()}\n")
    print("| quotes | document | n | right | partly | elsewhere | ambiguous | not found | exact | normalised | fuzzy |\n|---|---|" + "---:|" * 9)
    for name in (*MANGLERS, ALL):
        for named in (True, False):
            counts = land(corpus, name, named)
            number = sum(count for what, count in counts.items() if not what.startswith("as "))
            rest = [counts[what] for what in ("partly", "elsewhere", "ambiguous", "not found", "as exact", "as normalised", "as fuzzy")]
            print(f"| {name} | {'named' if named else 'any'} | {number} | {counts['right'] / number:.2%} | {' | '.join(map(str, rest))} |")


def speed(corpus: Corpus, characters: int = 50_000_000, quotes: int = 10_000) -> None:
    words = Counter(word for document in corpus.documents for word in document.text.split() if word.isascii())
    random_ = np.random.default_rng(1)
    share = np.array(list(words.values()), dtype=np.float64)
    documents: list[Document] = []
    while sum(len(document.text) for document in documents) < characters:
        chosen = random_.choice(len(words), 40_000, p=share / share.sum())
        known = list(words)
        documents.append(Document(str(len(documents)), " ".join(known[number] for number in chosen.tolist())))
    dice = random.Random(1)
    needles, true = [], []
    for number in range(quotes):
        doc = dice.randrange(len(documents))
        size = dice.randrange(60, 300)
        start = dice.randrange(len(documents[doc].text) - size)
        quote = documents[doc].text[start : start + size]
        needles.append(Needle((quote, line_breaks(ligatures(quote, dice), dice), misread(quote, dice))[number % 3]))
        true.append(Span(doc, start, start + size))
    size = sum(len(document.text.encode()) for document in documents)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = time.perf_counter()
    found = locate(documents, needles)
    took = time.perf_counter() - began
    more = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
    right = sum(verdict(it, span, span.end - span.start) == "right" for it, span in zip(found, true, strict=True))
    statuses = dict(Counter(it.status for it in found))
    print(f"{date.today()}: {quotes:,} quotes (a third each as they are, broken, misread), {size:,} bytes in {len(documents)} documents")
    print(f"{took:.1f} s, {right:,} right, {statuses}; peak memory grew by {more / 1e6:.0f} MB, {more / size:.1f} times the text")


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("folder", type=Path)
    options.add_argument("--speed", action="store_true")
    given = options.parse_args()
    (speed if given.speed else table)(load_folder(given.folder))
